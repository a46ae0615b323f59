package reconciliations

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// statementOf returns a request for the statement of a wallet on fixture.Today.
func statementOf(wallet uuid.UUID, balance string) *ledgerv1.ReconcileWalletRequest {
	return &ledgerv1.ReconcileWalletRequest{
		WalletId: wallet.String(), Date: "2026-03-15", Balance: balance,
	}
}

// books are the transactions of a user: a cleared one, another one that is not, a cleared one of a
// later day, and a cleared transfer.
type books struct {
	*server
	fixture.User
	other                     uuid.UUID
	cleared, uncleared, later posting.Transaction
	out, in                   posting.Transaction
}

func newBooks(t *testing.T, s *server) books {
	t.Helper()
	u := s.NewUser(t.Context(), t)
	other := s.MakeWallet(u.Ctx, t, "Other", "EUR")
	transfer := s.NewID()
	of := func(amount int64, days int, cleared bool) posting.Transaction {
		return posting.Transaction{
			WalletID: u.Wallet, CategoryID: &u.Category, AmountMinor: amount, Currency: "EUR",
			Date: fixture.Today.AddDate(0, 0, days), Cleared: cleared,
		}
	}
	ts := []posting.Transaction{
		of(-300, 0, true), of(-40, 0, false), of(-5, 1, true),
		{
			WalletID: u.Wallet, AmountMinor: -1000, Currency: "EUR", Date: fixture.Today,
			TransferID: &transfer, Cleared: true,
		},
		{
			WalletID: other, AmountMinor: 1000, Currency: "EUR", Date: fixture.Today,
			TransferID: &transfer,
		},
	}
	s.Record(u.Ctx, t, ts...)
	return books{s, u, other, ts[0], ts[1], ts[2], ts[3], ts[4]}
}

// reconciled returns books that are reconciled.
func reconciled(t *testing.T, s *server) (books, *ledgerv1.Reconciliation) {
	t.Helper()
	b := newBooks(t, s)
	resp, err := s.ReconcileWallet(b.Ctx, statementOf(b.Wallet, "-13.00"))
	require.NoError(t, err)
	return b, resp.GetReconciliation()
}

func (b books) isLocked(t *testing.T, of posting.Transaction) bool {
	t.Helper()
	resp, err := b.GetTransaction(b.Ctx, &ledgerv1.GetTransactionRequest{Id: of.ID.String()})
	require.NoError(t, err)
	return resp.GetTransaction().GetReconciled()
}

func (b books) history(t *testing.T) []*ledgerv1.Reconciliation {
	t.Helper()
	resp, err := b.ListReconciliations(b.Ctx,
		&ledgerv1.ListReconciliationsRequest{WalletId: b.Wallet.String()})
	require.NoError(t, err)
	return resp.GetReconciliations()
}

