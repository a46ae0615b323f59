package imports

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

// enterReceipt stores the transactions of a receipt of 9 February 2026.
func (p person) enterReceipt(t *testing.T, amounts ...int64) []posting.Transaction {
	t.Helper()
	receipt := p.NewID()
	pgtest.Exec(t, p.DB, `
		INSERT INTO receipts (id, owner_id, file_sha256, content, created_at) VALUES ($1, $2,
			'\x00', '\x00', now())`,
		receipt, p.ID)
	var ts []posting.Transaction
	for _, amount := range amounts {
		ts = append(ts, posting.Transaction{
			WalletID: p.Wallet, CategoryID: &p.Category, AmountMinor: amount, Currency: "EUR",
			Date: time.Date(2026, 2, 9, 18, 0, 0, 0, time.UTC), ReceiptID: &receipt,
			Payee: "Corner Market", Description: "Milk",
		})
	}
	p.Record(p.Ctx, t, ts...)
	return ts
}

func TestCreateImportMatchesReceipts(t *testing.T) {
	t.Parallel()
	s := setup(t)
	const file = "Date;Payee;Description;Amount;Currency\n10.02.2026;CORNER MARKET 12;Card payment;-10,00;EUR\n10.02.2026;Kiosk;News;-7,00;EUR\n"
	externalID := func(t *testing.T, id uuid.UUID) *string {
		t.Helper()
		return s.Transaction(t, id).ExternalID
	}
	t.Run("by their total", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		parts := p.enterReceipt(t, -700, -300)
		m := p.commit(t, p.confirm(t, p.mustUpload(t, file), "DATE_ORDER_ASSUMED"))
		require.EqualValues(t, 1, m.GetCounts().GetMatched())
		require.EqualValues(t, 1, m.GetCounts().GetBooked(),
			"a part of a receipt that matches by its total matches no other row")
		require.Equal(t, "-17.00", p.balance(t))
		require.NotNil(t, externalID(t, parts[0].ID))
		require.Nil(t, externalID(t, parts[1].ID))
		again := p.mustUpload(t, file)
		require.EqualValues(t, 2, again.GetCounts().GetDuplicate())
		p.undo(t, m, false)
		require.Nil(t, externalID(t, parts[0].ID))
		require.Equal(t, "-10.00", p.balance(t))
	})
	t.Run("only as a whole", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		parts := p.enterReceipt(t, -700, -300)
		pgtest.Exec(t, s.DB, `UPDATE transactions SET external_id = 'x' WHERE id = $1`,
			parts[1].ID)
		require.Zero(t, p.mustUpload(t, file).GetCounts().GetMatched())
	})
}

func TestCommitImportWithoutTheMatchedTransaction(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	entered := p.enter(t, "-850", "Landlord rent", 27)
	resp, err := p.upload(&ledgerv1.CreateImportRequest{WalletId: p.Wallet.String()},
		"Date;Payee;Description;Amount;Currency\n28.02.2026;Landlord;Rent;-850,00;EUR\n")
	require.NoError(t, err)
	m := resp.GetImport()
	require.EqualValues(t, 1, m.GetCounts().GetMatched())
	pgtest.Exec(t, s.DB, `
		WITH total AS (DELETE FROM monthly_totals WHERE owner_id = $2),
			balance AS (UPDATE wallet_balances SET amount_minor = 0 WHERE owner_id = $2)
		DELETE FROM transactions WHERE id = $1`, entered, p.ID)
	m = p.commit(t, m)
	require.Equal(t, staging.Failed, m.GetStatus())
	require.Equal(t, request.ErrCategoryNotFound.Reason, m.GetProgress().GetProblem())
	_, err = p.UpdateImport(p.Ctx, &ledgerv1.UpdateImportRequest{
		Id: m.GetId(), Defaults: &ledgerv1.ImportDefaultsChange{
			WalletId: new(p.Wallet.String()), ExpenseCategoryId: new(p.Category.String()),
		},
	})
	require.NoError(t, err)
	m = p.commit(t, m)
	require.Equal(t, staging.Done, m.GetStatus())
	require.EqualValues(t, 1, m.GetCounts().GetBooked())
	require.Equal(t, "-850.00", p.balance(t))
	s.RequireConsistent(t)
}

// TestCreateImportPossibleDuplicate uploads a payment of the day and the amount of another one. It
// is booked unless the user says that both are the same.
func TestCreateImportPossibleDuplicate(t *testing.T) {
	t.Parallel()
	s := setup(t)
	const file = "Date;Payee;Amount;Currency\n09.02.2026;Disney Plus;-9,99;EUR\n"
	for name, same := range map[string]bool{"books it": false, "matches it on request": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t, s)
			netflix := p.enter(t, "-9.99", "Netflix", 9)
			m := p.confirm(t, p.mustUpload(t, file), "DATE_ORDER_ASSUMED")
			row := p.rows(t, m)[0]
			require.Equal(t, staging.Ready, row.GetStatus())
			require.Equal(t, netflix.String(), row.GetPossibleDuplicateOf())
			require.Empty(t, row.GetDuplicateOf())
			if same {
				p.change(t, m, &rowChange{N: row.GetN(), Action: new("match:" + netflix.String())})
			}
			m = p.commit(t, m)
			row = p.rows(t, m)[0]
			require.Empty(t, row.GetPossibleDuplicateOf())
			if same {
				require.Equal(t, "-9.99", p.balance(t))
				require.Equal(t, netflix.String(), row.GetDuplicateOf())
			} else {
				require.Equal(t, "-19.98", p.balance(t))
				require.Empty(t, row.GetDuplicateOf())
			}
			p.undo(t, m, false)
			require.Equal(t, "-9.99", p.balance(t))
		})
	}
}
