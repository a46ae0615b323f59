package csv_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
)

func TestParse(t *testing.T) {
	t.Parallel()
	records, facts := fixture.ReadAll(t,
		"Konto;DE001234\n\nBuchungstag;Valuta;Empfänger;Verwendungszweck;Betrag;Währung\n"+
			"31.01.2024;01.02.2024;Café;\"Zwei;\nZeilen\";-1.234,50;EUR\n01.02.2024;01.02.2024;Arbeit;Lohn;2.000,00;EUR\nSumme;;;;765,50;EUR\n", statement.Options{})
	require.Equal(t, []string{
		"2024-01-31|-1234.50|EUR|Café|Zwei; Zeilen", "2024-02-01|2000.00|EUR|Arbeit|Lohn",
	}, fixture.Lines(records))
	require.Equal(t, statement.CSV, facts.Format)
	require.Empty(t, facts.Warnings)
	m := facts.Mapping
	require.Equal(t, []any{";", 1, true, "DD.MM.YYYY", ",", mapping.Signed, false}, []any{
		m.Delimiter, m.SkipRows, m.Header, m.DateLayout, m.DecimalMark, m.AmountMode, m.Invert,
	})
}

// TestParseDialects reads what banks write although it is not in the standard of the format.
func TestParseDialects(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		file string
		want []string
	}{
		"formulas":       {"Date,Description,Amount\n=\"01/31/2024\",=\"0012\",=\"-1,012.50\"\n", []string{"2024-01-31|-1012.50|||0012"}},
		"quoted_formula": {"\"Date\",\"Description\",\"Amount\"\n\"=\"\"01/31/2024\"\"\",\"=\"\"Coffee\"\"\",\"-12.50\"\n", []string{"2024-01-31|-12.50||Coffee|"}},
		"quoted_rows":    {"\"Date,Description,Amount\"\n\"2024-01-31,\"\"Coffee, big\"\",-12.50\"\n\"2024-02-01,Pay,100.00\"\n", []string{"2024-01-31|-12.50||Coffee, big|", "2024-02-01|100.00||Pay|"}},
		"stars":          {"Account,:,123\n\nDate,Narration,Value Date,Withdrawal Amount,Deposit Amount,Closing Balance\n****,****,****,****,****,****\n31/01/24,UPI,31/01/24,12.50,,987.50\n01/02/24,NEFT,01/02/24,,100.00,1087.50\n\nSUMMARY\nOpening Balance,,Debits,Credits,Closing Bal\n1000.00,,12.50,100.00,1087.50\n", []string{"2024-01-31|-12.50||UPI|", "2024-02-01|100.00||NEFT|"}},
		"sections":       {"Konto: 111\nDatum;Text;Betrag\n31.01.2024;Kaffee;-12,50\n\nKonto: 222\nDatum;Text;Betrag\n01.02.2024;Lohn;100,00\n", []string{"2024-01-31|-12.50||Kaffee|", "2024-02-01|100.00||Lohn|"}},
		"month_names":    {"Datum;Text;Betrag\n31. Jänner 2024;a;-1,50\n1. Feber 2024;b;2,00\n15 août 2024;c;3,00-\n", []string{"2024-01-31|-1.50|||a", "2024-02-01|2.00|||b", "2024-08-15|-3.00|||c"}},
		"sign_in_text":   {"Date,Narration,Amount\n31/01/2024,ATM,500.00 Dr\n01/02/2024,Salary,\"1,00,000.00 Cr\"\n", []string{"2024-01-31|-500.00|||ATM", "2024-02-01|100000.00|||Salary"}},
		"line_breaks":    {"Date;Text;Amount;Balance\n01.02.2026;Card\nShop;-1,50;8,50\n02.02.2026;Pay;2,00;10,50\n03.02.2026;Bank fee\n", []string{"2026-02-01|-1.50||Card Shop|", "2026-02-02|2.00||Pay|", "problem: the amount is missing"}},
		"long_delimiter": {"Date~|~Description~|~Amount~|~\n31/01/2024~|~Coffee, big~|~-1,012.50~|~\n01/02/2024~|~Pay|roll~|~100.00~|~\n", []string{"2024-01-31|-1012.50||Coffee, big|", "2024-02-01|100.00||Pay|roll|"}},
		"carets":         {"Date^Details^Amount\n31-Jan-2024^Coffee, big^-12.50\n01-Feb-2024^Pay^100.00\n", []string{"2024-01-31|-12.50||Coffee, big|", "2024-02-01|100.00||Pay|"}},
		"no_years":       {"Period;01.12.2025;03.01.2026\nDate;Text;Amount\n30.12.;Card;-1,50\n02.01.;Pay;2,00\n", []string{"2025-12-30|-1.50|||Card", "2026-01-02|2.00|||Pay"}},
		"type_in_detail": {"Details,Posting Date,Description,Amount\nDEBIT,01/31/2024,COFFEE,-12.50\nCREDIT,02/01/2024,PAY,100.00\n", []string{"2024-01-31|-12.50||COFFEE|", "2024-02-01|100.00||PAY|"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			records, _ := fixture.ReadAll(t, tc.file, statement.Options{})
			require.Equal(t, tc.want, fixture.Lines(records))
		})
	}
}

func BenchmarkCSV(b *testing.B) {
	var file strings.Builder
	file.WriteString("Buchungstag;Valuta;Empfänger;Verwendungszweck;Betrag;Währung\n")
	for i := range 10_000 {
		fmt.Fprintf(&file, "%02d.01.2024;01.02.2024;Laden %d;Einkauf im Laden;-%d,%02d;EUR\n",
			i%28+1, i, i, i%100)
	}
	for b.Loop() {
		fixture.ReadAll(b, file.String(), statement.Options{})
	}
	b.ReportMetric(float64(b.N)*10_000/b.Elapsed().Seconds(), "lines/s")
}

func FuzzCSV(f *testing.F) { fixture.Fuzz(f, statement.CSV) }