func TestReconcileWallet(t *testing.T) {
	t.Parallel()
	s := setup(t)
	t.Run("locks the cleared transactions up to the day", func(t *testing.T) {
		t.Parallel()
		b, reconciliation := reconciled(t, s)
		require.EqualValues(t, 2, reconciliation.GetLocked())
		require.False(t, reconciliation.GetDiffers())
		require.Equal(t, []bool{true, true, false, false, false}, []bool{
			b.isLocked(t, b.cleared), b.isLocked(t, b.out), b.isLocked(t, b.in),
			b.isLocked(t, b.uncleared), b.isLocked(t, b.later),
		})
		require.Len(t, b.history(t), 1)
		_, err := s.ReconcileWallet(b.Ctx, &ledgerv1.ReconcileWalletRequest{
			WalletId: b.Wallet.String(), Date: "2026-03-16", Balance: "-13.05",
		})
		require.NoError(t, err)
		require.True(t, b.isLocked(t, b.later))
		require.Equal(t, "2026-03-16", b.history(t)[0].GetDate())
	})
	t.Run("another balance changes nothing", func(t *testing.T) {
		t.Parallel()
		b := newBooks(t, s)
		_, err := s.ReconcileWallet(b.Ctx, statementOf(b.Wallet, "-12"))
		e := fixture.RequireReason(t, err, codes.FailedPrecondition, "BALANCE_DIFFERS")
		require.Equal(t, []apierr.Field{
			{Name: "expected", Message: "-12.00"},
			{Name: "actual", Message: "-13.00"},
			{Name: "difference", Message: "1.00"},
		}, e.Fields)
		require.Empty(t, b.history(t))
		require.False(t, b.isLocked(t, b.cleared))
	})
	t.Run("adjusts the difference", func(t *testing.T) {
		t.Parallel()
		b := newBooks(t, s)
		req := statementOf(b.Wallet, "-12")
		req.Adjust = true
		resp, err := s.ReconcileWallet(b.Ctx, req)
		require.NoError(t, err)
		require.EqualValues(t, 3, resp.GetReconciliation().GetLocked())
		list, err := s.ListTransactions(b.Ctx,
			&ledgerv1.ListTransactionsRequest{Type: new(posting.Adjustment)})
		require.NoError(t, err)
		adjustment := list.GetTransactions()[0]
		require.Equal(t, "1.00", adjustment.GetAmount())
		require.True(t, adjustment.GetCleared())
		require.True(t, adjustment.GetReconciled())
	})
	t.Run("the opening balance counts from its day on", func(t *testing.T) {
		t.Parallel()
		b := newBooks(t, s)
		_, err := s.UpdateWallet(b.Ctx, &ledgerv1.UpdateWalletRequest{
			Id: b.Wallet.String(), InitialBalance: new("100"), OpeningDate: new("2026-03-16"),
		})
		require.NoError(t, err)
		_, err = s.ReconcileWallet(b.Ctx, statementOf(b.Wallet, "-13"))
		require.NoError(t, err)
		_, err = s.UpdateWallet(b.Ctx, &ledgerv1.UpdateWalletRequest{
			Id: b.Wallet.String(), OpeningDate: new("2026-03-15"),
		})
		require.NoError(t, err)
		_, err = s.ReconcileWallet(b.Ctx, statementOf(b.Wallet, "87"))
		require.NoError(t, err)
	})
	t.Run("rejects another user's wallet and invalid fields", func(t *testing.T) {
		t.Parallel()
		b, stranger := newBooks(t, s), s.NewUser(t.Context(), t)
		_, err := s.ReconcileWallet(stranger.Ctx, statementOf(b.Wallet, "1"))
		fixture.RequireReason(t, err, codes.NotFound, "WALLET_NOT_FOUND")
		_, err = s.ListReconciliations(stranger.Ctx,
			&ledgerv1.ListReconciliationsRequest{WalletId: b.Wallet.String()})
		fixture.RequireReason(t, err, codes.NotFound, "WALLET_NOT_FOUND")
		_, err = s.ReconcileWallet(b.Ctx, &ledgerv1.ReconcileWalletRequest{
			WalletId: b.Wallet.String(), Date: "yesterday", Balance: "x",
		})
		e := fixture.RequireReason(t, err, codes.InvalidArgument, "VALIDATION_ERROR")
		require.Equal(t, []string{"balance", "date"}, fixture.FieldNames(e))
	})
	t.Run("limit", func(t *testing.T) {
		t.Parallel()
		b, _ := reconciled(t, s)
		_, err := s.DB.Exec(t.Context(), `
			INSERT INTO reconciliations (owner_id, id, wallet_id, currency, date, balance_minor,
				locked, created_at)
			SELECT owner_id, gen_random_uuid(), wallet_id, currency, date, balance_minor, 0, now()
			FROM reconciliations, generate_series(2, $1)
			WHERE owner_id = $2`, maxReconciliations, b.ID)
		require.NoError(t, err)
		_, err = s.ReconcileWallet(b.Ctx, statementOf(b.Wallet, "-13"))
		fixture.RequireReason(t, err, codes.AlreadyExists, "LIMIT_REACHED")
	})
}

func TestDeleteReconciliation(t *testing.T) {
	t.Parallel()
	s := setup(t)
	b, first := reconciled(t, s)
	later := statementOf(b.Wallet, "-13.05")
	later.Date = "2026-03-16"
	second, err := s.ReconcileWallet(b.Ctx, later)
	require.NoError(t, err)
	inYen := statementOf(b.Wallet, "0")
	inYen.Currency = new("JPY")
	_, err = s.ReconcileWallet(b.Ctx, inYen)
	require.NoError(t, err)
	remove := func(wallet uuid.UUID, id string) error {
		_, err := s.DeleteReconciliation(b.Ctx, &ledgerv1.DeleteReconciliationRequest{
			WalletId: wallet.String(), ReconciliationId: id,
		})
		return err
	}
	fixture.RequireReason(t, remove(b.Wallet, first.GetId()), codes.FailedPrecondition,
		"RECONCILIATION_NOT_LATEST")
	fixture.RequireReason(t, remove(b.other, second.GetReconciliation().GetId()), codes.NotFound,
		"RECONCILIATION_NOT_FOUND")
	fixture.RequireReason(t, remove(b.Wallet, "x"), codes.InvalidArgument,
		"RECONCILIATION_NOT_FOUND")
	require.NoError(t, remove(b.Wallet, second.GetReconciliation().GetId()))
	require.False(t, b.isLocked(t, b.later))
	require.True(t, b.isLocked(t, b.cleared))
	require.NoError(t, remove(b.Wallet, first.GetId()))
	require.False(t, b.isLocked(t, b.cleared))
	require.Len(t, b.history(t), 1)
	_, err = s.DeleteTransaction(b.Ctx,
		&ledgerv1.DeleteTransactionRequest{Id: b.cleared.ID.String()})
	require.NoError(t, err)
}

