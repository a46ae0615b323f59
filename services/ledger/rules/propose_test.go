package rules

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/rules/matching"
)

// buys creates a transaction of today with a category.
func (p person) buys(t *testing.T, payee string, category uuid.UUID) *ledgerv1.Transaction {
	t.Helper()
	req := p.Spends("3")
	req.Payee, req.CategoryId, req.Date = payee, category.String(), time.Now().Format(time.DateOnly)
	return p.Create(t, req)
}

// suggestedRules returns the rules that the service suggests.
func (p person) suggestedRules(t *testing.T) []*ledgerv1.RuleSuggestion {
	t.Helper()
	resp, err := p.SuggestRules(p.Ctx, &ledgerv1.SuggestRulesRequest{})
	require.NoError(t, err)
	return resp.GetSuggestions()
}

func TestSuggestRules(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	t.Run("suggests a rule that can be created, once", func(t *testing.T) {
		t.Parallel()
		me, other := newPerson(t.Context(), t, srv), newPerson(t.Context(), t, srv)
		fun := srv.MakeCategory(me.Ctx, t, "Fun")
		for _, payee := range []string{"Cinema Rex 1", "Cinema Rex 2"} {
			me.buys(t, payee, fun)
		}
		require.Empty(t, me.suggestedRules(t))
		me.buys(t, "Cinema Rex 3", fun)
		other.buys(t, "Bakery", other.Category)
		want := &ledgerv1.RuleSuggestion{
			Name: "Cinema Rex", Count: 3,
			Conditions: []*ledgerv1.RuleCondition{{
				Field: matching.Payee, Op: matching.StartsWith, Values: []string{"Cinema Rex"},
			}},
			Actions: []*ledgerv1.RuleAction{{Kind: matching.SetCategory, Value: fun.String()}},
		}
		got := me.suggestedRules(t)
		require.Len(t, got, 1)
		require.True(t, proto.Equal(want, got[0]), got)
		require.Empty(t, other.suggestedRules(t))
		r := me.rule(t, &ledgerv1.CreateRuleRequest{
			Name: got[0].GetName(), Conditions: got[0].GetConditions(),
			Actions: got[0].GetActions(),
		})
		require.Empty(t, me.suggestedRules(t))
		_, err := me.UpdateRule(me.Ctx,
			&ledgerv1.UpdateRuleRequest{Id: r.GetId(), Enabled: new(false)})
		require.NoError(t, err)
		require.Empty(t, me.suggestedRules(t), "a disabled rule also counts")
	})
	t.Run("suggests no rule for a payee that a rule replaces", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t.Context(), t, srv)
		for range 3 {
			p.buys(t, "Kiosk 24", p.Category)
		}
		req := setsCategory("kiosk", p.Category)
		req.Actions = []*ledgerv1.RuleAction{{Kind: matching.SetPayee, Value: "Corner"}}
		p.rule(t, req)
		require.Empty(t, p.suggestedRules(t))
	})
	t.Run("suggests at most 20 rules, whose names are valid", func(t *testing.T) {
		t.Parallel()
		me := newPerson(t.Context(), t, srv)
		for i := range 21 {
			for range 3 {
				me.buys(t, strings.Repeat(string(rune('a'+i)), 200), me.Category)
			}
		}
		got := me.suggestedRules(t)
		require.Len(t, got, 20)
		me.rule(t, &ledgerv1.CreateRuleRequest{
			Name: got[0].GetName(), Conditions: got[0].GetConditions(),
			Actions: got[0].GetActions(),
		})
	})
	t.Run("counts imported transactions whose category was chosen later", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t.Context(), t, srv)
		// The file has the payee of the row, which the helper leaves empty.
		for n := range 3 {
			p.imported(t, n, p.buys(t, "Kiosk", p.Category).GetId(), "none")
		}
		pgtest.Exec(t, srv.DB, `UPDATE import_rows SET payee = 'KIOSK' WHERE owner_id = $1`, p.ID)
		require.Len(t, p.suggestedRules(t), 1)
	})
	t.Run("counts no receipts, external ids and old transactions", func(t *testing.T) {
		t.Parallel()
		me := newPerson(t.Context(), t, srv)
		pgtest.Exec(t, srv.DB, `ALTER TABLE transactions DROP CONSTRAINT transactions_receipt_fkey`)
		for _, change := range []string{
			`UPDATE transactions SET receipt_id = gen_random_uuid() WHERE id = $1`,
			`UPDATE transactions SET external_id = id::text WHERE id = $1`,
			`UPDATE transactions SET date = now() - interval '25 months' WHERE id = $1`,
			`UPDATE transactions SET import_id = gen_random_uuid() WHERE id = $1`,
		} {
			for range 3 {
				pgtest.Exec(t, srv.DB, change, me.buys(t, "Kiosk", me.Category).GetId())
			}
		}
		require.Empty(t, me.suggestedRules(t))
	})
}

// TestHistoryPlans reads the choices and the examples of a user with a hundred thousand
// transactions, of which the newest 3000 are of an import.
func TestHistoryPlans(t *testing.T) {
	t.Parallel()
	service, rich := fixture.NewRich(t)
	pgtest.Exec(t, service.DB, `
		WITH newest AS (
			UPDATE transactions
			SET payee = description, import_id = owner_id, date = now()
			WHERE id IN (SELECT id FROM transactions
				WHERE owner_id = $1 ORDER BY date DESC, id DESC LIMIT 3000)
			RETURNING id, payee
		), made AS (
			INSERT INTO imports (owner_id, id, status, file_name, size, sha256, format, details,
				created_at, updated_at)
			VALUES ($1, $1, 'done', '', 0, '', 'csv', '{}', now(), now())
		)
		INSERT INTO import_rows (owner_id, import_id, n, line, status, cells, amount, currency,
			payee, description, notes, tags, external_id, account, category, opening, file_problem,
			action, problem, booked_currency, category_from, transaction_id)
		SELECT $1, $1, row_number() OVER (), 1, 'booked', '{}', '', '', payee, '', '', '{}', '', '',
			'', false, '', '', '', '', 'user', id
		FROM newest`, rich.ID)
	pool, plans := fixture.Explained(t, service.DB)
	for range 6 {
		// From the sixth time on, PostgreSQL may plan a prepared statement without its arguments.
		choices, err := selectChoices(t.Context(), pool, rich.ID)
		require.NoError(t, err)
		require.NotEmpty(t, choices)
		plans.RequireCheap(t, historyRows+2*3000, historyRows+10*3000)
		examples, err := selectExamples(t.Context(), pool, rich.ID)
		require.NoError(t, err)
		require.NotEmpty(t, examples)
		plans.RequireCheap(t, historyRows+2*3000, historyRows+10*3000)
	}
}
