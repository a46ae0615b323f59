package idem

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

var schema = fstest.MapFS{"migrations/0001_idem.sql": {Data: []byte(`
	CREATE TABLE idempotency_keys (
		scope       text        NOT NULL,
		key_hash    bytea       NOT NULL,
		request_mac bytea       NOT NULL,
		response    bytea,
		created_at  timestamptz NOT NULL DEFAULT now(),
		CONSTRAINT idempotency_keys_pkey PRIMARY KEY (scope, key_hash)
	);
	CREATE TABLE written (name text NOT NULL);`)}}

// create inserts a name with an idempotency key, like an RPC method.
func create(
	ctx context.Context, pool *pgxpool.Pool, scope, key, name string,
) (*ledgerv1.CreateCategoryResponse, error) {
	req := &ledgerv1.CreateCategoryRequest{Name: name, IdempotencyKey: key}
	resp := &ledgerv1.CreateCategoryResponse{Category: &ledgerv1.Category{Id: name, Name: name}}
	call := Call{Scope: scope, Key: key, Request: req}
	replayed, err := InTx(ctx, pool, call, resp, func(tx pgx.Tx) error {
		if name == "refused" {
			return errors.New("refused")
		}
		_, err := tx.Exec(ctx, `INSERT INTO written VALUES ($1)`, name)
		return err
	})
	resp.Replayed = replayed
	return resp, err
}

