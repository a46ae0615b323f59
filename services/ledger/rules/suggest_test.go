package rules

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/rules/learning"
)

// TestSuggestCategories creates transactions of today, because the history ends 24 months before
// the time of the database.
func TestSuggestCategories(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p, other := newPerson(t.Context(), t, s), newPerson(t.Context(), t, s)
	fun := s.MakeCategory(p.Ctx, t, "Fun")
	spends := func(u person, payee, category string) {
		req := u.Spends("3")
		req.Payee, req.CategoryId, req.Date = payee, category, time.Now().Format(time.DateOnly)
		u.Create(t, req)
	}
	suggest := func(u person, payee string) *ledgerv1.CategorySuggestion {
		resp, err := u.SuggestCategories(u.Ctx,
			&ledgerv1.SuggestCategoriesRequest{Items: []*ledgerv1.SuggestionItem{{Payee: payee}}})
		require.NoError(t, err)
		require.Len(t, resp.GetSuggestions(), 1)
		return resp.GetSuggestions()[0]
	}
	none := suggest(p, "CINEMA REX 12")
	require.Equal(t, learning.None, none.GetReason())
	require.Equal(t, "0.0000", none.GetConfidence())

	spends(p, "Cinema Rex 11", fun.String())
	spends(p, "Cinema Rex 17", fun.String())
	exact := suggest(p, "CINEMA REX 12")
	require.Equal(t, learning.Exact, exact.GetReason())
	require.Equal(t, fun.String(), exact.GetCategoryId())
	require.Equal(t, "0.6666", exact.GetConfidence())

	// Another user's history and rules change nothing.
	before := suggest(other, "CINEMA REX 12")
	require.True(t, proto.Equal(none, before), before)
	for range 3 {
		spends(other, "Cinema Rex", other.Category.String())
	}
	require.True(t, proto.Equal(exact, suggest(p, "CINEMA REX 12")))

	r := p.rule(t, setsCategory("cinema", p.Category))
	ruled := suggest(p, "CINEMA REX 12")
	require.Equal(t, "rule", ruled.GetReason())
	require.Equal(t, r.GetId(), ruled.GetRuleId())
	require.Equal(t, p.Category.String(), ruled.GetCategoryId())
	require.Equal(t, other.Category.String(), suggest(other, "CINEMA REX 12").GetCategoryId())
}
