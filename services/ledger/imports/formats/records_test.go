package formats

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/scan"
)

func TestOpenMT940(t *testing.T) {
	t.Parallel()
	records, facts := readAll(t, "{1:F01}{2:I940}{4:\r\n:20:STARTUMSE\r\n:25:10000000/0012345678\r\n:28C:1/1\r\n:60F:C231229EUR100,00\r\n"+
		":61:2312290102DR20,50NTRFNONREF//20240102001\r\n:86:106?00KARTENZAHLUNG?20EREF+1?21SVWZ+Einkauf im Laden am ?22Markt?32Laden GmbH\r\n"+
		":61:2401020102RC5,NMSCNONREF\r\n:86:storno der\r\ngutschrift\r\n:61:240102C1000,50NTRFX\r\n:86:/TRTP/SEPA/NAME/Firma/REMI/Lohn/EREF/1\r\n"+
		":62F:C240102EUR1075,00\r\n-}\r\n", Options{})
	require.Equal(t, []string{
		"2024-01-02|-20.50|EUR|Laden GmbH|Einkauf im Laden am Markt", "2024-01-02|-5|EUR||storno der gutschrift",
		"2024-01-02|1000.50|EUR|Firma|Lohn",
	}, linesOf(records))
	require.Empty(t, facts.Warnings)
	require.Equal(t, []string{"5678", "100.00", "1075.00"}, []string{facts.Accounts[0].Last4, facts.Accounts[0].Opening, facts.Accounts[0].Closing})
	require.Equal(t, "mt940:20240102:20240102001", records[0].ExternalID)
	require.Empty(t, records[1].ExternalID)
}

func TestOpenCAMT(t *testing.T) {
	t.Parallel()
	entry := func(amount, sign, status, inner string) string {
		return `<Ntry><Amt Ccy="EUR">` + amount + `</Amt><CdtDbtInd>` + sign + `</CdtDbtInd><Sts>` + status + `</Sts><BookgDt><Dt>2024-01-31</Dt></BookgDt>
<ValDt><Dt>2024-02-01</Dt></ValDt>` + inner + `</Ntry>`
	}
	balance := func(code, amount string) string {
		return `<Bal><Tp><CdOrPrtry><Cd>` + code + `</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">` + amount + `</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2024-01-31</Dt></Dt></Bal>`
	}
	statement := func(closing string) string {
		return `<?xml version="1.0"?><c:Document xmlns:c="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><c:BkToCstmrStmt><Stmt><Acct><Id><IBAN>DE00 1234</IBAN></Id></Acct>` +
			balance("OPBD", "10.00") + balance("CLBD", closing) + `<!-- <Ntry> -->` +
			entry("3.00", "DBIT", "BOOK", `<AcctSvcrRef>REF1</AcctSvcrRef><NtryDtls><TxDtls><RltdPties><Cdtr><Pty><Nm>Shop &amp; Co</Nm></Pty></Cdtr></RltdPties><RmtInf><Ustrd>a</Ustrd><Ustrd>b</Ustrd></RmtInf></TxDtls></NtryDtls>`) +
			entry("4.00", "CRDT", "<Cd>BOOK</Cd>", `<RvslInd>true</RvslInd><NtryDtls><TxDtls><Amt Ccy="EUR">1.50</Amt></TxDtls><TxDtls><Amt Ccy="EUR">2.50</Amt></TxDtls></NtryDtls>`) +
			entry("9.00", "CRDT", "PDNG", "") + `</Stmt></c:BkToCstmrStmt></c:Document>`
	}
	records, facts := readAll(t, statement("11.00"), Options{})
	require.Equal(t, []string{"2024-01-31|-3.00|EUR|Shop & Co|a b", "2024-01-31|1.50|EUR||", "2024-01-31|2.50|EUR||"}, linesOf(records))
	require.Empty(t, facts.Warnings)
	require.Equal(t, "camt:REF1", records[0].ExternalID)
	require.Equal(t, "1234", facts.Accounts[0].Last4)
	_, facts = readAll(t, statement("12.00"), Options{})
	require.Equal(t, []string{BalanceMismatch}, facts.Warnings)
	_, err := consume(strings.NewReader(statement("11.00")[:900]))
	var failed *scan.ParseError
	require.ErrorAs(t, err, &failed)
}

