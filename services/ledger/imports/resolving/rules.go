package resolving

import (
	"context"

	"github.com/google/uuid"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/rules"
	"github.com/coffer-budget/coffer/services/ledger/rules/learning"
	"github.com/coffer-budget/coffer/services/ledger/rules/matching"
)

// rule runs the owner's rules on a row that is no transfer. The user's choices take precedence. It
// returns the category that a rule sets.
func (c *resolver) rule(ctx context.Context, row *staging.Row) (category, by uuid.UUID) {
	if c.rules == nil || c.rules.Empty() {
		return uuid.Nil, uuid.Nil
	}
	transaction := matching.Transaction{
		Payee: row.BookedPayee(), Description: row.BookedDescription(), Notes: row.Notes,
		Income: !negative(row.Amount), Currency: row.BookedCurrency, Tags: row.Tags,
		AmountE4: matching.UnknownAmount,
	}
	if row.WalletID != nil {
		transaction.Wallet = *row.WalletID
	}
	if row.AmountMinor != nil {
		transaction.AmountE4 = posting.Transaction{
			AmountMinor: *row.AmountMinor, Currency: row.BookedCurrency,
		}.AmountE4()
		transaction.AmountE4 = max(transaction.AmountE4, -transaction.AmountE4)
	}
	outcome, err := rules.Run(ctx, c.rules, transaction)
	if err != nil {
		c.failed = err
		return uuid.Nil, uuid.Nil
	}
	if len(outcome.Matched) == 0 {
		return uuid.Nil, uuid.Nil
	}
	row.Ruled = &staging.Ruled{
		Payee: outcome.Payee, Description: outcome.Description, Notes: outcome.Notes,
		Tags: outcome.Tags, Rules: outcome.Matched,
	}
	switch {
	case outcome.Skip && row.Action == "":
		row.Status, row.Problem = staging.Skipped, "a rule skips the row"
	case outcome.TransferTo != uuid.Nil && row.ChosenCategoryID == nil && len(row.Splits) == 0 &&
		(row.WalletID == nil || *row.WalletID != outcome.TransferTo):
		row.TransferWalletID = &outcome.TransferTo
	}
	return outcome.Category, outcome.DecidedBy
}

// learned returns the category that the owner's earlier transactions suggest, or the earlier
// suggestion if it still applies.
func (c *resolver) learned(row *staging.Row) (uuid.UUID, bool) {
	if id, ok := c.kept[row.N]; ok && (id == uuid.Nil || c.owned.categories[id]) {
		return id, id != uuid.Nil
	}
	if c.memory == nil && c.failed == nil {
		c.memory, c.failed = c.loadMemory()
	}
	if c.failed != nil {
		return uuid.Nil, false
	}
	s := c.memory.Suggest(row.BookedPayee(), row.BookedDescription(), negative(row.Amount))
	return s.Category, s.Confidence >= learning.MinConfidence
}

// fold returns a text in which letters that differ only in case or width are equal.
func fold(s string) string { return cases.Fold().String(norm.NFKC.String(s)) }
