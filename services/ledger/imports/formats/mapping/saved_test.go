package mapping_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
)

func TestAdopt(t *testing.T) {
	t.Parallel()
	dated := []mapping.Column{{0, mapping.FieldDate}, {1, mapping.FieldDebit}}
	proposed := func(columns ...mapping.Column) *mapping.Mapping {
		return &mapping.Mapping{
			AmountMode: mapping.DebitCredit, Columns: append(dated[:2:2], columns...),
			Empty: []int{9},
		}
	}
	for name, c := range map[string]struct {
		empty    []int
		proposed []mapping.Column
		want     []mapping.Column
		unread   mapping.Unread
	}{
		"reads columns that were empty": {
			empty:    []int{2, 3},
			proposed: []mapping.Column{{2, mapping.FieldCredit}, {3, mapping.FieldNotes}},
			want:     []mapping.Column{{2, mapping.FieldCredit}, {3, mapping.FieldNotes}},
		},
		"leaves columns out that the user has left out": {
			empty: []int{}, proposed: []mapping.Column{{3, mapping.FieldNotes}},
		},
		"names columns of a mapping that an earlier release saved": {
			proposed: []mapping.Column{{2, mapping.FieldCredit}, {3, mapping.FieldNotes}},
			unread:   mapping.Unread{Amounts: []int{2}, Texts: []int{3}},
		},
		"names a column that was empty and does not fit": {
			empty: []int{2}, proposed: []mapping.Column{{2, mapping.FieldAmount}},
			unread: mapping.Unread{Amounts: []int{2}, New: true},
		},
		"ignores empty columns": {proposed: []mapping.Column{{9, mapping.FieldCredit}}},
		"reads balances and proven fees": {
			empty:    []int{},
			proposed: []mapping.Column{{2, mapping.FieldFee}, {3, mapping.FieldBalance}},
			want:     []mapping.Column{{2, mapping.FieldFee}, {3, mapping.FieldBalance}},
		},
		"reports new values of a column that no proposal reads": {
			empty: []int{5}, unread: mapping.Unread{New: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			saved := mapping.Mapping{
				AmountMode: mapping.DebitCredit, Columns: dated[:2:2], Empty: c.empty,
			}
			require.Equal(t, c.unread, saved.Adopt(proposed(c.proposed...)))
			require.Equal(t, append(dated[:2:2], c.want...), saved.Columns)
			require.Equal(t, []int{9}, saved.Empty)
		})
	}
}

func TestAdoptDates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ saved, proposed, want string }{
		{"MM/DD", "DD/MM", "MM/DD"},
		{"DD/MM/YYYY", "DD/MM", "DD/MM"},
		{"DD/MM", "DD/MM/YYYY", "DD/MM/YYYY"},
		{"DD/MM/YYYY", "MM/DD/YYYY", "DD/MM/YYYY"},
	} {
		saved := mapping.Mapping{DateLayout: c.saved, DatesUntil: "2020-01-01"}
		unread := saved.Adopt(&mapping.Mapping{DateLayout: c.proposed, DatesUntil: "2026-05-31"})
		require.Equal(t, c.want, saved.DateLayout)
		require.Equal(t, "2026-05-31", saved.DatesUntil, "each file has its own years")
		require.Equal(t, len(c.saved) != len(c.proposed), unread.Dates)
		require.Equal(t, c.saved == "MM/DD", unread.Order)
	}
}
