package imports

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	statements "github.com/coffer-budget/coffer/services/ledger/imports/formats/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// sameStatement holds the same four payments, two of them equal, in the formats of a bank.
var sameStatement = map[string]string{
	"csv": "Date;Payee;Description;Amount;Currency\n03.02.2026;Bakery;Coffee;-3,50;EUR\n03.02.2026;Bakery;Coffee;-3,50;EUR\n" +
		"15.02.2026;Employer;Salary February;2500,00;EUR\n28.02.2026;Landlord;Rent;-850,00;EUR\n",
	"ofx": "OFXHEADER:100\n\n<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>EUR<BANKACCTFROM><BANKID>1<ACCTID>111<ACCTTYPE>CHECKING</BANKACCTFROM>" +
		"<BANKTRANLIST>" +
		"<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20260203<TRNAMT>-3.50<FITID>1<NAME>Bakery<MEMO>Coffee</STMTTRN>" +
		"<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20260203<TRNAMT>-3.50<FITID>2<NAME>Bakery<MEMO>Coffee</STMTTRN>" +
		"<STMTTRN><TRNTYPE>CREDIT<DTPOSTED>20260215<TRNAMT>2500.00<FITID>3<NAME>Employer<MEMO>Salary February</STMTTRN>" +
		"<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20260228<TRNAMT>-850.00<FITID>4<NAME>Landlord<MEMO>Rent</STMTTRN>" +
		"</BANKTRANLIST></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>",
	"camt": `<?xml version="1.0"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.02"><BkToCstmrStmt><Stmt><Id>1</Id>` +
		`<Acct><Id><IBAN>DE02120300000000202051</IBAN></Id><Ccy>EUR</Ccy></Acct>` +
		camtEntry("3.50", "DBIT", "2026-02-03", "Bakery", "Coffee") +
		camtEntry("3.50", "DBIT", "2026-02-03", "Bakery", "Coffee") +
		camtEntry("2500.00", "CRDT", "2026-02-15", "Employer", "Salary February") +
		camtEntry("850.00", "DBIT", "2026-02-28", "Landlord", "Rent") +
		`</Stmt></BkToCstmrStmt></Document>`,
	"mt940": ":20:1\n:25:12030000/202051\n:28C:1/1\n:60F:C260201EUR0,\n" +
		":61:2602030203D3,50NMSCNONREF\n:86:005?20Coffee?32Bakery\n:61:2602030203D3,50NMSCNONREF\n:86:005?20Coffee?32Bakery\n" +
		":61:2602150215C2500,00NMSCNONREF\n:86:051?20Salary February?32Employer\n:61:2602280228D850,00NMSCNONREF\n:86:005?20Rent?32Landlord\n" +
		":62F:C260228EUR1643,00\n",
}

// camtEntry returns an entry of a statement.
func camtEntry(amount, direction, date, name, text string) string {
	party := map[string]string{"DBIT": "Cdtr", "CRDT": "Dbtr"}[direction]
	return fmt.Sprintf(`<Ntry><Amt Ccy="EUR">%s</Amt><CdtDbtInd>%s</CdtDbtInd><Sts>BOOK</Sts><BookgDt><Dt>%s</Dt></BookgDt><NtryDtls><TxDtls>`+
		`<RltdPties><%[4]s><Nm>%[5]s</Nm></%[4]s></RltdPties><RmtInf><Ustrd>%[6]s</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>`,
		amount, direction, date, party, name, text)
}

