package ledger

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// TestMigrateIdempotencyRecords writes records before, between and after the migrations that give
// them an owner, also with the statements of the release before them, whose replicas run during an
// upgrade and after a rollback. Each release finds the records of the other one.
func TestMigrateIdempotencyRecords(t *testing.T) {
	t.Parallel()
	migrate, db := schemaBefore(t)
	owner := uuid.New()
	// A call with a scope runs the statements of a table without owners.
	earlier := func(key string) idem.Call { return idem.Call{Scope: owner.String(), Key: key} }
	current := func(key string) idem.Call { return idem.Call{Owner: owner, Key: key} }
	migrate(47)
	requireReplayed(t, db, earlier("before"), false)
	migrate(48)
	requireReplayed(t, db, earlier("between"), false)
	requireReplayed(t, db, current("current"), false)
	migrate(math.MaxInt)
	requireReplayed(t, db, earlier("after"), false)
	for _, key := range []string{"before", "between", "current", "after"} {
		requireReplayed(t, db, current(key), true)
		requireReplayed(t, db, earlier(key), true)
	}
}

// TestMigrateIdempotencyRecordsInBatches locks the last record of an owner while the migration sets
// the owners of earlier ones, so that requests that repeat these do not wait for all of them.
func TestMigrateIdempotencyRecordsInBatches(t *testing.T) {
	t.Parallel()
	migrate, db := schemaBefore(t)
	migrate(47)
	first, last := uuid.UUID{1}, uuid.UUID{2}
	for owner, records := range map[uuid.UUID]int{first: 2500, last: 1} {
		pgtest.Exec(t, db, `
			INSERT INTO idempotency_keys (scope, key_hash, request_mac)
			SELECT $1::uuid::text, sha256(n::text::bytea), ''
			FROM generate_series(1, $2::int) AS n`, owner, records)
	}
	migrate(48)
	tx, err := db.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	pgtest.Exec(t, tx,
		`SELECT FROM idempotency_keys WHERE scope = $1::uuid::text FOR UPDATE`, last)
	migrated := make(chan struct{})
	go func() {
		defer close(migrated)
		migrate(math.MaxInt)
	}()
	require.Eventually(t, func() bool {
		return pgtest.Value[int](t, db,
			`SELECT count(*) FROM idempotency_keys WHERE owner_id = $1`, first) >= 2000
	}, time.Minute, 10*time.Millisecond, "requests wait for all records")
	require.NoError(t, tx.Commit(t.Context()))
	<-migrated
	require.Zero(t, pgtest.Value[int](t, db,
		`SELECT count(*) FROM idempotency_keys WHERE owner_id IS DISTINCT FROM scope::uuid`))
}

// requireReplayed calls a write that is idempotent, and requires that it is, or is not, a repeat.
func requireReplayed(t *testing.T, db *pgxpool.Pool, call idem.Call, want bool) {
	t.Helper()
	call.Request = &ledgerv1.CreateCategoryRequest{Name: call.Key}
	resp := &ledgerv1.CreateCategoryResponse{Code: "first"}
	replayed, err := idem.InTx(t.Context(), db, call, resp, func(pgx.Tx) error { return nil })
	require.NoError(t, err)
	require.Equal(t, want, replayed, call.Key)
	require.Equal(t, "first", resp.GetCode())
}
