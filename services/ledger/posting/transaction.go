package posting

import (
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/money"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

// The values of a transaction's type.
const (
	Expense = "expense"
	Income  = "income"
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
	CategoryID  uuid.UUID `db:"category_id"`
	// ReceiptID is nil unless the transaction was created from a receipt.
	ReceiptID *uuid.UUID `db:"receipt_id"`
	// Version starts at 1 and increases with each change. The ETag contains it.
	Version   int64
	CreatedAt time.Time `db:"created_at"`
	UpdatedAt time.Time `db:"updated_at"`
}

// TransactionColumns are the columns of a transaction t, in a form that pg.One and pg.All map to the struct.
const TransactionColumns = `t.id, t.owner_id, t.amount_minor, t.description, t.date, t.currency, t.wallet_id, t.category_id,
	t.receipt_id, t.version, t.created_at, t.updated_at`

// AmountE4 returns the amount in ten-thousandths of the major unit. Lists of several currencies are filtered and sorted by it.
func (t Transaction) AmountE4() int64 {
	n := t.AmountMinor
	for range money.MaxDecimals - money.CurrencyOf(t.Currency).Decimals() {
		n *= 10
	}
	return n
}

// References returns the wallet and the category of t.
func (t Transaction) References() request.References {
	return request.References{Wallet: &t.WalletID, Category: &t.CategoryID}
}

// Proto returns t as the API shows it. The type follows the sign of the amount.
func (t Transaction) Proto() *ledgerv1.Transaction {
	m := &ledgerv1.Transaction{
		Id:          t.ID.String(),
		Amount:      money.CurrencyOf(t.Currency).Format(t.AmountMinor),
		Description: t.Description,
		Date:        calendar.FormatTime(t.Date),
		Currency:    t.Currency,
		WalletId:    t.WalletID.String(),
		CategoryId:  t.CategoryID.String(),
		Type:        Income,
		CreatedAt:   calendar.FormatTime(t.CreatedAt),
		UpdatedAt:   calendar.FormatTime(t.UpdatedAt),
	}
	if t.AmountMinor < 0 {
		m.Type = Expense
	}
	if t.ReceiptID != nil {
		m.ReceiptId = new(t.ReceiptID.String())
	}
	return m
}

// Protos returns ts as the API shows them, in the same order.
func Protos(ts []Transaction) []*ledgerv1.Transaction {
	out := make([]*ledgerv1.Transaction, len(ts))
	for i, t := range ts {
		out[i] = t.Proto()
	}
	return out
}
