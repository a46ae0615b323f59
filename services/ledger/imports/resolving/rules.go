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
func (c *resolver) rule(ctx context.Context, r *staging.Row) (category, by uuid.UUID) {
	if c.rules == nil || c.rules.Empty() {
		return uuid.Nil, uuid.Nil
	}
	t := matching.Transaction{
		Payee: r.BookedPayee(), Description: r.BookedDescription(), Notes: r.Notes,
		Income: !negative(r.Amount), Currency: r.BookedCurrency, Tags: r.Tags,
		AmountE4: matching.UnknownAmount,
	}
	if r.WalletID != nil {
		t.Wallet = *r.WalletID
	}
	if r.AmountMinor != nil {
		t.AmountE4 = posting.Transaction{
			AmountMinor: *r.AmountMinor, Currency: r.BookedCurrency,
		}.AmountE4()
		t.AmountE4 = max(t.AmountE4, -t.AmountE4)
	}
	o, err := rules.Run(ctx, c.rules, t)
	if err != nil {
		c.failed = err
		return uuid.Nil, uuid.Nil
	}
	if len(o.Matched) == 0 {
		return uuid.Nil, uuid.Nil
	}
	r.Ruled = &staging.Ruled{
		Payee: o.Payee, Description: o.Description, Notes: o.Notes, Tags: o.Tags, Rules: o.Matched,
	}
	switch {
	case o.Skip && r.Action == "":
		r.Status, r.Problem = staging.Skipped, "a rule skips the row"
	case o.TransferTo != uuid.Nil && r.ChosenCategoryID == nil && len(r.Splits) == 0 &&
		(r.WalletID == nil || *r.WalletID != o.TransferTo):
		r.TransferWalletID = &o.TransferTo
	}
	return o.Category, o.DecidedBy
}

// learned returns the category that the owner's earlier transactions suggest, or the earlier
// suggestion if it still applies.
func (c *resolver) learned(r *staging.Row) (uuid.UUID, bool) {
	if id, ok := c.kept[r.N]; ok && (id == uuid.Nil || c.owned.categories[id]) {
		return id, id != uuid.Nil
	}
	if c.memory == nil && c.failed == nil {
		c.memory, c.failed = c.loadMemory()
	}
	if c.failed != nil {
		return uuid.Nil, false
	}
	s := c.memory.Suggest(r.BookedPayee(), r.BookedDescription(), negative(r.Amount))
	return s.Category, s.Confidence >= learning.MinConfidence
}

// fold returns a text in which letters that differ only in case or width are equal.
func fold(s string) string { return cases.Fold().String(norm.NFKC.String(s)) }
