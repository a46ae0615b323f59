package ledger

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// prepareRules creates two rules, which name a category that a merge moves and a wallet.
func (s *isolated) prepareRules(t *testing.T) {
	t.Helper()
	for _, name := range []string{"Kiosk", "Bakery"} {
		resp, err := s.rules.CreateRule(s.user.Ctx, &ledgerv1.CreateRuleRequest{
			Name: name,
			Conditions: []*ledgerv1.RuleCondition{
				{Field: "text", Op: "contains", Values: []string{name}},
				{Field: "walletId", Op: "in", Values: s.wallets[:2]},
			},
			Actions: []*ledgerv1.RuleAction{
				{Kind: "setCategory", Value: s.categories[2]}, {Kind: "addTag", Value: name},
			},
		})
		require.NoError(t, err)
		s.ruleIDs = append(s.ruleIDs, resp.GetRule().GetId())
	}
	_, err := s.rules.ApplyRule(s.user.Ctx, &ledgerv1.ApplyRuleRequest{Id: s.ruleIDs[0]})
	require.NoError(t, err)
	s.rules.Jobs.RunQueued(t.Context())
}

// useRules calls every RPC of rules.
func (s *isolated) useRules(ctx context.Context) {
	s.readRules(ctx)
	s.record(s.rules.UpdateRule(ctx, &ledgerv1.UpdateRuleRequest{
		Id: s.ruleIDs[0], Name: new("Cream"),
		Conditions: &ledgerv1.RuleConditions{Values: []*ledgerv1.RuleCondition{
			{Field: "text", Op: "contains", Values: []string{"a"}},
			{Field: "walletId", Op: "is", Values: s.wallets[1:2]},
		}},
	}))
	s.record(s.rules.ApplyRule(ctx, &ledgerv1.ApplyRuleRequest{Id: s.ruleIDs[0], DryRun: true}))
	s.record(s.rules.ApplyRule(ctx,
		&ledgerv1.ApplyRuleRequest{Id: s.ruleIDs[0], WalletId: &s.wallets[1]}))
	s.rules.Jobs.RunQueued(ctx)
	s.record(s.rules.UndoRule(ctx, &ledgerv1.UndoRuleRequest{Id: s.ruleIDs[0]}))
	s.rules.Jobs.RunQueued(ctx)
	s.record(s.rules.OrderRules(ctx,
		&ledgerv1.OrderRulesRequest{Ids: []string{s.ruleIDs[1], s.ruleIDs[0]}}))
	s.readRules(ctx)
	s.record(s.rules.DeleteRule(ctx, &ledgerv1.DeleteRuleRequest{Id: s.ruleIDs[1]}))
	s.record(s.rules.DeleteRule(ctx, &ledgerv1.DeleteRuleRequest{Id: s.ruleIDs[1]}))
	s.readRules(ctx)
}

// readRules lists the rules and returns each of them.
func (s *isolated) readRules(ctx context.Context) {
	s.record(s.rules.SuggestCategories(ctx,
		&ledgerv1.SuggestCategoriesRequest{Items: []*ledgerv1.SuggestionItem{
			{Payee: "Milk", WalletId: s.wallets[0]},
			{Payee: "Bakery"},
			{Description: "Employer", Type: "income"},
			{Payee: "Kiosk"},
		}}))
	s.record(s.rules.SuggestRules(ctx, &ledgerv1.SuggestRulesRequest{}))
	s.record(s.rules.ListRules(ctx, &ledgerv1.ListRulesRequest{}))
	for _, id := range s.ruleIDs {
		s.record(s.rules.GetRule(ctx, &ledgerv1.GetRuleRequest{Id: id}))
	}
}
