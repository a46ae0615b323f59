package mapping

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
)

func TestMappingConfirms(t *testing.T) {
	t.Parallel()
	before := Mapping{
		Columns:    []Column{{0, FieldDate}, {1, FieldAmount}, {2, FieldPayee}},
		DateLayout: "DD/MM/YYYY", DecimalMark: ".", AmountMode: Signed,
	}
	tests := map[string]struct {
		change    func(m *Mapping)
		confirmed []string
	}{
		"sign": {func(m *Mapping) { m.Invert = true }, []string{statement.SignAssumed}},
		"words of the type": {
			func(m *Mapping) { m.Negative = []string{"out"} }, []string{statement.SignAssumed},
		},
		"column of the amount": {
			func(m *Mapping) {
				m.Columns = []Column{{0, FieldDate}, {3, FieldAmount}, {2, FieldPayee}}
			},
			[]string{statement.SignAssumed, statement.AmountAssumed, statement.ColumnsUnread},
		},
		"fee": {
			func(m *Mapping) { m.Columns = append(before.Columns[:3:3], Column{4, FieldFee}) },
			[]string{statement.AmountAssumed, statement.ColumnsUnread},
		},
		"words of the status": {
			func(m *Mapping) { m.Void = []string{"reversed"} }, []string{statement.StatusAssumed},
		},
		"payee": {
			func(m *Mapping) { m.Columns = append(before.Columns[:3:3], Column{4, FieldPayee}) },
			[]string{statement.ColumnsUnread},
		},
		"date": {
			func(m *Mapping) { m.DateLayout = "MM/DD/YYYY" },
			[]string{statement.DateOrderAssumed, statement.DateOrderInferred},
		},
		"decimals": {func(m *Mapping) { m.DecimalMark = "," }, []string{statement.DecimalsAssumed}},
		"currency": {func(m *Mapping) { m.Currency = "EUR" }, nil},
		"nothing, with the columns in another order": {
			func(m *Mapping) {
				m.Columns = []Column{
					{2, FieldPayee}, {1, FieldAmount}, {0, FieldDate}, {5, FieldIgnore},
				}
			},
			statement.Confirmed,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			after := before
			test.change(&after)
			require.Equal(t, test.confirmed, after.Confirms(&before))
		})
	}
}