func written(t *testing.T, pool *pgxpool.Pool) (n int) {
	t.Helper()
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM written`).Scan(&n))
	return n
}

func TestInTxReplaysFirstResponse(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, schema)
	first, err := create(t.Context(), pool, "ada", "k", "Food")
	require.NoError(t, err)
	require.False(t, first.GetReplayed())
	again, err := create(t.Context(), pool, "ada", "k", "Food")
	require.NoError(t, err)
	require.True(t, again.GetReplayed())
	require.True(t, proto.Equal(first.GetCategory(), again.GetCategory()))
	require.Equal(t, 1, written(t, pool))

	resp := &ledgerv1.CreateCategoryResponse{}
	call := Call{Scope: "ada", Key: "k", Request: &ledgerv1.CreateCategoryRequest{Name: "Food"}}
	found, err := Replay(t.Context(), pool, call, resp)
	require.NoError(t, err)
	require.True(t, found, "headers are no part of what was asked")
	require.True(t, proto.Equal(first.GetCategory(), resp.GetCategory()))
}

func TestInTxBindsKeyToScopeAndRequest(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, schema)
	_, err := create(t.Context(), pool, "ada", "k", "Food")
	require.NoError(t, err)
	_, err = create(t.Context(), pool, "ada", "k", "Fun")
	require.ErrorIs(t, err, apierr.IdempotencyKeyUsed)
	_, err = Replay(t.Context(), pool,
		Call{Scope: "ada", Key: "k", Request: &ledgerv1.CreateWalletRequest{Name: "Food"}},
		&ledgerv1.CreateWalletResponse{})
	require.ErrorIs(t, err, apierr.IdempotencyKeyUsed)
	require.Equal(t, 1, written(t, pool))
	for _, other := range [][2]string{{"grace", "k"}, {"ada", "l"}, {"ada", ""}, {"ada", ""}} {
		resp, err := create(t.Context(), pool, other[0], other[1], "Fun")
		require.NoError(t, err)
		require.False(t, resp.GetReplayed())
	}
	require.Equal(t, 5, written(t, pool))
}

func TestInTxDiscardsRecordOfFailedCall(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, schema)
	_, err := create(t.Context(), pool, "ada", "k", "refused")
	require.EqualError(t, err, "refused")
	resp, err := create(t.Context(), pool, "ada", "k", "Food")
	require.NoError(t, err)
	require.False(t, resp.GetReplayed())
}

func TestInTxRunsOneOfSimultaneousCalls(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, schema)
	var acted atomic.Int32
	var calling sync.WaitGroup
	for range 8 {
		calling.Go(func() {
			resp, err := create(t.Context(), pool, "ada", "k", "Food")
			if err != nil {
				t.Error(err)
			}
			if !resp.GetReplayed() {
				acted.Add(1)
			}
		})
	}
	calling.Wait()
	require.EqualValues(t, 1, acted.Load())
	require.Equal(t, 1, written(t, pool))
}

func TestInTxRejectsInvalidKey(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, schema)
	for _, key := range []string{strings.Repeat("k", 256), "a\nb", "é", "\x7f"} {
		_, err := create(t.Context(), pool, "ada", key, "Food")
		require.ErrorIs(t, err, apierr.IdempotencyKey)
		_, err = Replay(t.Context(), pool, Call{Scope: "ada", Key: key}, nil)
		require.ErrorIs(t, err, apierr.IdempotencyKey)
	}
	_, err := create(t.Context(), pool, "ada", strings.Repeat("k", 255), "Food")
	require.NoError(t, err)
}

func TestInTxStoresNeitherKeyNorPlainResponse(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, schema)
	_, err := create(t.Context(), pool, "ada", "a very long key", "a secret answer")
	require.NoError(t, err)
	row := pgtest.Value[[]byte](t, pool,
		`SELECT key_hash || request_mac || response FROM idempotency_keys`)
	require.False(t,
		bytes.Contains(row, []byte("secret")) || bytes.Contains(row, []byte("long key")))
}

func TestInTxExpiresKeyAfter24Hours(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, schema)
	for _, scope := range []string{"ada", "grace"} {
		_, err := create(t.Context(), pool, scope, "k", "Food")
		require.NoError(t, err)
	}
	pgtest.Exec(t, pool, `
		UPDATE idempotency_keys
		SET created_at = now() - interval '24 hours 1 second' WHERE scope = 'ada'`)
	found, err := Replay(t.Context(), pool,
		Call{Scope: "ada", Key: "k", Request: &ledgerv1.CreateCategoryRequest{Name: "Food"}},
		&ledgerv1.CreateCategoryResponse{})
	require.NoError(t, err)
	require.False(t, found)
	resp, err := create(t.Context(), pool, "ada", "k", "Fun")
	require.NoError(t, err)
	require.False(t, resp.GetReplayed())

	pgtest.Exec(t, pool,
		`UPDATE idempotency_keys SET created_at = now() - interval '25 hours' WHERE scope = 'ada'`)
	require.NoError(t, Expire(t.Context(), pool))
	left := pgtest.Value[int](t, pool, `SELECT count(*) FROM idempotency_keys`)
	require.Equal(t, 1, left)
}

// TestInTxOfOwner runs calls on a table with owners, with the primary key that it has in one
// database, and with the key of a distributed database.
func TestInTxOfOwner(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]string{"by scope": "scope", "by owner": "owner_id"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := pgtest.New(t, schema)
			_, err := pool.Exec(t.Context(), `
				ALTER TABLE idempotency_keys ADD COLUMN owner_id uuid,
					DROP CONSTRAINT idempotency_keys_pkey,
					ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (`+key+`, key_hash)`)
			require.NoError(t, err)
			ada, grace := uuid.New(), uuid.New()
			write := func(owner uuid.UUID, name string) (bool, error) {
				req := &ledgerv1.CreateCategoryRequest{Name: name}
				resp := &ledgerv1.CreateCategoryResponse{Code: name}
				call := Call{Owner: owner, Key: "k", Request: req}
				written := func(pgx.Tx) error { return nil }
				replayed, err := InTx(t.Context(), pool, call, resp, written)
				if err == nil {
					require.Equal(t, name, resp.GetCode())
				}
				return replayed, err
			}
			for _, owner := range []uuid.UUID{ada, grace} {
				for _, want := range []bool{false, true} {
					replayed, err := write(owner, "Food")
					require.NoError(t, err)
					require.Equal(t, want, replayed)
				}
			}
			_, err = write(ada, "Fun")
			require.ErrorIs(t, err, apierr.IdempotencyKeyUsed)
			expired, err := pool.Exec(t.Context(), `
				UPDATE idempotency_keys SET created_at = now() - interval '24 hours 1 second'
				WHERE owner_id = $1 AND scope = $1::text`, ada)
			require.NoError(t, err)
			require.EqualValues(t, 1, expired.RowsAffected())
			replayed, err := write(ada, "Fun")
			require.NoError(t, err)
			require.False(t, replayed)
			replayed, err = write(ada, "Fun")
			require.NoError(t, err)
			require.True(t, replayed)

			_, err = pool.Exec(t.Context(), `
				UPDATE idempotency_keys SET created_at = now() - interval '25 hours'
				WHERE owner_id = $1`, grace)
			require.NoError(t, err)
			require.NoError(t, ExpireOwned(t.Context(), pool))
			left, err := pg.Values[uuid.UUID](t.Context(), pool,
				`SELECT owner_id FROM idempotency_keys`)
			require.NoError(t, err)
			require.Equal(t, []uuid.UUID{ada}, left)
		})
	}
}
