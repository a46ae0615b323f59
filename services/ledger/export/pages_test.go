package export

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// TestExportTransactionsInPages exports more transactions than a statement reads. Many have the
// same date.
func TestExportTransactionsInPages(t *testing.T) {
	t.Parallel()
	srv, user := setup(t)
	ts := make([]posting.Transaction, 2*pageSize+1)
	for i := range ts {
		ts[i] = posting.Transaction{
			WalletID: user.Wallet, CategoryID: &user.Category, Currency: "EUR",
			AmountMinor: int64(i + 1), Date: fixture.Today.AddDate(0, 0, -i/3000),
		}
	}
	srv.Record(user.Ctx, t, ts...)
	rows := srv.table(user.Ctx, t, &wanted{})
	require.Len(t, rows, len(ts))
	ids := map[string]bool{}
	for i, row := range rows {
		ids[row[0]] = true
		if i > 0 {
			require.LessOrEqual(t, rows[i-1][1], row[1])
		}
	}
	require.Len(t, ids, len(ts))
}

// TestExportTransactionsOfASlowClient starts an export whose client stops receiving. Until the
// stream is canceled, the user cannot start another export, and other users can. The cancellation
// ends the query.
func TestExportTransactionsOfASlowClient(t *testing.T) {
	t.Parallel()
	srv, user := setup(t)
	user.Create(t, user.Spends("1"))
	ctx, cancel := context.WithCancel(user.Ctx)
	defer cancel()
	stopped := make(chan struct{})
	slow := &download{ctx: ctx, send: func() error {
		close(stopped)
		<-ctx.Done()
		return ctx.Err()
	}}
	result := make(chan error, 1)
	go func() { result <- srv.ExportTransactions(&wanted{Format: "csv"}, slow) }()
	select {
	case <-stopped:
	case err := <-result:
		require.NoError(t, err)
	}
	require.ErrorIs(t, srv.ExportTransactions(&wanted{Format: "json"}, &download{ctx: user.Ctx}),
		errExportRunning)
	other := srv.NewUser(t.Context(), t)
	require.Empty(t, srv.table(other.Ctx, t, &wanted{}))

	cancel()
	require.ErrorIs(t, <-result, context.Canceled)
	require.Eventually(t, func() bool {
		return srv.ExportTransactions(&wanted{Format: "csv"}, &download{ctx: user.Ctx}) == nil
	}, time.Minute, time.Millisecond)
}

// TestExportTransactionsIsASnapshot creates a transaction while an export runs. The export does not
// contain it.
func TestExportTransactionsIsASnapshot(t *testing.T) {
	t.Parallel()
	s, u := setup(t)
	u.Create(t, u.Spends("1"))
	d := &download{ctx: u.Ctx}
	during := &snapshotted{download: d, between: func() { u.Create(t, u.Spends("2")) }}
	require.NoError(t, s.ExportTransactions(&wanted{Format: "csv"}, during))
	require.Equal(t, 2, bytes.Count(d.file.Bytes(), []byte("\r\n")))
}

// snapshotted calls between when the header arrives. The export takes its snapshot before it sends
// the header.
type snapshotted struct {
	*download
	between func()
}

// Send receives a message.
func (d *snapshotted) Send(m *ledgerv1.ExportTransactionsResponse) error {
	if m.GetHeader() != nil {
		d.between()
	}
	return d.download.Send(m)
}

// TestExportTransactionsAtTheLimit rejects an export while the replica has its maximum.
func TestExportTransactionsAtTheLimit(t *testing.T) {
	t.Parallel()
	srv, user := setup(t)
	for range maxRunning {
		srv.running <- struct{}{}
	}
	require.ErrorIs(t, srv.ExportTransactions(&wanted{Format: "csv"}, &download{ctx: user.Ctx}),
		apierr.Unavailable)
	require.NoError(t, pgx.BeginFunc(t.Context(), srv.DB, func(tx pgx.Tx) error {
		locked, err := tryLock(t.Context(), tx, user.ID)
		require.NoError(t, err)
		require.True(t, locked)
		err = srv.ExportTransactions(&wanted{Format: "csv"}, &download{ctx: user.Ctx})
		require.ErrorIs(t, err, errExportRunning, "the user's own limit comes first")
		return nil
	}))
	<-srv.running
	require.Empty(t, srv.table(user.Ctx, t, &wanted{}))
}
