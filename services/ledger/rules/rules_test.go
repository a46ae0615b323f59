package rules

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	"github.com/coffer-budget/coffer/internal/rpc"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/rules/matching"
)

func TestCreateRule(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	p, other := newPerson(t.Context(), t, srv), newPerson(t.Context(), t, srv)
	t.Run("another user does not see it", func(t *testing.T) {
		r := p.rule(t, setsCategory("Bakery", p.Category))
		got, err := p.GetRule(p.Ctx, &ledgerv1.GetRuleRequest{Id: r.GetId()})
		require.NoError(t, err)
		require.True(t, proto.Equal(r, got.GetRule()), got)
		_, err = other.GetRule(other.Ctx, &ledgerv1.GetRuleRequest{Id: r.GetId()})
		require.ErrorIs(t, err, errNotFound)
		list, err := other.ListRules(other.Ctx, &ledgerv1.ListRulesRequest{})
		require.NoError(t, err)
		require.Empty(t, list.GetRules())
	})
	t.Run("a repetition with the same key creates no second rule", func(t *testing.T) {
		u := newPerson(t.Context(), t, srv)
		req := setsCategory("Bakery", u.Category)
		req.IdempotencyKey = "key"
		first := u.rule(t, req)
		again, err := u.CreateRule(u.Ctx, req)
		require.NoError(t, err)
		require.True(t, again.GetReplayed())
		require.True(t, proto.Equal(first, again.GetRule()))
	})
	t.Run("at most 500", func(t *testing.T) {
		pgtest.Exec(t, srv.DB, `
			INSERT INTO rules (owner_id, id, name, enabled, position, match_any, stop, sources,
				conditions, actions, version, created_at, updated_at)
			SELECT $1, gen_random_uuid(), 'x', true, n, false, false, '{import}', '[]', '[]', 1,
				now(), now()
			FROM generate_series(1, $2) AS n`, other.ID, maxRules)
		_, err := other.CreateRule(other.Ctx, setsCategory("Bakery", other.Category))
		require.Equal(t, restv1.Reason_LIMIT_REACHED.String(), apierr.From(err).Reason)
	})
}

func TestUpdateRule(t *testing.T) {
	t.Parallel()
	s := setup(t)
	me := newPerson(t.Context(), t, s)
	fun := s.MakeCategory(me.Ctx, t, "Fun")
	rule := me.rule(t, setsCategory("Bakery", me.Category))
	t.Run("replaces lists and keeps the rest", func(t *testing.T) {
		changed, err := me.UpdateRule(me.Ctx,
			&ledgerv1.UpdateRuleRequest{
				Id: rule.GetId(), Actions: &ledgerv1.RuleActions{Values: []*ledgerv1.RuleAction{
					{Kind: matching.SetPayee, Value: "Baker"},
					{Kind: matching.SetCategory, Value: fun.String()},
				}},
			})
		require.NoError(t, err)
		require.Equal(t, rule.GetConditions()[0].GetValues(),
			changed.GetRule().GetConditions()[0].GetValues())
		require.Equal(t, fun.String(), changed.GetRule().GetActions()[1].GetValue())
		got, err := me.GetRule(me.Ctx, &ledgerv1.GetRuleRequest{Id: rule.GetId()})
		require.NoError(t, err)
		require.True(t, proto.Equal(changed.GetRule(), got.GetRule()), got)
	})
	t.Run("a rejected change leaves the rule as it was", func(t *testing.T) {
		before, err := me.GetRule(me.Ctx, &ledgerv1.GetRuleRequest{Id: rule.GetId()})
		require.NoError(t, err)
		_, err = me.UpdateRule(me.Ctx,
			&ledgerv1.UpdateRuleRequest{
				Id: rule.GetId(), Name: new("New"), Actions: &ledgerv1.RuleActions{
					Values: []*ledgerv1.RuleAction{{
						Kind: matching.SetCategory, Value: uuid.NewString(),
					}},
				},
			})
		require.Equal(t, restv1.Reason_INVALID_CATEGORY_EXIST_PARAMS.String(),
			apierr.From(err).Reason)
		after, err := me.GetRule(me.Ctx, &ledgerv1.GetRuleRequest{Id: rule.GetId()})
		require.NoError(t, err)
		require.True(t, proto.Equal(before, after))
	})
}

