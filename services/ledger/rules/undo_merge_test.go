package rules

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// TestUndoRuleAfterMerges merges the category that the user has chosen since the application and
// the written one, in both directions and in two steps. The undo keeps the choice, and restores the
// other transaction.
func TestUndoRuleAfterMerges(t *testing.T) {
	t.Parallel()
	s := setup(t)
	type merge struct{ from, to int }
	const written, chosen, other = 0, 1, 2
	for name, c := range map[string]struct {
		merges []merge
		want   int
	}{
		"the chosen category into the written one": {[]merge{{chosen, written}}, written},
		"the written category into the chosen one": {[]merge{{written, chosen}}, chosen},
		"through a third category":                 {[]merge{{chosen, other}, {other, written}}, written},
		"the written category through a third one": {[]merge{{written, other}, {other, chosen}}, chosen},
		"not with the written category":            {[]merge{{chosen, other}}, other},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPerson(t.Context(), t, s)
			food := s.MakeCategory(p.Ctx, t, "Meals")
			categories := []uuid.UUID{
				s.MakeCategory(p.Ctx, t, "Fun"), s.MakeCategory(p.Ctx, t, "Out"),
				s.MakeCategory(p.Ctx, t, "Other"),
			}
			var ids []string
			for range 2 {
				req := p.Spends("9.50")
				req.Payee, req.CategoryId = "Cinema", food.String()
				ids = append(ids, p.Create(t, req).GetId())
			}
			rule := p.rule(t, setsCategory("cinema", categories[written])).GetId()
			p.apply(t, rule)
			_, err := p.UpdateTransaction(p.Ctx, &ledgerv1.UpdateTransactionRequest{
				Id: ids[0], CategoryId: new(categories[chosen].String()),
			})
			require.NoError(t, err)
			for _, m := range c.merges {
				_, err := p.DeleteCategory(p.Ctx, &ledgerv1.DeleteCategoryRequest{
					Id: categories[m.from].String(), ReassignTo: new(categories[m.to].String()),
				})
				require.NoError(t, err)
			}
			application := p.undo(t, rule).GetApplication()
			require.EqualValues(t, 1, application.GetRestored())
			require.EqualValues(t, 1, application.GetKept())
			require.Equal(t, categories[c.want].String(), p.get(t, ids[0]).GetCategoryId())
			require.Equal(t, food.String(), p.get(t, ids[1]).GetCategoryId())
		})
	}
}
