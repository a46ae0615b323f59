package imports

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/reconciliations"
)

// isCleared reports whether the bank has booked the transaction of a row.
func (p person) isCleared(t testing.TB, id string) bool {
	t.Helper()
	return p.Transaction(t, uuid.MustParse(id)).Cleared
}

func TestCommitImportClears(t *testing.T) {
	t.Parallel()
	s := setup(t)
	t.Run("booked rows, and pending ones when they are booked", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		m, pending := p.reserved(t)
		require.True(t, p.isCleared(t, p.rows(t, m)[0].GetTransactionId()))
		require.False(t, pending.Cleared)
		booked := p.commit(t, p.mustUpload(t,
			statusHeading+"2026-02-06,Shell Hamburg,-41.00,EUR,Completed\n"))
		require.True(t, p.isCleared(t, pending.ID.String()))
		p.undo(t, booked, false)
		require.False(t, p.isCleared(t, pending.ID.String()))
	})
	t.Run("matched transactions until the undo", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		p := newPerson(t, s)
		entered := []posting.Transaction{
			{
				WalletID: p.Wallet, CategoryID: &p.Category, AmountMinor: -350, Currency: "EUR",
				Payee: "Bakery", Date: fixture.Today,
			},
			{
				WalletID: p.Wallet, CategoryID: &p.Category, AmountMinor: -990, Currency: "EUR",
				Payee: "Cinema", Date: fixture.Today, Cleared: true,
			},
		}
		p.Record(p.Ctx, t, entered...)
		before := s.stored(t)
		m := p.mustUpload(t, "Date,Payee,Amount,Currency\n"+
			"2026-03-15,Bakery,-3.50,EUR\n2026-03-15,Cinema,-9.90,EUR\n")
		require.EqualValues(t, 2, m.GetCounts().GetMatched())
		m = p.commit(t, m)
		for _, e := range entered {
			require.True(t, p.isCleared(t, e.ID.String()))
		}
		p.undo(t, m, false)
		require.Equal(t, before, s.stored(t))
	})
	t.Run("no leg without a row", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		other := p.MakeWallet(p.Ctx, t, "Savings", "EUR")
		m := p.mustUpload(t, "Date,Payee,Amount,Currency\n2026-02-03,Me,-3.50,EUR\n")
		_, err := p.UpdateImportRows(p.Ctx, &ledgerv1.UpdateImportRowsRequest{
			Id: m.GetId(), Rows: []*rowChange{
				{N: p.rows(t, m)[0].GetN(), TransferWalletId: new(other.String())},
			},
		})
		require.NoError(t, err)
		m = p.commit(t, p.get(t, m))
		leg := p.Transaction(t, uuid.MustParse(p.rows(t, m)[0].GetTransactionId()))
		require.True(t, leg.Cleared)
		require.False(t, pgtest.Value[bool](t, s.DB,
			`SELECT cleared FROM transactions WHERE wallet_id = $1`, other))
	})
}

// TestUndoImportReconciled keeps and counts the transactions that a reconciliation locks, also if
// the undo is forced, and the state of matched ones.
func TestUndoImportReconciled(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	entered := posting.Transaction{
		WalletID: p.Wallet, CategoryID: &p.Category, AmountMinor: -85000, Currency: "EUR",
		Payee: "Landlord", Date: time.Date(2026, 2, 28, 0, 0, 0, 0, time.UTC),
	}
	p.Record(p.Ctx, t, entered)
	m := p.commit(t, p.mustUpload(t, statementFile))
	require.EqualValues(t, 3, m.GetCounts().GetBooked())
	server := &reconciliations.Reconciliations{Ledger: s.Service.Ledger, Cursors: s.Service.Cursors}
	_, err := server.ReconcileWallet(p.Ctx, &ledgerv1.ReconcileWalletRequest{
		WalletId: p.Wallet.String(), Date: "2026-02-10", Balance: "-7",
	})
	require.NoError(t, err)
	_, err = server.ReconcileWallet(p.Ctx, &ledgerv1.ReconcileWalletRequest{
		WalletId: p.Wallet.String(), Date: "2026-02-28", Balance: "1643",
	})
	require.NoError(t, err)
	pgtest.Exec(t, s.DB, `
		UPDATE transactions
		SET reconciliation_id = NULL
		WHERE owner_id = $1 AND amount_minor > 0`, p.ID)
	pgtest.Exec(t, s.DB, `UPDATE reconciliations SET differs = true WHERE owner_id = $1`, p.ID)
	m = p.undo(t, m, true)
	require.EqualValues(t, 2, m.GetCounts().GetSkipped())
	require.EqualValues(t, 1, m.GetCounts().GetUndone())
	kept := p.rows(t, m)[0]
	require.Equal(t, "the transaction is reconciled", kept.GetProblem())
	require.Equal(t, staging.Skipped, kept.GetStatus())
	require.Equal(t, 3, pgtest.Value[int](t, s.DB, `
		SELECT count(*) FROM transactions WHERE owner_id = $1 AND reconciliation_id IS NOT NULL`,
		p.ID))
	s.RequireConsistent(t)
}