func TestCreateImportRecognizesOtherFormats(t *testing.T) {
	t.Parallel()
	s := setup(t)
	files := maps.Clone(sameStatement)
	files["xlsx"] = string(statements.Workbook(t, map[string]string{
		"xl/worksheets/sheet1.xml": statements.Sheet(
			[]string{"Date", "Payee", "Description", "Amount", "Currency"},
			[]string{"2026-02-03", "Bakery", "Coffee", `<c><v>-3.5</v></c>`, "EUR"},
			[]string{"2026-02-03", "Bakery", "Coffee", `<c><v>-3.5</v></c>`, "EUR"},
			[]string{"2026-02-15", "Employer", "Salary February", `<c><v>2500</v></c>`, "EUR"},
			[]string{"2026-02-28", "Landlord", "Rent", `<c><v>-850</v></c>`, "EUR"},
		),
	}))
	for first, file := range files {
		t.Run(first, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t, s)
			m := p.commit(t, p.mustUpload(t, file))
			require.Equal(t, first, m.GetFormat())
			require.EqualValues(t, 4, m.GetCounts().GetBooked(), "two equal payments stay two")
			require.Equal(t, "1643.00", p.balance(t))
			for second, other := range files {
				m := p.mustUpload(t, other)
				c := m.GetCounts()
				require.EqualValues(t, 4, c.GetMatched()+c.GetDuplicate(),
					"%s after %s: %v", second, first, c)
				m = p.commit(t, m)
				require.Equal(t, staging.Done, m.GetStatus())
				require.Zero(t, m.GetCounts().GetBooked())
				require.Equal(t, "1643.00", p.balance(t))
				if second != first {
					require.Zero(t, p.undo(t, m, true).GetCounts().GetUndone())
					require.Equal(t, "1643.00", p.balance(t))
				}
			}
		})
	}
}

// TestCommitImportCurrency imports files of two accounts in different currencies with the same
// heading, as applications and banks export them.
func TestCommitImportCurrency(t *testing.T) {
	t.Parallel()
	s := setup(t)
	const heading = "Date,Description,Amount\n"
	t.Run("in_the_file_is_not_saved", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		p.committed(t, p.mustUpload(t, heading+"2026-03-31,Bakery,-€3.50\n"))
		for sign, currency := range map[string]string{"$": "USD", "£": "GBP"} {
			w, err := p.CreateWallet(p.Ctx,
				&ledgerv1.CreateWalletRequest{Name: currency, Currency: currency})
			require.NoError(t, err)
			resp, err := p.upload(&ledgerv1.CreateImportRequest{WalletId: w.GetWallet().GetId()},
				heading+"2026-03-31,Hotel,-"+sign+"45.50\n")
			require.NoError(t, err)
			require.Equal(t, currency, p.rows(t, resp.GetImport())[0].GetCurrency())
		}
	})
	t.Run("unknown_makes_rows_invalid", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		m := p.mustUpload(t, "Date,Description,Amount,Currency\n"+
			"2020-03-31,Bakery,-3.50,HRK\n2020-03-31,Hotel,-45.50,EUR\n")
		rows := p.rows(t, m)
		require.Equal(t, staging.Invalid, rows[0].GetStatus())
		require.Contains(t, rows[0].GetProblem(), "HRK")
		require.Equal(t, staging.Ready, rows[1].GetStatus())
		p.committed(t, m)
		require.Equal(t, "-45.50", p.balance(t))
	})
	t.Run("of_the_user_is_saved", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		m := p.mustUpload(t, heading+"2026-03-31,Bakery,-3.50\n")
		m.GetMapping().Currency = "CHF"
		p.committed(t,
			p.update(t, &ledgerv1.UpdateImportRequest{Id: m.GetId(), Mapping: m.GetMapping()}))
		next := p.mustUpload(t, heading+"2026-04-01,Bakery,-4.50\n")
		require.Equal(t, "CHF", p.rows(t, next)[0].GetCurrency())
		require.Equal(t, []string{"CURRENCY_ASSUMED"}, next.GetWarnings())
		require.Equal(t, "EARLIER_CURRENCY", next.GetAssumptions()[0].GetReason())
		require.Contains(t, next.GetAssumptions()[0].GetEvidence(), "CHF")
		require.Equal(t, "GBP",
			p.rows(t, p.mustUpload(t, heading+"2026-04-02,Hotel,-£45.50\n"))[0].GetCurrency())
	})
	t.Run("of_a_shared_unit_is_saved", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		requireReadAs := func(m *ledgerv1.Import, currency string) {
			t.Helper()
			require.Equal(t, currency, p.rows(t, m)[0].GetCurrency())
			require.Equal(t, "UNIT_SHARED", m.GetAssumptions()[0].GetReason())
			require.Equal(t, map[string]string{"unit": `"FCFA"`, "currency": currency},
				m.GetAssumptions()[0].GetParameters())
			require.Contains(t, m.GetAssumptions()[0].GetEvidence(), "read as "+currency)
		}
		m := p.mustUpload(t, heading+"2026-03-31,Bakery,FCFA -350\n")
		requireReadAs(m, "XOF")
		m.GetMapping().Currency = "XAF"
		m = p.update(t, &ledgerv1.UpdateImportRequest{Id: m.GetId(), Mapping: m.GetMapping()})
		requireReadAs(m, "XAF")
		p.committed(t, m)
		requireReadAs(p.mustUpload(t, heading+"2026-04-01,Bakery,FCFA -450\n"), "XAF")
		require.Equal(t, "EUR",
			p.rows(t, p.mustUpload(t, heading+"2026-04-02,Hotel,-€45.50\n"))[0].GetCurrency())
	})
}

