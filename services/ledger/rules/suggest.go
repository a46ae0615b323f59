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
	var problems apierr.Problems
	items, named := parseItems(&problems, req.GetItems())
	owner := caller.ID(ctx)
	owned, err := request.SelectOwned(ctx, s.DB, owner, named, nil)
	if err != nil {
		return nil, err
	}
	for i, item := range items {
		if item.Wallet != uuid.Nil && !slices.Contains(owned.Wallets, item.Wallet) {
			path := fmt.Sprintf("items[%d].walletId", i)
			problems.Add(request.ErrWalletNotFound.With(path, "is unknown"))
		}
	}
	if err := problems.Err(); err != nil {
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
	problems *apierr.Problems, given []*ledgerv1.SuggestionItem,
) ([]matching.Transaction, []uuid.UUID) {
	if len(given) < 1 || len(given) > maxItems {
		problems.Invalid("items", fmt.Sprintf("must have 1 to %d elements", maxItems))
		return nil, nil
	}
	var items []matching.Transaction
	var wallets []uuid.UUID
	for i, m := range given {
		t := parseItem(problems, fmt.Sprintf("items[%d]", i), m)
		if t.Wallet != uuid.Nil && !slices.Contains(wallets, t.Wallet) {
			wallets = append(wallets, t.Wallet)
		}
		items = append(items, t)
	}
	return items, wallets
}

// parseItem returns the transaction of an item. path is the place of the item in the request.
func parseItem(
	problems *apierr.Problems, path string, message *ledgerv1.SuggestionItem,
) matching.Transaction {
	transaction := matching.Transaction{
		AmountE4: matching.UnknownAmount, Income: message.GetType() == posting.Income,
	}
	var problem *apierr.Field
	transaction.Payee, problem = text.Payee(path+".payee", message.GetPayee())
	problems.Field(problem)
	transaction.Description, problem = text.Description(path+".description",
		message.GetDescription())
	problems.Field(problem)
	if message.GetCurrency() != "" {
		transaction.Currency = request.ParseCurrency(problems, path+".currency",
			message.GetCurrency()).Code()
	}
	if message.GetWalletId() != "" {
		transaction.Wallet = request.ParseID(problems, path+".walletId", message.GetWalletId(),
			request.ErrInvalidWalletID)
	}
	if !slices.Contains([]string{"", posting.Expense, posting.Income}, message.GetType()) {
		problems.Invalid(path+".type", "must be expense or income")
	}
	if message.Amount != nil {
		amount, err := money.ParseDecimal(message.GetAmount(), money.MaxDecimals)
		if err != nil {
			problems.Invalid(path+".amount", "must be a decimal in the major unit")
		}
		transaction.AmountE4 = max(amount, -amount)
	}
	return transaction
}

// suggestionFor returns the category that a rule sets, or the category that the memory suggests
// after the rules have changed the texts. The confidence of a rule is 1. Other confidences are
// rounded down, so that no guess shows 1.
func suggestionFor(
	outcome matching.Outcome, memory *learning.Memory, transaction matching.Transaction,
) *ledgerv1.CategorySuggestion {
	if outcome.Payee != nil {
		transaction.Payee = *outcome.Payee
	}
	if outcome.Description != nil {
		transaction.Description = *outcome.Description
	}
	message := &ledgerv1.CategorySuggestion{
		Tags: outcome.Tags, Payee: transaction.Payee, Confidence: "1.0000", Reason: byRule,
	}
	if outcome.Category != uuid.Nil {
		message.CategoryId, message.RuleId = outcome.Category.String(), outcome.DecidedBy.String()
		return message
	}
	suggestion := memory.Suggest(transaction.Payee, transaction.Description, !transaction.Income)
	message.Reason = suggestion.Reason
	confidence := int64(math.Floor(suggestion.Confidence * math.Pow10(confidenceDecimals)))
	message.Confidence = money.Decimal(confidence, confidenceDecimals)
	if suggestion.Category != uuid.Nil {
		message.CategoryId = suggestion.Category.String()
	}
	for _, id := range suggestion.Alternatives {
		message.Alternatives = append(message.Alternatives, id.String())
	}
	return message
}
