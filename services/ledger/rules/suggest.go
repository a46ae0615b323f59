package rules

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/request"
	"github.com/coffer-budget/coffer/services/ledger/rules/learning"
	"github.com/coffer-budget/coffer/services/ledger/rules/matching"
)

const (
	// maxItems is the maximum number of items in a request. It limits the work after the history
	// has been learned.
	maxItems           = 100
	byRule             = "rule"
	confidenceDecimals = 4
)

// SuggestCategories suggests categories for transactions that do not exist yet, in the order of the
// items. Rules come first; the owner's history decides for items that no rule categorizes. It is an
// expensive read, so s.reads limits the simultaneous ones of a user. Only rules that run on imports
// are applied. Errors: WALLET_NOT_FOUND, RATE_LIMITED and those of malformed fields.
func (s *Rules) SuggestCategories(
	ctx context.Context, req *ledgerv1.SuggestCategoriesRequest,
) (*ledgerv1.SuggestCategoriesResponse, error) {
	var p apierr.Problems
	items, named := parseItems(&p, req.GetItems())
	owner := caller.ID(ctx)
	owned, err := request.SelectOwned(ctx, s.DB, owner, named, nil)
	if err != nil {
		return nil, err
	}
	for i, item := range items {
		if item.Wallet != uuid.Nil && !slices.Contains(owned.Wallets, item.Wallet) {
			path := fmt.Sprintf("items[%d].walletId", i)
			p.Add(request.ErrWalletNotFound.With(path, "is unknown"))
		}
	}
	if err := p.Err(); err != nil {
		return nil, err
	}
	leave, err := s.reads.Enter(ctx, owner)
	if err != nil {
		return nil, err
	}
	defer leave()
	set, err := Load(ctx, s.DB, owner, OnImport)
	if err != nil {
		return nil, err
	}
	set.Limit(RequestSteps)
	memory, err := Remember(ctx, s.DB, owner)
	if err != nil {
		return nil, err
	}
	resp := &ledgerv1.SuggestCategoriesResponse{}
	for _, item := range items {
		o, err := Run(ctx, set, item)
		if err != nil {
			return nil, err
		}
		resp.Suggestions = append(resp.Suggestions, suggestionFor(o, memory, item))
	}
	return resp, nil
}

func parseItems(
	p *apierr.Problems, given []*ledgerv1.SuggestionItem,
) ([]matching.Transaction, []uuid.UUID) {
	if len(given) < 1 || len(given) > maxItems {
		p.Invalid("items", fmt.Sprintf("must have 1 to %d elements", maxItems))
		return nil, nil
	}
	var items []matching.Transaction
	var wallets []uuid.UUID
	for i, m := range given {
		t := parseItem(p, fmt.Sprintf("items[%d]", i), m)
		if t.Wallet != uuid.Nil && !slices.Contains(wallets, t.Wallet) {
			wallets = append(wallets, t.Wallet)
		}
		items = append(items, t)
	}
	return items, wallets
}

// parseItem returns the transaction of an item. path is the place of the item in the request.
func parseItem(p *apierr.Problems, path string, m *ledgerv1.SuggestionItem) matching.Transaction {
	t := matching.Transaction{
		AmountE4: matching.UnknownAmount, Income: m.GetType() == posting.Income,
	}
	var problem *apierr.Field
	t.Payee, problem = text.Payee(path+".payee", m.GetPayee())
	p.Field(problem)
	t.Description, problem = text.Description(path+".description", m.GetDescription())
	p.Field(problem)
	if m.GetCurrency() != "" {
		t.Currency = request.ParseCurrency(p, path+".currency", m.GetCurrency()).Code()
	}
	if m.GetWalletId() != "" {
		t.Wallet = request.ParseID(p, path+".walletId", m.GetWalletId(), request.ErrInvalidWalletID)
	}
	if !slices.Contains([]string{"", posting.Expense, posting.Income}, m.GetType()) {
		p.Invalid(path+".type", "must be expense or income")
	}
	if m.Amount != nil {
		amount, err := money.ParseDecimal(m.GetAmount(), money.MaxDecimals)
		if err != nil {
			p.Invalid(path+".amount", "must be a decimal in the major unit")
		}
		t.AmountE4 = max(amount, -amount)
	}
	return t
}

// suggestionFor returns the category that a rule sets, or the category that the memory suggests
// after the rules have changed the texts. The confidence of a rule is 1. Other confidences are
// rounded down, so that no guess shows 1.
func suggestionFor(
	o matching.Outcome, memory *learning.Memory, t matching.Transaction,
) *ledgerv1.CategorySuggestion {
	if o.Payee != nil {
		t.Payee = *o.Payee
	}
	if o.Description != nil {
		t.Description = *o.Description
	}
	m := &ledgerv1.CategorySuggestion{
		Tags: o.Tags, Payee: t.Payee, Confidence: "1.0000", Reason: byRule,
	}
	if o.Category != uuid.Nil {
		m.CategoryId, m.RuleId = o.Category.String(), o.DecidedBy.String()
		return m
	}
	s := memory.Suggest(t.Payee, t.Description, !t.Income)
	m.Reason = s.Reason
	confidence := int64(math.Floor(s.Confidence * math.Pow10(confidenceDecimals)))
	m.Confidence = money.Decimal(confidence, confidenceDecimals)
	if s.Category != uuid.Nil {
		m.CategoryId = s.Category.String()
	}
	for _, id := range s.Alternatives {
		m.Alternatives = append(m.Alternatives, id.String())
	}
	return m
}
