package booking

import (
	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/resolving"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

// add adds the transaction of a row, or both legs of its transfer.
func (c *chunk) add(r *staging.Row) error {
	if r.Status != staging.Ready {
		return nil
	}
	if r.WalletID == nil || r.AmountMinor == nil {
		return request.ErrWalletNotFound
	}
	t, partner := c.transaction(r), c.partner(r)
	if r.TransferWalletID == nil || exists(partner) {
		// If the other leg already exists as a separate transaction, another leg would change the
		// balance of its wallet twice.
		if err := c.categorize(r, &t); err != nil {
			return err
		}
		c.put(r, t)
		return nil
	}
	t.TransferID = new(c.newID())
	c.put(r, t)
	if partner != nil && partner.Status == staging.Ready && partner.WalletID != nil &&
		partner.AmountMinor != nil {
		other := c.transaction(partner)
		other.TransferID = t.TransferID
		c.put(partner, other)
		return nil
	}
	c.transactions = append(c.transactions, c.otherLeg(r, t))
	return nil
}

// otherLeg returns the leg of a transfer that has no row. Its amount is the one that the row states
// for the other side, for example in another currency. If the user chose another wallet, or the row
// states none, it is the opposite of the row's amount.
func (c *chunk) otherLeg(r *staging.Row, t posting.Transaction) posting.Transaction {
	t.ID = c.newID()
	t.WalletID = *r.TransferWalletID
	t.AmountMinor = -t.AmountMinor
	t.ExternalID, t.ImportID = nil, nil
	if r.Transfer == nil || r.Transfer.Amount == "" || r.ChosenWalletID != nil {
		return t
	}
	record := statement.Record{Amount: r.Transfer.Amount, Currency: r.Transfer.Currency}
	minor, currency, err := record.Minor(money.CurrencyOf(t.Currency))
	if err == nil && minor != 0 && (minor < 0) == (t.AmountMinor < 0) {
		t.AmountMinor, t.Currency = minor, currency.Code()
	}
	return t
}

// put adds a transaction as the outcome of a row.
func (c *chunk) put(r *staging.Row, t posting.Transaction) {
	r.Status, r.Problem, r.TransactionID, r.DuplicateOf = staging.Booked, "", &t.ID, nil
	c.transactions = append(c.transactions, t)
}

// transaction returns the transaction of a row, still without category and transfer. All
// transactions of a chunk have the same time of creation, by which an undo recognizes the legs and
// tags that the chunk created.
func (c *chunk) transaction(r *staging.Row) posting.Transaction {
	t := posting.Transaction{
		ID: c.newID(), OwnerID: c.OwnerID, WalletID: *r.WalletID, AmountMinor: *r.AmountMinor,
		Currency: r.BookedCurrency, Date: r.Date.UTC(), Payee: r.BookedPayee(),
		Description: r.BookedDescription(), Notes: r.BookedNotes(), TagNames: r.BookedTags(),
		ImportID: &c.ID, Version: 1, CreatedAt: c.now, UpdatedAt: c.now,
	}
	if r.ExternalID != "" {
		t.ExternalID = &r.ExternalID
	}
	return t
}

// categorize sets the category of a transaction, or its splits. It returns CATEGORY_NOT_FOUND if
// the category was deleted since the preview and no default exists; the job then fails, and the
// user can assign another one.
func (c *chunk) categorize(r *staging.Row, t *posting.Transaction) error {
	if len(r.Splits) == 0 || r.ChosenCategoryID != nil {
		if r.CategoryID == nil {
			// The transaction that the row matched was deleted, or its transfer has become an
			// ordinary transaction. The row states it, so that the default is not taken for a later
			// choice of the user (ADR 118).
			r.CategoryID = resolving.DefaultCategory(c.details, t.AmountMinor < 0)
			r.CategoryFrom = staging.FromDefault
		}
		if t.CategoryID = r.CategoryID; t.CategoryID == nil {
			return request.ErrCategoryNotFound
		}
		return nil
	}
	sum := int64(0)
	for _, s := range r.Splits {
		record := statement.Record{Amount: s.Amount, Currency: r.BookedCurrency}
		minor, _, err := record.Minor(money.Currency{})
		if err != nil || minor == 0 {
			continue
		}
		category := c.named(s.Category)
		if category == nil {
			return request.ErrCategoryNotFound
		}
		sum += minor
		t.Splits = append(t.Splits,
			posting.Split{CategoryID: *category, AmountMinor: minor, Description: s.Description})
	}
	if sum != t.AmountMinor || len(t.Splits) == 1 {
		// The parts do not add up, which a statement of the file cannot explain. The amount of the
		// whole counts.
		if r.CategoryID = c.named(r.Splits[0].Category); r.CategoryID == nil {
			return request.ErrCategoryNotFound
		}
		t.CategoryID, t.Splits = r.CategoryID, nil
	}
	return nil
}

// named returns the category with a name in the file, or the default one.
func (c *chunk) named(name string) *uuid.UUID {
	for _, n := range c.details.GetCategories() {
		if n.GetName() == name && n.GetCategoryId() != "" {
			return staging.ParseID(n.GetCategoryId())
		}
	}
	d := c.details.GetDefaults()
	if id := staging.ParseID(d.GetExpenseCategoryId()); id != nil {
		return id
	}
	return staging.ParseID(d.GetIncomeCategoryId())
}
