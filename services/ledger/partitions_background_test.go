package ledger

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/jobs"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/accounts"
	"github.com/coffer-budget/coffer/services/ledger/attachments"
	"github.com/coffer-budget/coffer/services/ledger/files"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
	"github.com/coffer-budget/coffer/services/ledger/rules"
	"github.com/coffer-budget/coffer/services/ledger/sync"
	"github.com/coffer-budget/coffer/services/ledger/verify"
)

// runInBackground runs what requests and jobs do not, and requests with idempotency keys.
func (s *isolated) runInBackground(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	user := s.env.NewUser(ctx, t)
	for range 2 {
		_, err := s.CreateWallet(user.Ctx, &ledgerv1.CreateWalletRequest{
			Name: "Repeated", Currency: "EUR", IdempotencyKey: "a key",
		})
		require.NoError(t, err)
		req := user.Spends("1")
		req.IdempotencyKey = "another key"
		user.Create(t, req)
	}
	s.endLeases(t)
	_, err := s.db.Exec(ctx,
		`UPDATE idempotency_keys SET created_at = now() - interval '25 hours' WHERE owner_id = $1`,
		user.ID)
	require.NoError(t, err)
	require.NoError(t, idem.ExpireOwned(ctx, s.db))
	_, err = s.db.Exec(ctx, `
		INSERT INTO attachments (owner_id, id, transaction_id, status, name, created_at)
		SELECT owner_id, gen_random_uuid(), transaction_id, 'uploading', name, created_at
		FROM attachments
		WHERE owner_id = $1`, s.user.ID)
	require.NoError(t, err)
	// In a year everything has expired.
	later := time.Now().AddDate(1, 0, 0)
	require.NoError(t, accounts.ExpireReferences(ctx, s.db, later))
	require.NoError(t, staging.Expire(ctx, s.db, later))
	require.NoError(t, rules.Expire(ctx, s.db, later))
	require.NoError(t, sync.Sweep(ctx, s.db, later))
	require.NoError(t, attachments.Expire(ctx, s.db, later))
	store, err := files.Open("s3://127.0.0.1:1/none?http=true", slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.ErrorIs(t, store.Sweep(ctx, s.db, later), apierr.Unavailable)
	_, err = verify.RepairOwner(ctx, s.db, s.user.ID)
	require.NoError(t, err)
	s.eraseUser(t)
}

// endLeases ends leases of a job as if imports in preview were waiting jobs.
func (s *isolated) endLeases(t *testing.T) {
	t.Helper()
	table := jobs.Table{
		Name: "imports", ID: "id", Unfinished: "status = 'preview'", QueuedAt: "updated_at",
		Remaining: "0",
	}
	j := jobs.Job{OwnerID: s.user.ID, ID: s.env.NewID(), Lease: s.env.NewID()}
	yielded, err := table.Yield(t.Context(), s.db, j)
	require.NoError(t, err)
	require.False(t, yielded, "the job does not exist")
	require.NoError(t, table.Release(t.Context(), s.db, j, 0))
}
