package proposal_test

import (
	_ "embed"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
)

//go:embed testdata/columns.txt
var columnLayouts string

func TestProposeColumns(t *testing.T) {
	t.Parallel()
	for section := range strings.SplitSeq("\n"+columnLayouts, "\n== ") {
		name, rest, _ := strings.Cut(section, "\n")
		if name == "want" || strings.HasPrefix(name, "#") || name == "" {
			continue
		}
		_, after, ok := strings.Cut(columnLayouts, section+"\n== want\n")
		require.True(t, ok, name)
		want, _, _ := strings.Cut(after, "\n== ")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			records, facts := fixture.ReadAll(t, rest, statement.Options{})
			var got []string
			for _, r := range records {
				switch {
				case r.Skip:
				case r.Problem != "":
					got = append(got, "problem")
				default:
					got = append(got, r.Date.Format("2006-01-02")+" "+r.Amount+" "+r.Currency)
				}
			}
			require.Equal(t, strings.Split(strings.TrimSuffix(want, "\n"), "\n"), got, "%+v",
				facts.Mapping)
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
