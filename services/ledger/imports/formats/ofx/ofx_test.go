package ofx_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/scan"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
)

func TestParse(t *testing.T) {
	t.Parallel()
	records, facts := fixture.ReadAll(t, `OFXHEADER:100
CHARSET:1252

<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>EUR<BANKACCTFROM><BANKID>1<ACCTID>DE001234</BANKACCTFROM>
<BANKTRANLIST><STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20240131120000[-5:EST]<TRNAMT>-12,30<FITID>A001<NAME>Caf`+
		"\xe9"+` &amp; Co<MEMO>a < b</STMTTRN>
<STMTTRN><DTPOSTED>20240201<TRNAMT>+1,234.50<FITID>A001<NAME>Salary</STMTTRN></BANKTRANLIST>
<LEDGERBAL><BALAMT>1222.20<DTASOF>20240201</LEDGERBAL></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>`,
		statement.Options{})
	require.Equal(t, []string{
		"2024-01-31|-12.30|EUR|Café & Co|a < b", "2024-02-01|1234.50|EUR|Salary|",
	}, fixture.Lines(records))
	require.Equal(t, statement.OFX, facts.Format)
	require.Empty(t, facts.Warnings)
	require.Len(t, facts.Accounts, 1)
	account := facts.Accounts[0]
	require.Equal(t, []any{"DE001234", "1234", "EUR", "1222.20", 2},
		[]any{account.Key, account.Last4, account.Currency, account.Closing, account.Count})
	ids := &statement.IDs{}
	for i := range records {
		ids.Assign(&records[i])
	}
	require.Equal(t, "ofx:A001", records[0].ExternalID)
	require.Equal(t, "ofx:A001:1234.5", records[1].ExternalID)
}

func TestParseIncomplete(t *testing.T) {
	t.Parallel()
	const start = "<OFX><STMTRS><CURDEF>EUR<BANKTRANLIST><STMTTRN><DTPOSTED>20240131<TRNAMT>5<FITID>A001</STMTTRN>"
	for end, want := range map[string]int{
		"": 0, "<STMTTRN><DTPOSTED>2024": 0, "</BANKTRANLIST></STMTRS>": 1,
		"<LEDGERBAL><BALAMT>5</OFX>": 1,
	} {
		_, err := fixture.Count(strings.NewReader(start + end))
		if want == 1 {
			require.NoError(t, err, end)
			continue
		}
		var failed *scan.ParseError
		require.ErrorAs(t, err, &failed, end)
	}
}

// TestParseDialects reads what banks write although it is not in the standard of the format.
func TestParseDialects(t *testing.T) {
	t.Parallel()
	const (
		statements = "OFXHEADER:100\n\n<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>USD<BANKACCTFROM><ACCTID>1234</BANKACCTFROM><BANKTRANLIST>"
		end        = "</BANKTRANLIST></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>"
	)
	for name, tc := range map[string]struct {
		file string
		want []string
	}{
		"no_end_tags": {statements + "\n<STMTTRN>\n<DTPOSTED>20240131120000.000[-5:EST]\n<TRNAMT>-12,50\n<NAME>Coffee\n<STMTTRN>\n<DTPOSTED>20240201\n<TRNAMT>1.100,00\n<NAME>Pay\n" + end, []string{"2024-01-31|-12.50|USD|Coffee|", "2024-02-01|1100.00|USD|Pay|"}},
		"dates":       {statements + "<STMTTRN><DTPOSTED>2024-01-31<TRNAMT>- 12.50<NAME>A</STMTTRN><STMTTRN><DTPOSTED>31/01/2024<TRNAMT>+1,234.50<NAME>B</STMTTRN>" + end, []string{"2024-01-31|-12.50|USD|A|", "2024-01-31|1234.50|USD|B|"}},
		"pending": {
			statements + "<STMTTRN><DTPOSTED>20240131<TRNAMT>5<NAME>A</STMTTRN></BANKTRANLIST>" +
				"<BANKTRANLISTP><DTASOF>20240131<STMTTRNP><TRNTYPE>DEBIT<DTTRAN>20240131" +
				"<TRNAMT>-7<NAME>B</STMTTRNP></BANKTRANLISTP>" + end,
			[]string{"2024-01-31|5|USD|A|", "2024-01-31|-7|USD|B||pending"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			records, _ := fixture.ReadAll(t, tc.file, statement.Options{})
			require.Equal(t, tc.want, fixture.Lines(records))
		})
	}
}

func FuzzOFX(f *testing.F) { fixture.Fuzz(f, statement.OFX) }
