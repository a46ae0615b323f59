package rules

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/rules/matching"
)

// matches returns the request for a rule with a number of expensive conditions on a field. On text,
// a condition takes more than half of matching.MaxSteps.
func matches(field string, conditions int) *ledgerv1.CreateRuleRequest {
	return &ledgerv1.CreateRuleRequest{
		Name: "patterns",
		Conditions: slices.Repeat([]*ledgerv1.RuleCondition{
			{Field: field, Op: matching.Matches, Values: []string{`(?:[^q]?){130}Q0$`}},
		}, conditions),
		Match:   matchAny,
		Actions: []*ledgerv1.RuleAction{{Kind: matching.SetNotes, Value: "seen"}},
	}
}

// exceed copies the first condition of a rule 1000 times, as if the rule were older than the limit
// of steps.
func (p person) exceed(t *testing.T, r *ledgerv1.Rule) {
	t.Helper()
	pgtest.Exec(t, p.DB, `
		UPDATE rules
		SET conditions = (SELECT jsonb_agg(c)
			FROM (SELECT conditions->0 AS c FROM generate_series(1, 1000)) AS copies)
		WHERE owner_id = $1 AND id = $2`, p.ID, r.GetId())
}

func TestCreateRuleSteps(t *testing.T) {
	t.Parallel()
	s := setup(t)
	me, other := newPerson(t.Context(), t, s), newPerson(t.Context(), t, s)
	_, err := me.CreateRule(me.Ctx, matches(matching.Text, 2))
	require.ErrorIs(t, err, errTooManySteps)
	require.ErrorContains(t, err, "LIMIT_REACHED")

	made := fixture.Simultaneous(t, 8, "LIMIT_REACHED", func(int) error {
		_, err := me.CreateRule(me.Ctx, matches(matching.Text, 1))
		return err
	})
	require.Equal(t, 1, made)
	other.rule(t, matches(matching.Text, 1))
	me.rule(t, matches(matching.Payee, 1))
}

func TestUpdateRuleSteps(t *testing.T) {
	t.Parallel()
	s := setup(t)
	me := newPerson(t.Context(), t, s)
	first, second := me.rule(t, matches(matching.Text, 1)), me.rule(t, matches(matching.Payee, 1))
	widened := &ledgerv1.RuleConditions{Values: matches(matching.Text, 1).GetConditions()}
	_, err := me.UpdateRule(me.Ctx,
		&ledgerv1.UpdateRuleRequest{Id: second.GetId(), Conditions: widened})
	require.ErrorIs(t, err, errTooManySteps)

	fewer := matches(matching.Text, 9).GetConditions()
	none := setsCategory("shop", me.Category).GetConditions()
	for _, allowed := range []struct {
		what string
		req  *ledgerv1.UpdateRuleRequest
	}{
		{"another name", &ledgerv1.UpdateRuleRequest{Name: new("other")}},
		{
			"fewer steps",
			&ledgerv1.UpdateRuleRequest{Conditions: &ledgerv1.RuleConditions{Values: fewer}},
		},
		// The last change, because no copies of these conditions exceed the limit.
		{
			"no pattern",
			&ledgerv1.UpdateRuleRequest{Conditions: &ledgerv1.RuleConditions{Values: none}},
		},
	} {
		me.exceed(t, first)
		allowed.req.Id = first.GetId()
		_, err := me.UpdateRule(me.Ctx, allowed.req)
		require.NoError(t, err, allowed.what)
	}
}

// TestSuggestCategoriesSteps runs rules that are older than the limit, and rules within it on many
// long texts.
func TestSuggestCategoriesSteps(t *testing.T) {
	t.Parallel()
	s := setup(t)
	me := newPerson(t.Context(), t, s)
	item := &ledgerv1.SuggestionItem{Description: strings.Repeat("a", 1000)}
	suggest := func(items int) error {
		repeated := slices.Repeat([]*ledgerv1.SuggestionItem{item}, items)
		_, err := me.SuggestCategories(me.Ctx, &ledgerv1.SuggestCategoriesRequest{Items: repeated})
		return err
	}
	rule := me.rule(t, matches(matching.Text, 1))
	require.NoError(t, suggest(1))
	require.NoError(t, suggest(100))
	me.exceed(t, rule)
	require.ErrorIs(t, suggest(1), errTooLong)
	_, err := me.DeleteRule(me.Ctx, &ledgerv1.DeleteRuleRequest{Id: rule.GetId()})
	require.NoError(t, err)

	me.rule(t, matches(matching.Description, 7))
	require.NoError(t, suggest(1))
	require.ErrorIs(t, suggest(100), errTooLong)
}

func TestApplyRulePreviewSteps(t *testing.T) {
	t.Parallel()
	s := setup(t)
	me := newPerson(t.Context(), t, s)
	first := me.spends(t, "Shop", "1")
	pgtest.Exec(t, s.DB, `
		INSERT INTO transactions
		SELECT (jsonb_populate_record(t, jsonb_build_object(
			'id', gen_random_uuid(),
			'date', t.date + make_interval(days => long),
			'description', repeat('a', 1000 * long)))).*
		FROM transactions t, generate_series(1, $2) AS n,
			LATERAL (SELECT (n <= 100)::integer AS long) AS l
		WHERE t.id = $1`, first.GetId(), maxPreviewed)
	preview := func(r *ledgerv1.Rule) (*ledgerv1.ApplyRuleResponse, error) {
		return me.ApplyRule(me.Ctx, &ledgerv1.ApplyRuleRequest{Id: r.GetId(), DryRun: true})
	}
	cheap := me.rule(t, setsCategory("shop", me.Category))
	seen, err := preview(cheap)
	require.NoError(t, err)
	require.EqualValues(t, maxPreviewed, seen.GetExamined())
	require.EqualValues(t, maxPreviewed, seen.GetMatched())

	r := me.rule(t, matches(matching.Description, 7))
	seen, err = preview(r)
	require.NoError(t, err)
	require.Positive(t, seen.GetExamined())
	require.Less(t, seen.GetExamined(), int32(100), fmt.Sprint(RequestSteps))

	me.exceed(t, r)
	_, err = preview(r)
	require.ErrorIs(t, err, errTooLong)
}

func TestSuggestRulesSteps(t *testing.T) {
	t.Parallel()
	s := setup(t)
	me := newPerson(t.Context(), t, s)
	for range 3 {
		req := me.Spends("3")
		req.Payee, req.Date = "Cinema Rex", time.Now().Format(time.DateOnly)
		me.Create(t, req)
	}
	r := me.rule(t, matches(matching.Text, 1))
	resp, err := me.SuggestRules(me.Ctx, &ledgerv1.SuggestRulesRequest{})
	require.NoError(t, err)
	require.Len(t, resp.GetSuggestions(), 1)
	me.exceed(t, r)
	_, err = me.SuggestRules(me.Ctx, &ledgerv1.SuggestRulesRequest{})
	require.ErrorIs(t, err, errTooLong)
}
