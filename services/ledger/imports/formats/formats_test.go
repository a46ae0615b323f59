package formats

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// readAll returns the records of a file, by the proposed mapping if it needs one.
func readAll(t testing.TB, contents string, options Options) ([]Record, Facts) {
	t.Helper()
	file, err := Open(strings.NewReader(contents), options)
	require.NoError(t, err)
	var records []Record
	for record, err := range file.Records() {
		require.NoError(t, err)
		records = append(records, record)
	}
	facts := file.Facts()
	if facts.Mapping != nil {
		records, err = Apply(facts.Mapping, records)
		require.NoError(t, err)
	}
	return records, facts
}

// lineOf returns a record in one line: date, amount, currency and texts.
func lineOf(r Record) string {
	if r.Skip {
		return "skip"
	}
	if r.Problem != "" {
		return "problem: " + r.Problem
	}
	return strings.Join([]string{r.Date.Format("2006-01-02"), r.Amount, r.Currency, r.Payee, r.Description}, "|")
}

// linesOf returns records that are not skipped, one per line.
func linesOf(records []Record) []string {
	var all []string
	for _, r := range records {
		if !r.Skip {
			all = append(all, lineOf(r))
		}
	}
	return all
}

func TestOpenOFX(t *testing.T) {
	t.Parallel()
	records, facts := readAll(t, `OFXHEADER:100
CHARSET:1252

<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>EUR<BANKACCTFROM><BANKID>1<ACCTID>DE001234</BANKACCTFROM>
<BANKTRANLIST><STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20240131120000[-5:EST]<TRNAMT>-12,30<FITID>A001<NAME>Caf`+"\xe9"+` &amp; Co<MEMO>a < b</STMTTRN>
<STMTTRN><DTPOSTED>20240201<TRNAMT>+1,234.50<FITID>A001<NAME>Salary</STMTTRN></BANKTRANLIST>
<LEDGERBAL><BALAMT>1222.20<DTASOF>20240201</LEDGERBAL></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>`, Options{})
	require.Equal(t, []string{"2024-01-31|-12.30|EUR|Café & Co|a < b", "2024-02-01|1234.50|EUR|Salary|"}, linesOf(records))
	require.Equal(t, OFX, facts.Format)
	require.Empty(t, facts.Warnings)
	require.Len(t, facts.Accounts, 1)
	account := facts.Accounts[0]
	require.Equal(t, []any{"DE001234", "1234", "EUR", "1222.20", 2}, []any{account.Key, account.Last4, account.Currency, account.Closing, account.Count})
	ids := &IDs{}
	for i := range records {
		ids.Assign(&records[i])
	}
	require.Equal(t, "ofx:A001", records[0].ExternalID)
	require.Equal(t, "ofx:A001:1234.5", records[1].ExternalID)
}

func TestOpenCSV(t *testing.T) {
	t.Parallel()
	records, facts := readAll(t, "Konto;DE001234\n\nBuchungstag;Valuta;Empfänger;Verwendungszweck;Betrag;Währung\n"+
		"31.01.2024;01.02.2024;Café;\"Zwei;\nZeilen\";-1.234,50;EUR\n01.02.2024;01.02.2024;Arbeit;Lohn;2.000,00;EUR\nSumme;;;;765,50;EUR\n", Options{})
	require.Equal(t, []string{"2024-01-31|-1234.50|EUR|Café|Zwei; Zeilen", "2024-02-01|2000.00|EUR|Arbeit|Lohn"}, linesOf(records))
	require.Equal(t, CSV, facts.Format)
	require.Empty(t, facts.Warnings)
	m := facts.Mapping
	require.Equal(t, []any{";", 1, true, "DD.MM.YYYY", ",", Signed, false}, []any{m.Delimiter, m.SkipRows, m.Header, m.DateLayout, m.DecimalMark, m.AmountMode, m.Invert})
}

func TestSimilarity(t *testing.T) {
	t.Parallel()
	require.InDelta(t, 1.0, Similarity("Café Müller", "CAFE MULLER!"), 0)
	require.InDelta(t, 0.363636, Similarity("word", "two words"), 0.00001)
	require.Zero(t, Similarity("abc", "xyz"))
	require.Zero(t, Similarity("", ""))
}
