package proposal_test

import (
	_ "embed"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
)

//go:embed testdata/statuses.txt
var statusLayouts string

func TestProposeStatuses(t *testing.T) {
	t.Parallel()
	testLayouts(t, statusLayouts)
}

func TestMappingStatuses(t *testing.T) {
	t.Parallel()
	const file = "Date,Payee,Amount,Status\n2024-01-31,Shop,-1.00,posted\n" +
		"2024-02-01,Shop,-2.00,Zweifelhaft\n2024-02-02,Shop,-3.00,posted\n2024-02-03,Shop,-4.00,\n"
	records, facts := fixture.ReadAll(t, file, statement.Options{})
	require.Equal(t, []string{
		"2024-01-31|-1.00||Shop|", `problem: the status "Zweifelhaft" is unknown`,
		"2024-02-02|-3.00||Shop|", "2024-02-03|-4.00||Shop|",
	}, fixture.Lines(records))
	for name, c := range map[string]struct {
		change func(*mapping.Mapping)
		want   []string
	}{
		"booked": {
			func(m *mapping.Mapping) { m.Booked = []string{"zweifelhaft"} },
			[]string{
				"2024-01-31|-1.00||Shop|", "2024-02-01|-2.00||Shop|", "2024-02-02|-3.00||Shop|",
				"2024-02-03|-4.00||Shop|",
			},
		},
		"pending": {
			func(m *mapping.Mapping) { m.Pending = []string{"Zweifelhaft"} },
			[]string{
				"2024-01-31|-1.00||Shop|", "2024-02-01|-2.00||Shop||pending",
				"2024-02-02|-3.00||Shop|", "2024-02-03|-4.00||Shop|",
			},
		},
		"void": {
			func(m *mapping.Mapping) { m.Void = []string{"Zweifelhaft", "posted", ""} },
			[]string{
				`problem: no money has moved: the status is "posted"`,
				`problem: no money has moved: the status is "Zweifelhaft"`,
				`problem: no money has moved: the status is "posted"`,
				`problem: no money has moved: the status is ""`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := *facts.Mapping
			c.change(&m)
			changed, err := formats.Apply(&m, records)
			require.NoError(t, err)
			require.Equal(t, c.want, fixture.Lines(changed))
		})
	}
	t.Run("a value has one status", func(t *testing.T) {
		t.Parallel()
		m := *facts.Mapping
		m.Booked, m.Void = []string{"x", "Y"}, []string{"z", "y"}
		_, err := m.Compile()
		var invalid mapping.Errors
		require.ErrorAs(t, err, &invalid)
		require.Equal(t, "void[1]", invalid[0].Field)
	})
}