func TestOpenQIF(t *testing.T) {
	t.Parallel()
	const file = "!Account\nNGiro\nTBank\n^\n!Type:Bank\nD1/ 2'24\nT-1,012.30\nPShop\nMmemo\nLFood:Out/trip\n^\nD1/31'24\nT5.00\nL[Savings]\n^\n" +
		"D1/30'24\nT-3.00\nSA\n$-1.00\nS[B]\n$-2.00\n^\n!Type:Cat\nNFood\n^\n!Type:Invst\nD1/1'24\n^\n"
	records, facts := readAll(t, file, Options{})
	require.Equal(t, []string{"2024-01-02|-1012.30||Shop|memo", "2024-01-31|5.00|||", "2024-01-30|-3.00|||"}, linesOf(records))
	require.Equal(t, []string{CurrencyAssumed, InvestmentsSkipped}, facts.Warnings)
	require.Equal(t, "MM/DD/YY", facts.Mapping.DateLayout)
	require.Equal(t, []any{"Giro", "Food:Out", []string{"trip"}}, []any{records[0].Account, records[0].Category, records[0].Tags})
	require.Equal(t, "Savings", records[1].Transfer.Account)
	require.Equal(t, []Split{{Amount: "-1.00", Category: "A"}, {Amount: "-2.00", Account: "B"}}, records[2].Splits)
}

func TestOpenQIFWithoutHeader(t *testing.T) {
	t.Parallel()
	records, _ := readAll(t, "D31/01/2024\nT-1.00\nPShop\n^\nD01/02/2024\nT2.00\n^\n", Options{})
	require.Equal(t, []string{"2024-01-31|-1.00||Shop|", "2024-02-01|2.00|||"}, linesOf(records))
}

func TestOpenOFXIncomplete(t *testing.T) {
	t.Parallel()
	const start = "<OFX><STMTRS><CURDEF>EUR<BANKTRANLIST><STMTTRN><DTPOSTED>20240131<TRNAMT>5<FITID>A001</STMTTRN>"
	for end, want := range map[string]int{"": 0, "<STMTTRN><DTPOSTED>2024": 0, "</BANKTRANLIST></STMTRS>": 1, "<LEDGERBAL><BALAMT>5</OFX>": 1} {
		_, err := consume(strings.NewReader(start + end))
		if want == 1 {
			require.NoError(t, err, end)
			continue
		}
		var failed *scan.ParseError
		require.ErrorAs(t, err, &failed, end)
	}
}

func TestOpenQIFAmbiguousDates(t *testing.T) {
	t.Parallel()
	const file = "!Type:Bank\nD03/04/2024\nT-1.00\n^\nD02/05/2024\nT-1.00\n^\nD04/06/2024\nT1.00\n^\n"
	for locale, want := range map[string]string{"de-DE": "2024-04-03", "en-US": "2024-03-04", "": "2024-04-03"} {
		records, facts := readAll(t, file, Options{Locale: locale})
		// The dates rise only if the day is first. This evidence is stronger than the locale.
		if locale == "en-US" {
			want = "2024-04-03"
		}
		require.Equal(t, want, records[0].Date.Format("2006-01-02"), locale)
		require.Contains(t, facts.Warnings, DateOrderAssumed)
	}
}

