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
func (c *chunk) add(row *staging.Row) error {
	if row.Status != staging.Ready {
		return nil
	}
	if row.WalletID == nil || row.AmountMinor == nil {
		return request.ErrWalletNotFound
	}
	transaction, partner := c.transaction(row), c.partner(row)
	if row.TransferWalletID == nil || exists(partner) {
		// If the other leg already exists as a separate transaction, another leg would change the
		// balance of its wallet twice.
		if err := c.categorize(row, &transaction); err != nil {
			return err
		}
		c.put(row, transaction)
		return nil
	}
	transaction.TransferID = new(c.newID())
	c.put(row, transaction)
	if partner != nil && partner.Status == staging.Ready && partner.WalletID != nil &&
		partner.AmountMinor != nil {
		other := c.transaction(partner)
		other.TransferID = transaction.TransferID
		c.put(partner, other)
		return nil
	}
	c.transactions = append(c.transactions, c.otherLeg(row, transaction))
	return nil
}

// otherLeg returns the leg of a transfer that has no row. Its amount is the one that the row states
// for the other side, for example in another currency. If the user chose another wallet, or the row
// states none, it is the opposite of the row's amount.
func (c *chunk) otherLeg(row *staging.Row, transaction posting.Transaction) posting.Transaction {
	transaction.ID = c.newID()
	transaction.WalletID = *row.TransferWalletID
	transaction.AmountMinor = -transaction.AmountMinor
	transaction.ExternalID, transaction.ImportID, transaction.Cleared = nil, nil, false
	if row.Transfer == nil || row.Transfer.Amount == "" || row.ChosenWalletID != nil {
		return transaction
	}
	record := statement.Record{Amount: row.Transfer.Amount, Currency: row.Transfer.Currency}
	minor, currency, err := record.Minor(money.CurrencyOf(transaction.Currency))
	if err == nil && minor != 0 && (minor < 0) == (transaction.AmountMinor < 0) {
		transaction.AmountMinor, transaction.Currency = minor, currency.Code()
	}
	return transaction
}

// put adds a transaction as the outcome of a row.
func (c *chunk) put(r *staging.Row, t posting.Transaction) {
	r.Status, r.Problem, r.TransactionID, r.DuplicateOf = staging.Booked, "", &t.ID, nil
	c.transactions = append(c.transactions, t)
}

// transaction returns the transaction of a row, still without category and transfer. All
// transactions of a chunk have the same time of creation, by which an undo recognizes the legs and
// tags that the chunk created.
func (c *chunk) transaction(row *staging.Row) posting.Transaction {
	transaction := posting.Transaction{
		ID: c.newID(), OwnerID: c.OwnerID, WalletID: *row.WalletID, AmountMinor: *row.AmountMinor,
		Currency: row.BookedCurrency, Date: row.Date.UTC(), Payee: row.BookedPayee(),
		Description: row.BookedDescription(), Notes: row.BookedNotes(), TagNames: row.BookedTags(),
		ImportID: &c.ID, Cleared: row.Clears(), Version: 1, CreatedAt: c.now, UpdatedAt: c.now,
	}
	if row.ExternalID != "" {
		transaction.ExternalID = &row.ExternalID
	}
	return transaction
}

// categorize sets the category of a transaction, or its splits, or makes it an adjustment. It
// returns CATEGORY_NOT_FOUND if the category was deleted since the preview and no default exists;
// the job then fails, and the user can assign another one.
func (c *chunk) categorize(row *staging.Row, transaction *posting.Transaction) error {
	if row.Adjusts() {
		transaction.Adjustment = true
		return nil
	}
	if len(row.Splits) == 0 || row.ChosenCategoryID != nil {
		if row.CategoryID == nil {
			// The transaction that the row matched was deleted, or its transfer has become an
			// ordinary transaction. The row states it, so that the default is not taken for a later
			// choice of the user (ADR 118).
			row.CategoryID = resolving.DefaultCategory(c.details, transaction.AmountMinor < 0)
			row.CategoryFrom = staging.FromDefault
		}
		if transaction.CategoryID = row.CategoryID; transaction.CategoryID == nil {
			return request.ErrCategoryNotFound
		}
		return nil
	}
	sum := int64(0)
	for _, split := range row.Splits {
		record := statement.Record{Amount: split.Amount, Currency: row.BookedCurrency}
		minor, _, err := record.Minor(money.Currency{})
		if err != nil || minor == 0 {
			continue
		}
		category := c.named(split.Category)
		if category == nil {
			return request.ErrCategoryNotFound
		}
		sum += minor
		transaction.Splits = append(transaction.Splits,
			posting.Split{
				CategoryID: *category, AmountMinor: minor, Description: split.Description,
			})
	}
	if sum != transaction.AmountMinor || len(transaction.Splits) == 1 {
		// The parts do not add up, which a statement of the file cannot explain. The amount of the
		// whole counts.
		if row.CategoryID = c.named(row.Splits[0].Category); row.CategoryID == nil {
			return request.ErrCategoryNotFound
		}
		transaction.CategoryID, transaction.Splits = row.CategoryID, nil
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
