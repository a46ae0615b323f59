package ledger

import (
	"math"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/idem"
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