func TestOpenFirefly(t *testing.T) {
	t.Parallel()
	const head = "user_id,group_id,journal_id,group_title,type,currency_code,amount,foreign_currency_code,foreign_amount,description,date,source_name,destination_name,source_type,destination_type,category,budget,tags,notes\n"
	records, facts := readAll(t, head+
		`1,1,11,Both,Withdrawal,EUR,-1.500000000000,,,A,2024-01-31T00:00:00+01:00,Giro,Shop,Asset account,Expense account,Food,Month,"a,b",n`+"\n"+
		`1,1,12,Both,Withdrawal,EUR,-2.250000000000,,,B,2024-01-31T00:00:00+01:00,Giro,Shop,Asset account,Expense account,Home,,,`+"\n"+
		`1,2,13,,Deposit,EUR,1000.000000000000,,,Pay,2024-01-30T00:00:00+01:00,Firm,Giro,Revenue account,Asset account,,,,`+"\n"+
		`1,3,14,,Transfer,EUR,-10.000000000000,USD,11.000000000000,Move,2024-01-29T00:00:00+01:00,Giro,Dollars,Asset account,Asset account,,,,`+"\n"+
		`1,4,15,,Opening balance,EUR,-50.000000000000,,,Start,2024-01-01T00:00:00+01:00,Initial balance for Giro,Giro,Initial balance account,Asset account,,,,`+"\n", Options{})
	require.Equal(t, []string{"2024-01-31|-3.75|EUR|Shop|Both", "2024-01-30|1000.00|EUR|Firm|Pay", "2024-01-29|-10.00|EUR||Move", "2024-01-01|50.00|EUR||Start"}, linesOf(records))
	require.Equal(t, []string{BudgetsSkipped}, facts.Warnings)
	require.Equal(t, []Split{{Amount: "-1.50", Category: "Food", Description: "A"}, {Amount: "-2.25", Category: "Home", Description: "B"}}, records[0].Splits)
	require.Equal(t, "firefly:11", records[0].ExternalID)
	require.Equal(t, &Transfer{Account: "Dollars", Amount: "11.00", Currency: "USD"}, records[2].Transfer)
	require.True(t, records[3].Opening)
}

func TestOpenYNAB(t *testing.T) {
	t.Parallel()
	records, facts := readAll(t, `"Account","Flag","Date","Payee","Category Group/Category","Category Group","Category","Memo","Outflow","Inflow","Cleared"
"Giro","Red","31/01/2024","Shop","Life: Food","Life","Food","Split (1/2) x",€1.50,€0.00,"Cleared"
"Giro","Red","31/01/2024","Shop","Life: Home","Life","Home","Split (2/2) y",€2.25,€0.00,"Cleared"
"Giro","","30/01/2024","Transfer : Savings","","","","",€10.00,€0.00,"Cleared"
"Giro","","01/01/2024","Starting Balance","Inflow: Ready to Assign","Inflow","Ready to Assign","",€0.00,€50.00,"Cleared"
`, Options{})
	require.Equal(t, []string{"2024-01-31|-3.75|EUR|Shop|", "2024-01-30|-10.00|EUR||", "2024-01-01|50.00|EUR|Starting Balance|"}, linesOf(records))
	require.Equal(t, YNAB, facts.Format)
	require.Empty(t, facts.Warnings)
	require.Equal(t, []Split{{Amount: "-1.50", Category: "Life: Food", Description: "x"}, {Amount: "-2.25", Category: "Life: Home", Description: "y"}}, records[1].Splits)
	require.Equal(t, []string{"Red"}, records[1].Tags)
	require.Equal(t, &Transfer{Account: "Savings", Paired: true}, records[2].Transfer)
	require.True(t, records[3].Opening)
}

func TestOpenCoffer(t *testing.T) {
	t.Parallel()
	records, facts := readAll(t, seeds[Coffer][0]+`{"transaction":{"id":"u","amount":-5.00,"currency":"EUR","type":"expense","date":"2024-02-01T10:00:00.000Z","walletId":"w","splits":[{"categoryId":"c","amount":6.00},{"amount":-1.00}]}}`, Options{})
	require.Equal(t, []string{"2024-01-31|-5.00|EUR||", "2024-02-01|-5.00|EUR||"}, linesOf(records))
	require.Equal(t, "2024-01-31T10:00:00Z", records[0].Date.Format("2006-01-02T15:04:05Z07:00"))
	require.Equal(t, "Bank", facts.Accounts[0].Name)
	require.Equal(t, "coffer:t", records[0].ExternalID)
	require.Equal(t, []string{"-6.00", "1.00"}, []string{records[1].Splits[0].Amount, records[1].Splits[1].Amount})
}