// TestCommitImportYears imports files whose dates have no year with a saved mapping. Each file has
// its own years, so their warning stays.
func TestCommitImportYears(t *testing.T) {
	t.Parallel()
	p := newPerson(t, setup(t))
	const heading = "Date;Text;Amount\n"
	m := p.mustUpload(t, heading+"03/04;Card;-1,50\n05/04;Shop;-2,00\n")
	require.Equal(t, "DD/MM", m.GetMapping().GetDateLayout())
	p.requireBlocked(t, m)
	m.GetMapping().DateLayout, m.GetMapping().DatesUntil = "MM/DD", "2025-12-31"
	m = p.update(t, &ledgerv1.UpdateImportRequest{Id: m.GetId(), Mapping: m.GetMapping()})
	require.Equal(t, "2025-03-04", p.rows(t, m)[0].GetDate()[:len(time.DateOnly)])
	p.committed(t, m)
	require.False(t, pgtest.Value[bool](t, p.DB,
		`SELECT mapping ? 'datesUntil' FROM import_profiles WHERE owner_id = $1`, p.ID))

	for name, c := range map[string]struct{ file, until, day string }{
		"not shown": {
			heading + "03/02;Card;-3,50\n05/02;Shop;-4,00\n", p.Service.Ledger.Now().UTC().Format(time.DateOnly), "",
		},
		"shown in the other order": {
			"Statement;28.02.2024\n" + heading + "03/02;Card;-3,50\n05/02;Shop;-4,00\n",
			"2024-02-28", "2023-03-02",
		},
	} {
		next := p.mustUpload(t, c.file)
		require.Equal(t, "MM/DD", next.GetMapping().GetDateLayout(), name)
		require.Equal(t, c.until, next.GetMapping().GetDatesUntil(), name)
		if c.day != "" {
			require.Equal(t, c.day, p.rows(t, next)[0].GetDate()[:len(time.DateOnly)], name)
		}
		p.requireBlocked(t, next)
		var found []map[string]string
		for _, a := range next.GetAssumptions() {
			if a.GetReason() == "YEARS_ASSUMED" {
				found = append(found, a.GetParameters())
			}
		}
		require.Equal(t, []map[string]string{
			{"example": "03/02", "layout": "MM/DD", "until": c.until},
		}, found, name)
	}
}

// TestCommitImportSavesProfileOfWorkbook checks that the mapping of a workbook is used for the next
// one, and never for a CSV file with the same heading, which writes dates and amounts otherwise.
func TestCommitImportSavesProfileOfWorkbook(t *testing.T) {
	t.Parallel()
	p := newPerson(t, setup(t))
	workbook := func(day string) string {
		return string(statements.Workbook(t, map[string]string{
			"xl/worksheets/sheet1.xml": statements.Sheet([]string{"Date", "Payee", "Amount"},
				[]string{"2026-02-" + day, "Bakery", `<c><v>-1234.5</v></c>`}),
		}))
	}
	m := p.mustUpload(t, workbook("03"))
	mapping := m.GetMapping()
	mapping.Invert = true
	p.commit(t, p.update(t, &ledgerv1.UpdateImportRequest{Id: m.GetId(), Mapping: mapping}))

	m = p.mustUpload(t, workbook("04"))
	require.Equal(t, []any{"xlsx", true, []string{"Date", "Payee", "Amount"}},
		[]any{m.GetMapping().GetFormat(), m.GetMapping().GetInvert(), m.GetHeading()})
	m = p.mustUpload(t, "Date;Payee;Amount\n05.02.2026;Bakery;-1.234,50\n")
	require.Equal(t, []any{"csv", false, ","}, []any{
		m.GetMapping().GetFormat(), m.GetMapping().GetInvert(), m.GetMapping().GetDecimalMark(),
	})
}
