package formats

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// seeds are small valid files by format.
var seeds = map[string][]string{
	OFX: {
		"OFXHEADER:100\nCHARSET:1252\n\n<OFX><STMTRS><CURDEF>EUR<BANKACCTFROM><ACCTID>1234<BANKTRANLIST><STMTTRN><DTPOSTED>20240131<TRNAMT>-12,30<FITID>A001<NAME>a &amp; b</STMTTRN></OFX>",
		`<?xml version="1.0"?><OFX><CCSTMTRS><STMTTRN><DTPOSTED>20240131</DTPOSTED><TRNAMT>5</TRNAMT><MEMO><![CDATA[x]]></MEMO></STMTTRN></CCSTMTRS></OFX>`,
	},
	CAMT: {`<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.02"><BkToCstmrStmt><Stmt><Acct><Id><IBAN>DE1234</IBAN></Id></Acct>
<Bal><Tp><CdOrPrtry><Cd>OPBD</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">0</Amt><CdtDbtInd>CRDT</CdtDbtInd></Bal>
<Ntry><Amt Ccy="EUR">3.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts>BOOK</Sts><BookgDt><Dt>2024-01-31</Dt></BookgDt><NtryDtls>
<TxDtls><Amt Ccy="EUR">1.00</Amt></TxDtls><TxDtls><Amt Ccy="EUR">2.00</Amt></TxDtls></NtryDtls></Ntry></Stmt></BkToCstmrStmt></Document>`},
	MT940: {":20:A\n:25:1234\n:28C:1\n:60F:C240130EUR10,00\n:61:2401310131DR2,30NTRFNONREF//AB12345\n:86:166?00Kauf?20SVWZ+Laden?32Anna\n:62F:C240131EUR7,70\n-"},
	QIF:   {"!Account\nNKonto\nTBank\n^\n!Type:Bank\nD31/01'24\nT-12.30\nPShop\nLFood:Out/x\nSA\nE1\n$-10.00\nSB\n$-2.30\n^\n"},
	CSV: {
		"Datum;Text;Betrag;Währung\n31.01.2024;Laden;-1.234,50;EUR\n", "2024-01-31,\"a\"\"b\",(5.00)\n", "Date,Debit,Credit,Balance\n1/31/24,5,,10\n2/1/24,,5,15\n",
	},
	Firefly: {"user_id,group_id,journal_id,group_title,type,currency_code,amount,foreign_currency_code,foreign_amount,description,date,source_name,destination_name,category,tags,notes\n1,1,1,Both,Withdrawal,EUR,-1.500000000000,,,A,2024-01-31T00:00:00+01:00,Bank,Shop,Food,\"a,b\",n\n1,1,2,Both,Withdrawal,EUR,-2.500000000000,,,B,2024-01-31T00:00:00+01:00,Bank,Shop,Home,,\n"},
	YNAB:    {"\"Account\",\"Flag\",\"Date\",\"Payee\",\"Category Group/Category\",\"Category Group\",\"Category\",\"Memo\",\"Outflow\",\"Inflow\",\"Cleared\"\n\"Bank\",\"\",\"31/01/2024\",\"Shop\",\"A: B\",\"A\",\"B\",\"Split (1/2) x\",€1.00,€0.00,\"Cleared\"\n\"Bank\",\"\",\"31/01/2024\",\"Shop\",\"A: C\",\"A\",\"C\",\"Split (2/2) y\",€2.00,€0.00,\"Cleared\"\n"},
	Coffer: {
		`{"wallet":{"id":"w","name":"Bank","currency":"EUR","balance":-5,"initialBalance":0}}` + "\n" + `{"transaction":{"id":"t","amount":-5.00,"currency":"EUR","type":"expense","date":"2024-01-31T10:00:00.000Z","walletId":"w"}}` + "\n",
		strings.Join(cofferColumns, ",") + "\n" + "p.1,2024-01-31T00:00:00.000Z,expense,-5.00,EUR,'=Bank,Food,Shop,x,,a,,,p\np.2,2024-01-31T00:00:00.000Z,expense,2.00,EUR,'=Bank,Fun,Shop,y,,a,,,p\n",
	},
}

// fuzzFormat checks that a parser does not panic and does not keep its input, and that every amount consists of digits of the file.
func fuzzFormat(f *testing.F, format string, formats ...string) {
	f.Helper()
	for _, name := range append(formats, format) {
		for _, seed := range seeds[name] {
			f.Add([]byte(seed))
		}
	}
	f.Fuzz(func(t *testing.T, contents []byte) {
		if len(contents) > 1<<16 {
			return
		}
		file, err := Open(bytes.NewReader(contents), Options{Format: format})
		if err != nil {
			return
		}
		digits := digitsOf(string(contents))
		var records []Record
		for record, err := range file.Records() {
			if err != nil {
				return
			}
			records = append(records, record)
		}
		if mapping := file.Facts().Mapping; mapping != nil {
			if records, err = Apply(mapping, records); err != nil {
				return
			}
		}
		ids, seen := &IDs{}, make(map[string]bool)
		for _, r := range records {
			if r.Skip || r.Opening || r.Problem != "" {
				continue
			}
			requireFromFile(t, r, digits)
			ids.Assign(&r)
			require.False(t, seen[r.Account+"\x00"+r.ExternalID], "two records have the id %s", r.ExternalID)
			seen[r.Account+"\x00"+r.ExternalID] = true
		}
	})
}

// digitsOf returns the runs of digits of a file, with groups joined.
func digitsOf(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r >= '0' && r <= '9' {
			b.WriteRune(r)
		} else if r == '\n' || r == '<' {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// requireFromFile checks that the digits of an amount occur in the file. The amount of a split is the sum of such amounts.
func requireFromFile(t *testing.T, r Record, digits string) {
	t.Helper()
	amounts := []string{r.Amount}
	if len(r.Splits) > 0 {
		amounts = nil
		var total written.Sum
		for _, s := range r.Splits {
			amounts = append(amounts, s.Amount)
			total.Add(s.Amount)
		}
		require.False(t, total.Differs(written.SumOf(r.Amount)), "the parts do not add up to %s", r.Amount)
	}
	require.False(t, r.Date.IsZero())
	for _, amount := range amounts {
		number := strings.ReplaceAll(written.Absolute(amount), ".", "")
		if number = strings.Trim(number, "0"); number != "" {
			require.Contains(t, digits, number, "the amount %s is not in the file", amount)
		}
	}
}

func FuzzOFX(f *testing.F)   { fuzzFormat(f, OFX) }
func FuzzCAMT(f *testing.F)  { fuzzFormat(f, CAMT) }
func FuzzMT940(f *testing.F) { fuzzFormat(f, MT940) }
func FuzzQIF(f *testing.F)   { fuzzFormat(f, QIF) }
func FuzzCSV(f *testing.F)   { fuzzFormat(f, CSV) }

// FuzzExports reads any format, also compressed, with the seeds of other applications' exports.
func FuzzExports(f *testing.F) { fuzzFormat(f, "", Firefly, YNAB, Coffer) }
