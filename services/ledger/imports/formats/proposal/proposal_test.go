package proposal_test

import (
	_ "embed"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

//go:embed testdata/columns.txt
var columnLayouts string

//go:embed testdata/texts.txt
var textLayouts string

func TestProposeColumns(t *testing.T) {
	t.Parallel()
	testLayouts(t, columnLayouts)
}

// testLayouts reads files and compares their assumptions and records with the wanted lines.
func testLayouts(t *testing.T, layouts string) {
	t.Helper()
	for _, layout := range sections(t, layouts) {
		t.Run(layout.name, func(t *testing.T) {
			t.Parallel()
			records, facts := fixture.ReadAll(t, layout.file, statement.Options{})
			var got []string
			for _, a := range facts.Assumptions {
				if statement.Blocking[a.Code] != "" {
					got = append(got, a.Code)
				}
			}
			for _, r := range records {
				switch {
				case r.Skip:
				case r.Problem != "" && r.Status != written.Void:
					got = append(got, "problem")
				default:
					line := r.Date.Format("2006-01-02") + " " + r.Amount + " " + r.Currency
					if r.Status != "" {
						line += " " + r.Status
					}
					got = append(got, line)
				}
			}
			require.Equal(t, layout.want, got, "%+v", facts.Mapping)
		})
	}
}

func TestProposeTexts(t *testing.T) {
	t.Parallel()
	for _, layout := range sections(t, textLayouts) {
		t.Run(layout.name, func(t *testing.T) {
			t.Parallel()
			records, facts := fixture.ReadAll(t, layout.file, statement.Options{})
			var got []string
			for _, r := range records {
				if !r.Skip {
					got = append(got, strings.Join([]string{
						r.Payee, r.Description, r.Notes, strings.Join(r.Tags, ","),
					}, "|"))
				}
			}
			require.Equal(t, layout.want, got, "%+v", facts.Mapping)
		})
	}
}

func TestProposeWarnsOfAmountsWithoutSign(t *testing.T) {
	t.Parallel()
	const heading = "Date,Description,Amount,Balance\n"
	_, facts := fixture.ReadAll(t, heading+"01/31/2024,Coffee,12.50,87.50\n"+
		"02/01/2024,Pay,100.00,187.50\n02/03/2024,Rent,50.00,137.50\n", statement.Options{})
	require.Contains(t, facts.Warnings, statement.BalanceMismatch)
	_, facts = fixture.ReadAll(t, heading+"01/31/2024,Pay,12.50,112.50\n"+
		"02/01/2024,Pay,100.00,212.50\n02/03/2024,Pay,50.00,262.50\n", statement.Options{})
	require.NotContains(t, facts.Warnings, statement.BalanceMismatch)
}

func TestProposeEmpty(t *testing.T) {
	t.Parallel()
	_, facts := fixture.ReadAll(t, "Date,Text,Note,Amount,Fee\n2024-01-31,Shop,,-3.50\n"+
		"2024-01-30,Firm,,100.00\n", statement.Options{})
	require.Equal(t, []int{2, 4}, facts.Mapping.Empty)
}

func TestProposeEvidence(t *testing.T) {
	t.Parallel()
	_, facts := fixture.ReadAll(t, "Date,Text,Amount\n03/04/2024,Coffee,-1.234\n"+
		"05/06/2024,Pay,2.345\n07/08/2024,Rent,-6.789\n", statement.Options{Locale: "de-DE"})
	require.Equal(t, []statement.Assumption{
		{
			Code: statement.DateOrderAssumed,
			Evidence: statement.Shows("DATES_AMBIGUOUS",
				"example", "03/04/2024", "layout", "DD/MM/YYYY"),
			Rows: []int{2, 3, 4},
		},
		{
			Code:     statement.DecimalsAssumed,
			Evidence: statement.Shows("DECIMALS_AMBIGUOUS", "example", "-1.234", "mark", `"."`),
			Rows:     []int{2, 3, 4},
		},
	}, facts.Assumptions)
}

func TestProposeSharedUnit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, file, currency, evidence, unit string }{
		{"of amounts", "Date,Text,Amount\n2024-01-31,Shop,-FCFA 3.50\n", "XOF", "UNIT_SHARED", "FCFA"},
		{
			"of a column", "Date,Text,Amount,Currency\n2024-01-31,Shop,-3.50,lei\n", "RON",
			"UNIT_SHARED", "lei",
		},
		{
			"of a heading", "Date,Text,Amount (руб.)\n2024-01-31,Shop,-3.50\n", "RUB", "UNIT_SHARED",
			"руб",
		},
		{
			"of shops", "Date,Text,Amount,Original currency\n2024-01-31,Shop,-3.50,EUR\n", "EUR",
			"CURRENCY_OF_SHOPS", "",
		},
		{"of one currency", "Date,Text,Amount\n2024-01-31,Shop,-3.50 €\n", "EUR", "", ""},
		{"of no currency", "Date,Text,Amount\n2024-01-31,Shop,-C$3.50\n", "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			records, facts := fixture.ReadAll(t, c.file, statement.Options{})
			require.Equal(t, c.currency, records[1].Currency)
			evidence := statement.Evidence{}
			for _, a := range facts.Assumptions {
				if a.Code == statement.CurrencyAssumed {
					evidence = a.Evidence
				}
			}
			require.Equal(t, c.evidence, evidence.Code)
			if c.unit != "" {
				require.Equal(t, `"`+c.unit+`"`, evidence.Parameters["unit"])
				require.Equal(t, c.currency, evidence.Parameters["currency"])
				facts.Mapping.Currency = "XAF"
				reader, err := facts.Mapping.Compile()
				require.NoError(t, err)
				reader.Row(&records[1])
				require.Equal(t, "XAF", records[1].Currency, "the user's choice")
			}
		})
	}
}

func TestProposeOrderAndColumnOfDates(t *testing.T) {
	t.Parallel()
	_, facts := fixture.ReadAll(t, "Posting date,Transaction date,Text,Amount\n"+
		"04/03/2024,03/03/2024,Coffee,-1.50\n06/05/2024,05/05/2024,Pay,2.25\n"+
		"08/07/2024,08/07/2024,Rent,-6.00\n", statement.Options{Locale: "de-DE"})
	require.Equal(t, statement.Shows("DATES_UNCLEAR", "example", "04/03/2024", "layout",
		"DD/MM/YYYY", "column", `"Posting date"`, "other", `"Transaction date"`),
		facts.Assumptions[0].Evidence)
}

// TestProposeOrderByAccount requires that the IBAN of a counterparty is no evidence.
func TestProposeOrderByAccount(t *testing.T) {
	t.Parallel()
	for heading, code := range map[string]string{
		"Account IBAN": statement.DateOrderInferred,
		"Partner IBAN": statement.DateOrderAssumed,
		"IBAN":         statement.DateOrderAssumed,
	} {
		_, facts := fixture.ReadAll(t, "Date,Text,Amount,"+heading+"\n"+
			"03/04/2024,Invoice,-12.50,DE02120300000000202051\n", statement.Options{})
		require.Equal(t, code, facts.Assumptions[0].Code, heading)
	}
}