// TestDeleteWalletWithReconciliations deletes a reconciled wallet after its transactions. The
// reconciliation of another wallet stays.
func TestDeleteWalletWithReconciliations(t *testing.T) {
	t.Parallel()
	s := setup(t)
	b, _ := reconciled(t, s)
	_, err := s.ReconcileWallet(b.Ctx, statementOf(b.other, "0"))
	require.NoError(t, err)
	remove := func() error {
		_, err := s.DeleteWallet(b.Ctx, &ledgerv1.DeleteWalletRequest{Id: b.Wallet.String()})
		return err
	}
	s.RequireRejected(t, codes.FailedPrecondition, "WALLET_IN_USE", remove)
	var ids []string
	for _, transaction := range []posting.Transaction{b.cleared, b.uncleared, b.later, b.out} {
		ids = append(ids, transaction.ID.String())
	}
	_, err = s.DeleteTransactions(b.Ctx,
		&ledgerv1.DeleteTransactionsRequest{Ids: ids, Unlock: true})
	require.NoError(t, err)
	require.NoError(t, remove())
	left := pgtest.Value[string](t, s.DB,
		`SELECT string_agg(wallet_id::text, ' ') FROM reconciliations`)
	require.Equal(t, b.other.String(), left)
	s.RequireConsistent(t)
}

func TestListReconciliations(t *testing.T) {
	t.Parallel()
	s := setup(t)
	b, _ := reconciled(t, s)
	for range 2 {
		_, err := s.ReconcileWallet(b.Ctx, statementOf(b.Wallet, "-13"))
		require.NoError(t, err)
	}
	req := &ledgerv1.ListReconciliationsRequest{
		WalletId: b.Wallet.String(), Limit: new(int32(2)),
	}
	first, err := s.ListReconciliations(b.Ctx, req)
	require.NoError(t, err)
	require.Len(t, first.GetReconciliations(), 2)
	req.Cursor = first.GetPagination().GetNextCursor()
	second, err := s.ListReconciliations(b.Ctx, req)
	require.NoError(t, err)
	require.Len(t, second.GetReconciliations(), 1)
	require.EqualValues(t, 2, second.GetReconciliations()[0].GetLocked())
}

func TestGetWalletCleared(t *testing.T) {
	t.Parallel()
	s := setup(t)
	b := newBooks(t, s)
	s.Record(b.Ctx, t, posting.Transaction{
		WalletID: b.Wallet, CategoryID: &b.Category, AmountMinor: -7, Currency: "JPY",
		Date: fixture.Today,
	})
	get := func(to *string) []*ledgerv1.ClearedBalance {
		resp, err := s.GetWallet(b.Ctx, &ledgerv1.GetWalletRequest{
			Id: b.Wallet.String(), Include: []string{"cleared"}, To: to,
		})
		require.NoError(t, err)
		return resp.GetCleared()
	}
	all := get(nil)
	require.Len(t, all, 2)
	require.Equal(t, []string{"EUR", "-13.05", "-0.40"}, []string{
		all[0].GetCurrency(), all[0].GetBalance(), all[0].GetUncleared().GetAmount(),
	})
	require.EqualValues(t, 1, all[0].GetUncleared().GetCount())
	require.Equal(t, []string{"JPY", "0", "-7"}, []string{
		all[1].GetCurrency(), all[1].GetBalance(), all[1].GetUncleared().GetAmount(),
	})
	require.Equal(t, "-13.00", get(new("2026-03-15"))[0].GetBalance())
	require.Equal(t, "0.00", get(new("2026-03-01"))[0].GetBalance())
	_, err := s.GetWallet(b.Ctx, &ledgerv1.GetWalletRequest{
		Id: b.Wallet.String(), Include: []string{"x"}, To: new("y"),
	})
	e := fixture.RequireReason(t, err, codes.InvalidArgument, "VALIDATION_ERROR")
	require.Equal(t, []string{"include", "to"}, fixture.FieldNames(e))
}
