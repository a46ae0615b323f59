package transactions

import (
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

// The numbers of parts that a split transaction may have.
const (
	minParts = 2
	maxParts = 50
)

// categoryBesideSplits is the problem of a request with parts and a category for the whole
// transaction.
var categoryBesideSplits = &apierr.Field{Name: "categoryId", Message: "must be absent with splits"}

type part struct {
	// category is nil if it is invalid and among the problems.
	category *uuid.UUID
	// amount is a decimal in the major unit, and empty if it is among the problems. It stays text,
	// like the amount of a transaction.
	amount      string
	description string
}

// setSplits accepts no parts, which ends a split, or minParts to maxParts with valid fields. A part
// may have the opposite sign, such as a refund. applySplits checks the sum, because only it knows
// the amount and the currency.
func (c *changes) setSplits(problems *apierr.Problems, splits []*ledgerv1.Split) {
	c.splits = &[]part{}
	if len(splits) == 0 {
		return
	}
	if len(splits) < minParts || len(splits) > maxParts {
		problems.Invalid("splits", fmt.Sprintf("must be %d to %d parts", minParts, maxParts))
		return
	}
	for i, split := range splits {
		field := func(name string) string { return fmt.Sprintf("splits[%d].%s", i, name) }
		description, problem := text.Description(field("description"), split.GetDescription())
		problems.Field(problem)
		*c.splits = append(*c.splits, part{
			category: request.RequireReference(problems, field("categoryId"), split.GetCategoryId(),
				request.ErrInvalidCategoryID),
			amount:      partAmount(problems, field("amount"), split.GetAmount()),
			description: description,
		})
	}
}

// partAmount returns a valid decimal other than 0, or adds a problem and returns an empty text.
func partAmount(problems *apierr.Problems, field, s string) string {
	n, err := money.ParseDecimal(s, money.MaxDecimals)
	switch {
	case s == "":
		problems.Invalid(field, "is required")
	case err != nil:
		problems.Invalid(field, err.Error())
	case n == 0:
		problems.Invalid(field, "must not be 0")
	default:
		return s
	}
	return ""
}

// applySplits sets the category and the parts of transaction, after its amount, type and currency
// were set. before is the transaction without the changes. The parts have the sign of the
// transaction, and follow a change of its type. It adds SPLIT_SUM_MISMATCH if they do not add up to
// the amount.
func (c changes) applySplits(
	problems *apierr.Problems, before posting.Transaction, transaction *posting.Transaction,
) {
	switch {
	case c.splits != nil && len(*c.splits) > 0:
		parts, ok := parseParts(problems, *c.splits, *transaction)
		if !ok {
			return
		}
		transaction.CategoryID, transaction.Splits = nil, parts
	case c.category != nil:
		transaction.CategoryID, transaction.Splits = c.category, nil
	case len(transaction.Splits) == 0:
	case c.splits != nil:
		problems.Invalid("categoryId", "is required to end a split")
		return
	case transaction.Currency != before.Currency:
		problems.Invalid("splits", "is required with another currency")
		return
	case (transaction.AmountMinor < 0) != (before.AmountMinor < 0):
		transaction.Splits = slices.Clone(transaction.Splits)
		for i := range transaction.Splits {
			transaction.Splits[i].AmountMinor = -transaction.Splits[i].AmountMinor
		}
	}
	transaction.SplitCount = len(transaction.Splits)
	checkSum(problems, *transaction)
}

// parseParts returns the parts of transaction in minor units of its currency. It adds a problem for
// each amount that has too many decimals, and returns false if a part or the currency is invalid.
func parseParts(
	problems *apierr.Problems, parts []part, transaction posting.Transaction,
) (splits []posting.Split, ok bool) {
	ok = transaction.Currency != ""
	for i, part := range parts {
		if part.amount == "" || transaction.Currency == "" {
			ok = false
			continue
		}
		minor, err := money.CurrencyOf(transaction.Currency).Parse(part.amount)
		if err != nil {
			problems.Invalid(fmt.Sprintf("splits[%d].amount", i), err.Error())
			ok = false
		}
		if part.category == nil {
			ok = false
			continue
		}
		if transaction.AmountMinor < 0 {
			minor = -minor
		}
		splits = append(splits,
			posting.Split{
				CategoryID: *part.category, AmountMinor: minor, Description: part.description,
			})
	}
	return splits, ok
}

// checkSum adds a problem if the parts of transaction do not add up to its amount. The sum cannot
// overflow, because an int64 holds the sum of 900 amounts. An amount of 0 is a problem already.
func checkSum(problems *apierr.Problems, transaction posting.Transaction) {
	if len(transaction.Splits) == 0 || transaction.AmountMinor == 0 {
		return
	}
	sum := int64(0)
	for _, s := range transaction.Splits {
		sum += s.AmountMinor
	}
	amount := transaction.AmountMinor
	if amount < 0 {
		sum, amount = -sum, -amount
	}
	if sum == amount {
		return
	}
	c, difference, than := money.CurrencyOf(transaction.Currency), sum-amount, "more"
	if difference < 0 {
		difference, than = -difference, "less"
	}
	text := fmt.Sprintf("add up to %s, which is %s %s than the amount",
		c.Format(sum), c.Format(difference), than)
	problems.Add(errSplitSumMismatch.WithMessage("The parts "+text).With("splits", text))
}
