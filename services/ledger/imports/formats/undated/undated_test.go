package undated_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/undated"
)

func TestFind(t *testing.T) {
	t.Parallel()
	today := time.Date(2026, 5, 20, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name, file string // Rows, with the heading after "#".
		fileName   string
		want       string // The days of the first column, or "" if nothing is found.
		layout     string
		year       string // The code of its evidence.
		assumed    bool   // The order is assumed.
	}{
		{
			"the period", "Period;20.12.2025 - 19.01.2026\n#Date;Amount\n21.12.;1,00\n18.01.;2,00", "",
			"2025-12-21 2026-01-18", "DD.MM", "YEARS_BY_FILE", false,
		},
		{
			"the day of the statement",
			"Statement date;03 Jun 2024\n#Date;Amount\n28 May;1.00\n30 May;2.00", "",
			"2024-05-28 2024-05-30", "DD MMM", "YEARS_BY_FILE", false,
		},
		{
			"the month of the statement", "Card May 2024\n#Date;Amount\n5/28;1.00\n5/30;2.00", "",
			"2024-05-28 2024-05-30", "MM/DD", "YEARS_BY_FILE", false,
		},
		{
			"days that contradict each other",
			"Statement;03 Jun 2024\nPrinted;07 Jun 2025\n#Date;Amount\n28 May;1.00\n30 May;2.00", "",
			"2026-05-28 2026-05-30", "DD MMM", "YEARS_ASSUMED", false,
		},
		{
			"a day long after the rows",
			"Member until;03 Dec 2029\n#Date;Amount\n28 May;1.00\n30 May;2.00", "",
			"2026-05-28 2026-05-30", "DD MMM", "YEARS_ASSUMED", false,
		},
		{
			"the name of the file", "#Date;Amount\n28/05;1.00\n30/05;2.00", "card-2024-06-02.csv",
			"2024-05-28 2024-05-30", "DD/MM", "YEARS_BY_NAME", false,
		},
		{
			"both orders", "#Date;Amount\n03/04;1.00\n05/04;2.00", "",
			"2026-04-03 2026-04-05", "DD/MM", "YEARS_ASSUMED", true,
		},
		{
			"the order in which the rows end before the statement",
			"Statement;15-08-2026\n#Date;Amount\n03/08;1.00\n05/08;2.00\n10/08;3.00", "",
			"2026-08-03 2026-08-05 2026-08-10", "DD/MM", "YEARS_BY_FILE", false,
		},
		{"installments", "#Date;Part;Amount\n2024-05-28;01/12;1.00\n2024-05-30;02/12;2.00", "", "", "", "", false},
		{"no heading of a date", "#Part;Amount\n01/12;1.00\n02/12;2.00", "", "", "", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			heading := -1
			var rows [][]string
			for i, line := range strings.Split(c.file, "\n") {
				line, isHeading := strings.CutPrefix(line, "#")
				if isHeading {
					heading = i
				}
				rows = append(rows, strings.Split(line, ";"))
			}
			day := today
			if strings.HasPrefix(c.want, "2026-05-28") {
				day = time.Date(2026, 6, 20, 0, 0, 0, 0, time.UTC)
			}
			got := undated.Find(rows, heading, statement.Options{Today: day, FileName: c.fileName})
			if c.want == "" {
				require.Nil(t, got)
				require.Equal(t, rows[1], got.Complete(rows[1]))
				return
			}
			require.NotNil(t, got)
			var days []string
			for _, cells := range rows[heading+1:] {
				days = append(days, got.Complete(cells)[0])
			}
			require.Equal(t, c.want, strings.Join(days, " "))
			require.Equal(t, []any{c.layout, c.year, c.assumed},
				[]any{got.Layout, got.Year.Code, got.Assumed})
		})
	}
	require.Nil(t, undated.Find([][]string{{"Date", "Amount"}, {"28 May", "1.00"}, {"30 May", "2.00"}},
		0, statement.Options{}), "nothing shows the year")
}