// TestListRulesSize requires that all rules of a user fit into one message: a rule has long texts,
// but not all of them at once.
func TestListRulesSize(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	// A character of four bytes is the longest one.
	long := func(length int) string { return strings.Repeat("💶", length) }
	req := setsCategory("Bakery", me.Category)
	req.Name = long(100)
	req.Actions = append(req.GetActions(),
		&ledgerv1.RuleAction{Kind: matching.SetNotes, Value: long(4000)})
	rule := me.rule(t, req)
	require.Less(t, maxRules*proto.Size(rule), rpc.MaxMessage*9/10)

	tooLong := []*ledgerv1.RuleCondition{{Field: matching.Tag, Op: matching.In}}
	for i := range 25 {
		tooLong[0].Values = append(tooLong[0].Values, long(198)+strconv.Itoa(10+i))
	}
	_, err := me.UpdateRule(me.Ctx, &ledgerv1.UpdateRuleRequest{
		Id: rule.GetId(), Conditions: &ledgerv1.RuleConditions{Values: tooLong},
	})
	e := fixture.RequireReason(t, err, codes.InvalidArgument, "VALIDATION_ERROR")
	require.Equal(t, []string{"conditions"}, fixture.FieldNames(e))
	req.Conditions = tooLong
	_, err = me.CreateRule(me.Ctx, req)
	fixture.RequireReason(t, err, codes.InvalidArgument, "VALIDATION_ERROR")
	// A rule of an earlier release may be larger, and can still be renamed.
	pgtest.Exec(t, srv.DB, `UPDATE rules SET actions = jsonb_build_array(jsonb_build_object('kind', 'setNotes', 'value', $2::text)) WHERE id = $1`,
		rule.GetId(), long(5000))
	_, err = me.UpdateRule(me.Ctx, &ledgerv1.UpdateRuleRequest{Id: rule.GetId(), Name: new("New")})
	require.NoError(t, err)
}

func TestOrderRules(t *testing.T) {
	t.Parallel()
	s := setup(t)
	me := newPerson(t.Context(), t, s)
	var ids []string
	for i := range 4 {
		ids = append([]string{
			me.rule(t, setsCategory(fmt.Sprint("Shop ", i), me.Category)).GetId(),
		},
			ids...)
	}
	ordered, err := me.OrderRules(me.Ctx, &ledgerv1.OrderRulesRequest{Ids: ids})
	require.NoError(t, err)
	for i, r := range ordered.GetRules() {
		require.Equal(t, ids[i], r.GetId())
		require.EqualValues(t, i+1, r.GetPosition())
	}
	_, err = me.DeleteRule(me.Ctx, &ledgerv1.DeleteRuleRequest{Id: ids[0]})
	require.NoError(t, err)
	require.EqualValues(t, 5, me.rule(t, setsCategory("Last", me.Category)).GetPosition())
}

func TestDeleteCategoryOfRule(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	used, target := srv.MakeCategory(me.Ctx, t, "Used"), srv.MakeCategory(me.Ctx, t, "Target")
	rule := me.rule(t, setsCategory("Bakery", used))
	_, err := srv.DeleteCategory(me.Ctx, &ledgerv1.DeleteCategoryRequest{Id: used.String()})
	require.Equal(t, restv1.Reason_CATEGORY_IN_USE.String(), apierr.From(err).Reason)
	_, err = srv.DeleteCategory(me.Ctx,
		&ledgerv1.DeleteCategoryRequest{Id: used.String(), ReassignTo: new(target.String())})
	require.NoError(t, err)
	got, err := me.GetRule(me.Ctx, &ledgerv1.GetRuleRequest{Id: rule.GetId()})
	require.NoError(t, err)
	require.Equal(t, target.String(), got.GetRule().GetActions()[0].GetValue())
	_, err = me.DeleteRule(me.Ctx, &ledgerv1.DeleteRuleRequest{Id: rule.GetId()})
	require.NoError(t, err)
	_, err = srv.DeleteCategory(me.Ctx, &ledgerv1.DeleteCategoryRequest{Id: target.String()})
	require.NoError(t, err)
}

func TestDeleteWalletOfRule(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	for name, change := range map[string]func(*ledgerv1.CreateRuleRequest, string){
		"condition": func(r *ledgerv1.CreateRuleRequest, wallet string) {
			r.Conditions = append(r.Conditions, &ledgerv1.RuleCondition{
				Field: matching.WalletID, Op: matching.Is, Values: []string{wallet}, Not: true,
			})
		},
		"transfer": func(r *ledgerv1.CreateRuleRequest, wallet string) {
			r.Actions = []*ledgerv1.RuleAction{{Kind: matching.TransferTo, Value: wallet}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			wallet := srv.MakeWallet(me.Ctx, t, name, "EUR").String()
			req := setsCategory("Bakery", me.Category)
			change(req, wallet)
			r := me.rule(t, req)
			_, err := srv.DeleteWallet(me.Ctx, &ledgerv1.DeleteWalletRequest{Id: wallet})
			require.Equal(t, restv1.Reason_WALLET_IN_USE.String(), apierr.From(err).Reason)
			_, err = me.UpdateRule(me.Ctx, &ledgerv1.UpdateRuleRequest{
				Id: r.GetId(),
				Conditions: &ledgerv1.RuleConditions{
					Values: setsCategory("x", me.Category).GetConditions(),
				},
				Actions: &ledgerv1.RuleActions{
					Values: []*ledgerv1.RuleAction{{Kind: matching.Skip}},
				},
			})
			require.NoError(t, err)
			_, err = srv.DeleteWallet(me.Ctx, &ledgerv1.DeleteWalletRequest{Id: wallet})
			require.NoError(t, err)
		})
	}
}
