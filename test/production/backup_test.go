package production

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/devstack"
	"github.com/coffer-budget/coffer/internal/outbox"
)

// durableConfig returns a configuration whose data remain when the stack stops.
func durableConfig(t *testing.T) devstack.Config {
	t.Helper()
	//nolint:usetesting // t.TempDir is closed to the account that runs Postgres for root
	dir, err := os.MkdirTemp("", "coffer-backup-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o711))
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	const free = "127.0.0.1:0"
	return devstack.Config{
		DataDir: filepath.Join(dir, "data"), HTTPAddr: free, AuthAddr: free, LedgerAddr: free,
		BudgetAddr: free, OCRAddr: free, NATSAddr: free,
		Environment: map[string]string{"RATE_LIMIT": "0"},
	}
}

// TestRestoreBackup dumps the database of a busy stack and restores it into two new stacks. One has
// the data of NATS, newer than the database, and the other has an empty NATS.
func TestRestoreBackup(t *testing.T) {
	t.Parallel()
	before := durableConfig(t)
	lost, err := devstack.Start(t.Context(), before)
	require.NoError(t, err)
	load := onlyGateway(t, lost).load()
	require.Eventually(t, func() bool { return min(load.earned.Load(), load.spent.Load()) > 5 },
		time.Minute, 10*time.Millisecond)
	atLeast := load.earned.Load()
	backup := filepath.Join(t.TempDir(), "backup")
	require.NoError(t, devstack.Backup(t.Context(), before, backup))
	// At any time, two further requests may be in flight.
	atMost := load.earned.Load() + 2
	load.stop()
	require.NoError(t, lost.Stop())

	for _, withNATSData := range []bool{true, false} {
		t.Run(fmt.Sprintf("with the data of NATS: %t", withNATSData), func(t *testing.T) {
			after := durableConfig(t)
			require.NoError(t, devstack.Restore(t.Context(), after, backup))
			require.ErrorContains(t, devstack.Restore(t.Context(), after, backup),
				"already contains data of Coffer")
			if withNATSData {
				require.NoError(t, os.CopyFS(filepath.Join(after.DataDir, "nats"),
					os.DirFS(filepath.Join(before.DataDir, "nats"))))
			}
			restored, err := devstack.Start(t.Context(), after)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, restored.Stop()) })

			// The token was issued before the backup. It is valid only if the signing keys were
			// restored and can be decrypted.
			user := *load.user
			user.cluster = onlyGateway(t, restored)
			require.NoError(t, user.readBudget())
			requireSumsAddUp(t, restored)
			created := scalar[int64](t, restored,
				`SELECT count(*) FROM ledger.transactions WHERE amount_minor > 0`)
			require.GreaterOrEqual(t, created, atLeast,
				"the backup has the writes that were acknowledged before it began")
			require.LessOrEqual(t, created, atMost)
			require.NoError(t, user.earn())
			requireSumsAddUp(t, restored)
			requireEachEventOnce(t, restored,
				outbox.Config{NATSURL: restored.NATS, NATSReplicas: 1})
		})
	}
}

// onlyGateway returns a cluster with the address of the stack's gateway, so that a load can use it.
func onlyGateway(t *testing.T, s *devstack.Stack) *cluster {
	t.Helper()
	at := netip.MustParseAddrPort(s.URL[len("http://"):])
	c := &cluster{
		t: t, stores: s, names: &names{known: map[string][]netip.Addr{}}, port: int(at.Port()),
	}
	c.names.add(name("gateway"), at.Addr())
	return c
}

// requireSumsAddUp compares the stored balances and monthly totals with the sums of the
// transactions.
func requireSumsAddUp(t *testing.T, running *devstack.Stack) {
	t.Helper()
	require.Zero(t, scalar[int64](t, running, `
		SELECT count(*)
		FROM (
			SELECT wallet_id, currency, sum(amount_minor) AS total
			FROM (
				SELECT wallet_id, currency, amount_minor FROM ledger.transactions
				UNION ALL SELECT id, currency, initial_minor FROM ledger.wallets
			) AS postings
			GROUP BY wallet_id, currency
		) AS recomputed FULL JOIN ledger.wallet_balances AS stored USING (wallet_id, currency)
		WHERE coalesce(recomputed.total, 0) <> coalesce(stored.amount_minor, 0)`),
		"balances differ from the sums of their transactions")
	require.Zero(t, scalar[int64](t, running, `
		SELECT count(*)
		FROM (
			SELECT date_trunc('month', date, 'UTC')::date AS month,
				wallet_id, category_id, currency, count(*) AS n, sum(amount_minor) AS total
			FROM ledger.transactions
			GROUP BY 1, 2, 3, 4
		) AS recomputed
		FULL JOIN ledger.monthly_totals AS stored USING (month, wallet_id, category_id, currency)
		WHERE coalesce(recomputed.n, 0) <> coalesce(stored.transaction_count, 0)
			OR coalesce(recomputed.total, 0)
				<> coalesce(stored.income_minor - stored.expense_minor, 0)`),
		"monthly totals differ from a recomputation")
}

// scalar returns the single value that a query selects.
func scalar[T any](t *testing.T, s *devstack.Stack, sql string, args ...any) T {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.Databases[""])
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	var value T
	require.NoError(t, conn.QueryRow(t.Context(), sql, args...).Scan(&value), sql)
	return value
}

// requireEachEventOnce waits until all events are published, and requires that no event is in the
// stream twice.
func requireEachEventOnce(t *testing.T, running *devstack.Stack, at outbox.Config) {
	t.Helper()
	bus, err := outbox.Connect(at, "test", slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(bus.Close)
	require.Eventually(t, func() bool {
		return scalar[int64](t, running, `SELECT count(*) FROM ledger.outbox`) == 0
	}, time.Minute, 100*time.Millisecond)
	var end uint64
	require.Eventually(t, func() bool { end, err = bus.End(t.Context()); return err == nil },
		time.Minute, 100*time.Millisecond, "the stream does not exist")
	require.NotZero(t, end)
	enough, seen := errors.New("enough"), map[uuid.UUID]bool{}
	err = bus.Follow(t.Context(), scalar[uuid.UUID](t, running, `SELECT id FROM auth.users`),
		0, func(e outbox.Received) error {
			if seen[e.ID] {
				return fmt.Errorf("event %s is in the stream twice", e.ID)
			}
			if seen[e.ID] = true; e.Sequence == end {
				return enough
			}
			return nil
		})
	require.ErrorIs(t, err, enough)
}
