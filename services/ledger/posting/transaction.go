package posting

import (
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/money"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

const (
	Expense  = "expense"
	Income   = "income"
	Transfer = "transfer"
	// Adjustment is the type of a transaction that sets the balance of a wallet. It is no income
	// and no expense.
	Adjustment = "adjustment"
)

// Transaction is a row of table transactions.
type Transaction struct {
	ID      uuid.UUID
	OwnerID uuid.UUID `db:"owner_id"`
	// AmountMinor is in minor units and negative for an expense.
	AmountMinor int64 `db:"amount_minor"`
	Description string
	Date        time.Time
	Currency    string
	WalletID    uuid.UUID `db:"wallet_id"`
	// CategoryID is nil for a leg of a transfer, for an adjustment and for a transaction with
	// splits.
	CategoryID *uuid.UUID `db:"category_id"`
	// ReceiptID is nil unless the transaction was created from a receipt.
	ReceiptID *uuid.UUID `db:"receipt_id"`
	Payee     string
	Notes     string
	// Tags are the keys of tags: names in lower case. TagNames are their names, in the same order,
	// after AddDetails or UseTags. In a new transaction they are the names of the request, from
	// which UseTags derives both.
	Tags     []string
	TagNames []string `db:"-"`
	// TransferID is set on both legs of a transfer.
	TransferID *uuid.UUID `db:"transfer_id"`
	// SplitCount is the number of parts. Splits holds the parts only after AddDetails, or in a
	// transaction that is being written.
	SplitCount int     `db:"split_count"`
	Splits     []Split `db:"-"`
	// ExternalID is the id that a client or a bank gave the transaction. It is unique in the
	// wallet.
	ExternalID      *string    `db:"external_id"`
	ImportID        *uuid.UUID `db:"import_id"`
	AttachmentCount int        `db:"attachment_count"`
	// Adjustment is set if the transaction is an adjustment. It never changes.
	Adjustment bool
	// Cleared reports whether the bank has booked the transaction.
	Cleared bool
	// ReconciliationID is set while a reconciliation locks the transaction.
	ReconciliationID *uuid.UUID `db:"reconciliation_id"`
	// Version starts at 1 and increases with each change. The ETag contains it.
	Version   int64
	CreatedAt time.Time `db:"created_at"`
	UpdatedAt time.Time `db:"updated_at"`
}

// TransactionColumns are the columns of a transaction t, in a form that pg.One and pg.All map to
// the struct.
const TransactionColumns = `t.id, t.owner_id, t.amount_minor, t.description, t.date, t.currency,
	t.wallet_id, t.category_id, t.receipt_id, t.payee, t.notes, t.tags, t.transfer_id,
	t.split_count, t.external_id, t.import_id, t.attachment_count, t.adjustment, t.cleared,
	t.reconciliation_id, t.version, t.created_at, t.updated_at`

// Split is a part of a transaction: a row of table splits.
type Split struct {
	CategoryID uuid.UUID `db:"category_id"`
	// AmountMinor has the sign of the transaction, or the opposite one for a refund. A refund
	// counts with the type of its transaction, so a refund within an expense lowers the expense of
	// its category (ADR 103). The parts of a transaction add up to its amount.
	AmountMinor int64 `db:"amount_minor"`
	Description string
}

// AmountE4 returns the amount in ten-thousandths of the major unit. Lists of several currencies are
// filtered and sorted by it.
func (t Transaction) AmountE4() int64 {
	n := t.AmountMinor
	for range money.MaxDecimals - money.CurrencyOf(t.Currency).Decimals() {
		n *= 10
	}
	return n
}

// partSize is the size at which a part counts, in bytes. Its description has up to 4000 bytes, but
// most have far fewer.
const partSize = 1000

// Bytes returns the approximate size of t in a response, in bytes. It does not need the parts, so
// that a list can leave out transactions before it reads their parts.
func (t Transaction) Bytes() int {
	size := 500 + len(t.Payee) + len(t.Description) + len(t.Notes) + partSize*t.SplitCount
	for _, tag := range t.Tags {
		size += len(tag)
	}
	return size
}

// References returns the wallet and the categories of t.
func (t Transaction) References() request.References {
	named := request.References{Wallet: &t.WalletID, Category: t.CategoryID}
	for _, s := range t.Splits {
		named.Parts = append(named.Parts, &s.CategoryID)
	}
	return named
}

// HasCategory reports whether the transaction itself, without its splits, has a category.
func (t Transaction) HasCategory(id uuid.UUID) bool {
	return t.CategoryID != nil && *t.CategoryID == id
}

// Proto returns t as the API shows it. Legs and adjustments have their own types. Otherwise the
// type follows the sign of the amount.
func (t Transaction) Proto() *ledgerv1.Transaction {
	message := &ledgerv1.Transaction{}
	t.fill(message, &lastTexts{})
	return message
}

// lastTexts are the texts of the previous transaction of a list. Adjacent ones often have the same
// wallet, category and date, and then share them.
type lastTexts struct {
	wallet, category lastText[uuid.UUID]
	date, updated    lastText[time.Time]
}

// lastText is the text of the last value.
type lastText[Value comparable] struct {
	value Value
	text  string
}

func (l *lastText[Value]) of(value Value, format func(Value) string) string {
	if l.text == "" || l.value != value {
		l.value, l.text = value, format(value)
	}
	return l.text
}

// fill sets the fields of an empty message.
func (t *Transaction) fill(message *ledgerv1.Transaction, last *lastTexts) {
	message.Id = t.ID.String()
	message.Amount = money.CurrencyOf(t.Currency).Format(t.AmountMinor)
	message.Description = t.Description
	message.Date = last.date.of(t.Date, calendar.FormatTime)
	message.Currency = t.Currency
	message.WalletId = last.wallet.of(t.WalletID, uuid.UUID.String)
	if t.CategoryID != nil {
		message.CategoryId = last.category.of(*t.CategoryID, uuid.UUID.String)
	}
	message.Type = Income
	message.Payee, message.Notes, message.Tags = t.Payee, t.Notes, t.TagNames
	message.TransferId, message.ImportId = idText(t.TransferID), idText(t.ImportID)
	// Most transactions were not changed since they were created.
	message.UpdatedAt = last.updated.of(t.UpdatedAt, calendar.FormatTime)
	message.CreatedAt = last.updated.of(t.CreatedAt, calendar.FormatTime)
	message.AttachmentCount = int32(t.AttachmentCount) //nolint:gosec // At most 10.
	message.Cleared, message.Reconciled = t.Cleared, t.ReconciliationID != nil
	switch {
	case t.TransferID != nil:
		message.Type = Transfer
	case t.Adjustment:
		message.Type = Adjustment
	case t.AmountMinor < 0:
		message.Type = Expense
	}
	if t.ReceiptID != nil {
		message.ReceiptId = new(t.ReceiptID.String())
	}
	if t.ExternalID != nil {
		message.ExternalId = *t.ExternalID
	}
	for _, s := range t.Splits {
		message.Splits = append(message.Splits, s.proto(t.AmountMinor < 0, t.Currency))
	}
}

// proto returns s as the API shows it. Its amount is positive, and negative for a refund.
func (s Split) proto(ofExpense bool, currency string) *ledgerv1.Split {
	amount := s.AmountMinor
	if ofExpense {
		amount = -amount
	}
	return &ledgerv1.Split{
		CategoryId: s.CategoryID.String(), Amount: money.CurrencyOf(currency).Format(amount),
		Description: s.Description,
	}
}

func idText(id *uuid.UUID) string {
	if id == nil {
		return ""
	}
	return id.String()
}

// Protos returns ts as the API shows them, in the same order.
func Protos(ts []Transaction) []*ledgerv1.Transaction {
	// One allocation for all messages of a page takes less time than fifty.
	messages, out := make([]ledgerv1.Transaction, len(ts)), make([]*ledgerv1.Transaction, len(ts))
	var last lastTexts
	for i := range ts {
		ts[i].fill(&messages[i], &last)
		out[i] = &messages[i]
	}
	return out
}