// TestOpenCofferCSV reads an export as CSV. Its second split has parts without a description.
func TestOpenCofferCSV(t *testing.T) {
	t.Parallel()
	records, facts := readAll(t, "\ufeff"+strings.Join(cofferColumns, ",")+`
a.1,2024-01-31T10:00:00.123Z,expense,-6.00,EUR,'=Bank,Food,'-Shop,one,"n
m","Trip,'@x",,ofx:1,a
a.2,2024-01-31T10:00:00.123Z,expense,1.00,EUR,'=Bank,Fun,'-Shop,two,"n
m","Trip,'@x",,,a
b.1,2024-02-01T00:00:00.000Z,income,2.00,EUR,'=Bank,Food,,one,,,,,b
b.2,2024-02-01T00:00:00.000Z,income,3.00,EUR,'=Bank,Fun,,,,,,,b
c,01.02.2024,income,3.00,EUR,Cash,Fun,,,,,,,
d,2024-02-02,transfer,-3.00,EUR,Cash,,,''=x,,,t,'=y,
`, Options{})
	require.Equal(t, Coffer, facts.Format)
	require.Len(t, records, 4)
	require.Equal(t, "2024-01-31|-5|EUR|-Shop|one", linesOf(records)[0])
	require.Equal(t, []Split{{Amount: "-6.00", Category: "Food", Description: "one"}, {Amount: "1.00", Category: "Fun", Description: "two"}}, records[0].Splits)
	require.Equal(t, []string{"=Bank", "n\nm", "ofx:1"}, []string{records[0].Account, records[0].Notes, records[0].ExternalID})
	require.Equal(t, []string{"Trip", "'@x"}, records[0].Tags)
	require.Equal(t, []string{"", "coffer:b", "5"}, []string{records[1].Description, records[1].ExternalID, records[1].Amount})
	require.Equal(t, "the date is missing or cannot be read", records[2].Problem)
	require.Equal(t, &Transfer{ID: "t", Paired: true}, records[3].Transfer)
	require.Equal(t, []string{"'=x", "=y"}, []string{records[3].Description, records[3].ExternalID})
}

func TestIDsAssign(t *testing.T) {
	t.Parallel()
	const file = "Date,Payee,Amount\n2024-01-31,Coffee,-2.50\n2024-01-31,Coffee,-2.5\n2024-02-01,Coffee,-2.50\n"
	assign := func() (all []string) {
		records, _ := readAll(t, file, Options{})
		ids := &IDs{}
		for _, r := range records[1:] {
			ids.Assign(&r)
			all = append(all, r.ExternalID)
		}
		return all
	}
	first := assign()
	require.Equal(t, first, assign())
	require.Equal(t, strings.TrimSuffix(first[0], ":0")+":1", first[1])
	require.NotEqual(t, first[0], first[2])
}

func TestStatementBalances(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		minor := rapid.SliceOfN(rapid.Int64Range(-99_999_999, 99_999_999), 1, 30).Draw(t, "amounts")
		opening := rapid.Int64Range(-99_999_999, 99_999_999).Draw(t, "opening")
		mark := func(n int64) (string, string) {
			if n < 0 {
				return "D", strings.Replace(money.Decimal(-n, 2), ".", ",", 1)
			}
			return "C", strings.Replace(money.Decimal(n, 2), ".", ",", 1)
		}
		var b strings.Builder
		sign, amount := mark(opening)
		fmt.Fprintf(&b, ":20:A\n:25:1\n:60F:%s240101EUR%s\n", sign, amount)
		closing := opening
		for _, n := range minor {
			closing += n
			sign, amount = mark(n)
			fmt.Fprintf(&b, ":61:240102%s%sNTRFNONREF\n", sign, amount)
		}
		sign, amount = mark(closing)
		fmt.Fprintf(&b, ":62F:%s240131EUR%s\n-\n", sign, amount)
		file, err := Open(strings.NewReader(b.String()), Options{})
		require.NoError(t, err)
		i := 0
		for record, err := range file.Records() {
			require.NoError(t, err)
			n, _, err := record.Minor(money.Currency{})
			require.NoError(t, err)
			require.Equal(t, minor[i], n)
			i++
		}
		require.Empty(t, file.Facts().Warnings)
		require.Len(t, minor, i)
	})
}

func BenchmarkCSV(b *testing.B) {
	var file strings.Builder
	file.WriteString("Buchungstag;Valuta;Empfänger;Verwendungszweck;Betrag;Währung\n")
	for i := range 10_000 {
		fmt.Fprintf(&file, "%02d.01.2024;01.02.2024;Laden %d;Einkauf im Laden;-%d,%02d;EUR\n", i%28+1, i, i, i%100)
	}
	for b.Loop() {
		readAll(b, file.String(), Options{})
	}
	b.ReportMetric(float64(b.N)*10_000/b.Elapsed().Seconds(), "lines/s")
}
