package rules

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/rules/learning"
)

// TestSuggestCategories creates transactions of today, because the history ends 24 months before
// the time of the database.
func TestSuggestCategories(t *testing.T) {
	t.Parallel()
	s := setup(t)
	me, other := newPerson(t.Context(), t, s), newPerson(t.Context(), t, s)
	fun := s.MakeCategory(me.Ctx, t, "Fun")
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
	none := suggest(me, "CINEMA REX 12")
	require.Equal(t, learning.None, none.GetReason())
	require.Equal(t, "0.0000", none.GetConfidence())

	spends(me, "Cinema Rex 11", fun.String())
	exact := suggest(me, "CINEMA REX 12")
	require.Equal(t, learning.Exact, exact.GetReason())
	require.Equal(t, fun.String(), exact.GetCategoryId())
	require.Equal(t, "0.6666", exact.GetConfidence())

	// Another user's history and rules change nothing.
	before := suggest(other, "CINEMA REX 12")
	require.True(t, proto.Equal(none, before), before)
	for range 3 {
		spends(other, "Cinema Rex", other.Category.String())
	}
	require.True(t, proto.Equal(exact, suggest(me, "CINEMA REX 12")))

	r := me.rule(t, setsCategory("cinema", me.Category))
	ruled := suggest(me, "CINEMA REX 12")
	require.Equal(t, "rule", ruled.GetReason())
	require.Equal(t, r.GetId(), ruled.GetRuleId())
	require.Equal(t, me.Category.String(), ruled.GetCategoryId())
	require.Equal(t, other.Category.String(), suggest(other, "CINEMA REX 12").GetCategoryId())
}

// TestSuggestCategoriesOfImports creates one or more transactions of a payee, each with the row of
// an import, and requires that only choices and accepted categories teach.
func TestSuggestCategoriesOfImports(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	for name, tc := range map[string]struct {
		// from is the source of the category in the row, other whether the transaction has another
		// category now, and count the number of transactions. A row with the source "none" has no
		// category, like that of a transfer.
		from   string
		other  bool
		count  int
		reason string
	}{
		"the default":                   {"default", false, 3, learning.None},
		"a changed default":             {"default", true, 1, learning.Exact},
		"a choice in the preview":       {"user", false, 1, learning.Exact},
		"a suggestion":                  {"history", false, 1, learning.None},
		"accepted suggestions":          {"history", false, 2, learning.Exact},
		"a changed suggestion":          {"history", true, 1, learning.Exact},
		"a choice without a former one": {"none", false, 1, learning.Exact},
		"categories of a rule":          {"rule:1", false, 2, learning.Exact},
		"categories in the file":        {"file", false, 2, learning.Exact},
		"rows of a deleted import":      {"", false, 2, learning.Exact},
		"a row of a deleted import":     {"", false, 1, learning.None},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			me := newPerson(t.Context(), t, srv)
			category := me.Category
			if tc.other {
				category = srv.MakeCategory(me.Ctx, t, "Fun")
			}
			for n := range tc.count {
				me.imported(t, n, me.buys(t, "Kiosk", category).GetId(), tc.from)
			}
			resp, err := me.SuggestCategories(me.Ctx, &ledgerv1.SuggestCategoriesRequest{
				Items: []*ledgerv1.SuggestionItem{{Payee: "Kiosk"}},
			})
			require.NoError(t, err)
			got := resp.GetSuggestions()[0]
			require.Equal(t, tc.reason, got.GetReason())
			if tc.reason != learning.None {
				require.Equal(t, category.String(), got.GetCategoryId())
			}
		})
	}
}

// imported makes a transaction one of an import, whose row number has the user's category from a
// source. With the source "none", the row has no category. Without a source, the import was
// deleted.
func (p person) imported(t *testing.T, number int, id, from string) {
	t.Helper()
	pgtest.Exec(t, p.DB, `UPDATE transactions SET external_id = id::text WHERE id = $1`, id)
	if from == "" {
		return
	}
	category := &p.Category
	if from == "none" {
		category, from = nil, ""
	}
	pgtest.Exec(t, p.DB, `
		WITH changed AS (
			UPDATE transactions SET import_id = owner_id WHERE id = $3
		), made AS (
			INSERT INTO imports (owner_id, id, status, file_name, size, sha256, format, details,
				created_at, updated_at)
			VALUES ($1, $1, 'done', '', 0, '', 'csv', '{}', now(), now())
			ON CONFLICT DO NOTHING
		)
		INSERT INTO import_rows (owner_id, import_id, n, line, status, cells, amount, currency,
			payee, description, notes, tags, external_id, account, category, opening, file_problem,
			action, problem, booked_currency, category_id, category_from, transaction_id)
		VALUES ($1, $1, $2, 1, 'booked', '{}', '', '', '', '', '', '{}', '', '', '', false, '', '',
			'', '', $4, $5, $3)`, p.ID, number+1, id, category, from)
}
