package tags

import (
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/rules"
)

// ruled is a person with rules.
type ruled struct {
	*person
	*rules.Rules
}

func setupRules(t *testing.T) ruled {
	t.Helper()
	p := setup(t)
	return ruled{p, rules.New(p.Service.Ledger, p.Service.Reads, slog.New(slog.DiscardHandler))}
}

// adds creates a rule that adds a tag to transactions with another tag, and has further actions.
func (p ruled) adds(t require.TestingT, added, met string, more ...*ledgerv1.RuleAction) string {
	resp, err := p.CreateRule(p.Ctx, &ledgerv1.CreateRuleRequest{
		Name: "Rule",
		Conditions: []*ledgerv1.RuleCondition{{
			Field: "tag", Op: "in", Values: []string{met, "other"},
		}, {Field: "payee", Op: "is", Values: []string{met}}},
		Actions: append([]*ledgerv1.RuleAction{{Kind: "addTag", Value: added}}, more...),
	})
	require.NoError(t, err)
	return resp.GetRule().GetId()
}

// get returns a rule of the person with its ETag.
func (p ruled) get(t *testing.T, id string) (*ledgerv1.Rule, string) {
	t.Helper()
	resp, err := p.GetRule(p.Ctx, &ledgerv1.GetRuleRequest{Id: id})
	require.NoError(t, err)
	return resp.GetRule(), resp.GetEtag()
}

// requireTag requires the tag that a rule adds, and the values of its conditions on tags and
// payees.
func (p ruled) requireTag(t *testing.T, id, added string, met, payee []string) {
	t.Helper()
	r, _ := p.get(t, id)
	require.Equal(t, "addTag", r.GetActions()[0].GetKind())
	require.Equal(t, added, r.GetActions()[0].GetValue())
	require.Equal(t, met, r.GetConditions()[0].GetValues())
	require.Equal(t, payee, r.GetConditions()[1].GetValues())
}

// TestUpdateTagOfRules renames and merges tags that rules add and compare.
func TestUpdateTagOfRules(t *testing.T) {
	t.Parallel()
	ruled := setupRules(t)
	ruled.tagged(t, "Été", "Work")
	id, unrelated := ruled.adds(t, "ÉTÉ", "été"), ruled.adds(t, "Trip", "Trip")
	_, before := ruled.get(t, unrelated)
	_, etag := ruled.get(t, id)

	_, err := ruled.UpdateTag(ruled.Ctx,
		&ledgerv1.UpdateTagRequest{Tag: "été", Name: new("Summer")})
	require.NoError(t, err)
	ruled.requireTag(t, id, "Summer", []string{"Summer", "other"}, []string{"été"})
	_, renamed := ruled.get(t, id)
	require.NotEqual(t, etag, renamed)
	_, err = ruled.UpdateTag(ruled.Ctx,
		&ledgerv1.UpdateTagRequest{Tag: "Summer", Name: new("work"), Merge: new(true)})
	require.NoError(t, err)
	ruled.requireTag(t, id, "Work", []string{"Work", "other"}, []string{"été"})
	_, merged := ruled.get(t, id)
	_, err = ruled.UpdateTag(ruled.Ctx,
		&ledgerv1.UpdateTagRequest{Tag: "Work", Color: new("#000000")})
	require.NoError(t, err)
	_, colored := ruled.get(t, id)
	require.Equal(t, merged, colored, "a color changes no rule")
	_, after := ruled.get(t, unrelated)
	require.Equal(t, before, after)

	_, err = ruled.UpdateTag(fixture.ActAs(t.Context(), ruled.NewUser(t.Context(), t).ID),
		&ledgerv1.UpdateTagRequest{Tag: "Work", Name: new("x")})
	fixture.RequireReason(t, err, codes.NotFound, "TAG_NOT_FOUND")
}

// TestDeleteTagOfRules deletes a tag that rules add. A rule keeps its other actions, and without
// one it is switched off.
func TestDeleteTagOfRules(t *testing.T) {
	t.Parallel()
	ruled := setupRules(t)
	ruled.tagged(t, "Trip")
	other := ruled.adds(t, "trip", "Work", &ledgerv1.RuleAction{Kind: "setPayee", Value: "Rex"})
	only := ruled.adds(t, "Trip", "Work")
	unrelated := ruled.adds(t, "Work", "Trip")
	_, err := ruled.DeleteTag(ruled.Ctx, &ledgerv1.DeleteTagRequest{Tag: "Trip"})
	require.NoError(t, err)
	rule, _ := ruled.get(t, other)
	require.Len(t, rule.GetActions(), 1)
	require.Equal(t, "setPayee", rule.GetActions()[0].GetKind())
	require.True(t, rule.GetEnabled())
	rule, _ = ruled.get(t, only)
	require.Equal(t, "Trip", rule.GetActions()[0].GetValue())
	require.False(t, rule.GetEnabled())
	ruled.requireTag(t, unrelated, "Work", []string{"Trip", "other"}, []string{"Trip"})
	rule, _ = ruled.get(t, unrelated)
	require.True(t, rule.GetEnabled(), "no transaction has the tag of the condition any more")
}

// TestUpdateTagWhileRulesChange renames a tag forth and back while rules are created and changed.
// Each rule that was created before the last name has this name, and keeps its other changes.
func TestUpdateTagWhileRulesChange(t *testing.T) {
	t.Parallel()
	ruled := setupRules(t)
	ruled.tagged(t, "name 0")
	var ids []string
	for range 4 {
		ids = append(ids, ruled.adds(t, "name 0", "name 0"))
	}
	const renames = 20
	var wg sync.WaitGroup
	for _, id := range ids {
		wg.Go(func() {
			for i := range renames {
				_, err := ruled.UpdateRule(ruled.Ctx,
					&ledgerv1.UpdateRuleRequest{Id: id, Name: new(fmt.Sprint("change ", i))})
				require.NoError(t, err)
			}
		})
	}
	wg.Go(func() {
		for i := range renames {
			_, err := ruled.UpdateTag(ruled.Ctx, &ledgerv1.UpdateTagRequest{
				Tag: fmt.Sprint("name ", i), Name: new(fmt.Sprint("name ", i+1)),
			})
			require.NoError(t, err)
		}
	})
	wg.Wait()
	final := fmt.Sprint("name ", renames)
	for _, id := range ids {
		ruled.requireTag(t, id, final, []string{final, "other"}, []string{"name 0"})
		r, etag := ruled.get(t, id)
		require.Equal(t, fmt.Sprint("change ", renames-1), r.GetName())
		require.Equal(t, fmt.Sprintf(`"%d"`, 1+2*renames), etag)
	}
}