// TestCommitImportReplacesReconciled requires that a booked row replaces a pending payment that is
// reconciled only if the amount is equal, and that the day stays.
func TestCommitImportReplacesReconciled(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	_, pending := p.reserved(t)
	pgtest.Exec(t, s.DB, `UPDATE transactions SET cleared = true WHERE id = $1`, pending.ID)
	server := &reconciliations.Reconciliations{Ledger: s.Service.Ledger, Cursors: s.Service.Cursors}
	_, err := server.ReconcileWallet(p.Ctx, &ledgerv1.ReconcileWalletRequest{
		WalletId: p.Wallet.String(), Date: "2026-02-28", Balance: "-43.5",
	})
	require.NoError(t, err)
	m := p.commit(t, p.mustUpload(t,
		statusHeading+"2026-02-06,Shell Hamburg,-40.00,EUR,Completed\n"))
	kept := p.Transaction(t, pending.ID)
	require.Equal(t, pending.Date, kept.Date)
	require.NotNil(t, kept.ReconciliationID)
	p.undo(t, m, false)
	require.True(t, p.isCleared(t, pending.ID.String()))
	p.commit(t, p.mustUpload(t, statusHeading+"2026-02-07,Shell Hamburg,-41.00,EUR,Completed\n"))
	require.EqualValues(t, -4000, p.Transaction(t, pending.ID).AmountMinor)
	s.RequireConsistent(t)
}

// TestCommitImportAdjustments imports the adjustments and the cleared transactions of Coffer's own
// export. No rule and no default changes them, and a choice of the user makes another transaction
// of an adjustment.
func TestCommitImportAdjustments(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	const file = `{"wallet":{"id":"w1","name":"House","currency":"EUR","balance":0,` +
		`"initialBalance":0,"kind":"asset"}}
{"transaction":{"id":"t1","amount":5.00,"currency":"EUR","type":"adjustment","cleared":true,` +
		`"date":"2026-02-01T10:00:00.000Z","walletId":"w1"}}
{"transaction":{"id":"t2","amount":7.00,"currency":"EUR","type":"adjustment","cleared":false,` +
		`"date":"2026-02-02T10:00:00.000Z","walletId":"w1"}}
`
	m := p.uploadExport(t, file)
	require.True(t, p.rows(t, m)[0].GetAdjustment())
	resp, err := p.UpdateImportRows(p.Ctx, &ledgerv1.UpdateImportRowsRequest{
		Id: m.GetId(), Rows: []*rowChange{{N: 2, CategoryId: new(p.Category.String())}},
	})
	require.NoError(t, err)
	require.False(t, resp.GetRows()[0].GetAdjustment())
	m = p.commit(t, resp.GetImport())
	rows := p.rows(t, m)
	adjustment := p.Transaction(t, uuid.MustParse(rows[0].GetTransactionId()))
	require.True(t, adjustment.Adjustment)
	require.True(t, adjustment.Cleared)
	require.Nil(t, adjustment.CategoryID)
	income := p.Transaction(t, uuid.MustParse(rows[1].GetTransactionId()))
	require.False(t, income.Adjustment)
	require.False(t, income.Cleared)
	require.True(t, income.HasCategory(p.Category))
	wallet, err := p.GetWallet(p.Ctx, &ledgerv1.GetWalletRequest{Id: adjustment.WalletID.String()})
	require.NoError(t, err)
	require.Equal(t, "asset", wallet.GetWallet().GetKind())
	s.RequireConsistent(t)
	p.undo(t, m, false)
	s.RequireConsistent(t)
}
