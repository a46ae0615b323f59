package rules

import (
	"context"
	"math"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/caller"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/rules/learning"
	"github.com/coffer-budget/coffer/services/ledger/rules/matching"
)

const (
	// maxSuggested is the maximum number of rules in a response. Proposals with the most choices
	// come first.
	maxSuggested = 20
	// maxName is the maximum length of a rule's name, in characters.
	maxName = 100
)

// SuggestRules suggests rules for payees whose categories the caller chose by hand. A payee that a
// rule categorizes or replaces already has none, also if the rule is not enabled: a further rule
// would not decide, or the user has switched it off on purpose.
func (s *Rules) SuggestRules(
	ctx context.Context, _ *ledgerv1.SuggestRulesRequest,
) (*ledgerv1.SuggestRulesResponse, error) {
	owner := caller.ID(ctx)
	leave, err := s.reads.Enter(ctx, owner)
	if err != nil {
		return nil, err
	}
	defer leave()
	rows, err := selectRules(ctx, s.DB, owner)
	if err != nil {
		return nil, err
	}
	set, err := compile(rows...)
	if err != nil {
		return nil, err
	}
	set.Limit(RequestSteps)
	choices, err := selectChoices(ctx, s.DB, owner)
	if err != nil {
		return nil, err
	}
	resp := &ledgerv1.SuggestRulesResponse{}
	for _, proposal := range learning.Propose(choices) {
		outcome, err := Run(ctx, set,
			matching.Transaction{Payee: proposal.Payee, AmountE4: matching.UnknownAmount})
		if err != nil {
			return nil, err
		}
		if outcome.DecidedBy != uuid.Nil || outcome.Payee != nil {
			continue
		}
		resp.Suggestions = append(resp.Suggestions, ruleFor(proposal))
		if len(resp.GetSuggestions()) == maxSuggested {
			break
		}
	}
	return resp, nil
}

func ruleFor(proposal learning.Proposal) *ledgerv1.RuleSuggestion {
	name := []rune(proposal.Payee)
	return &ledgerv1.RuleSuggestion{
		Name: string(name[:min(len(name), maxName)]),
		Conditions: []*ledgerv1.RuleCondition{{
			Field: matching.Payee, Op: proposal.Op, Values: []string{proposal.Payee},
		}},
		Actions: []*ledgerv1.RuleAction{
			{Kind: matching.SetCategory, Value: proposal.CategoryID.String()},
		},
		Count: int32(min(proposal.Count, math.MaxInt32)),
	}
}
