package accounts

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

// hold runs first in a transaction, starts second, waits until second is blocked by that
// transaction, runs rest in the transaction and commits it. It returns the error of second.
func (p person) hold(
	t *testing.T, first func(pgx.Tx) error, second func() error, rest func(pgx.Tx) error,
) error {
	t.Helper()
	tx, err := p.DB.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	require.NoError(t, first(tx))
	done := make(chan error, 1)
	// If second fails the test, its goroutine ends without a result.
	go func() { defer close(done); done <- second() }()
	require.Eventually(t, func() bool {
		var blocked bool
		err := p.DB.QueryRow(t.Context(), `
			SELECT EXISTS (
				SELECT FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid)))`,
			tx.Conn().PgConn().PID()).Scan(&blocked)
		return err == nil && blocked
	}, time.Minute, 5*time.Millisecond)
	require.NoError(t, rest(tx))
	require.NoError(t, tx.Commit(t.Context()))
	return <-done
}

// TestDeleteCategoryAgainstBudgets forces both orders of each pair: a budget that reserves or
// records a category, and a delete or merge of the category.
func TestDeleteCategoryAgainstBudgets(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	nothing := func(pgx.Tx) error { return nil }
	uses := map[string]func(p person, budget uuid.UUID, tx pgx.Tx) error{
		"reserve": func(p person, budget uuid.UUID, tx pgx.Tx) error {
			return reserveCategories(t.Context(), tx, p.ID, budget, budget, []uuid.UUID{p.Category},
				fixture.Today.Add(time.Hour))
		},
		"record": func(p person, budget uuid.UUID, tx pgx.Tx) error {
			_, err := recordReferences(t.Context(), tx, p.ID, []budgetUse{{
				budget: budget, version: 1, categories: []uuid.UUID{p.Category},
			}}, fixture.Today)
			return err
		},
	}
	for name, use := range uses {
		t.Run(name+" before delete", func(t *testing.T) {
			t.Parallel()
			p, budget := newPerson(t.Context(), t, srv), srv.NewID()
			err := p.hold(t, func(tx pgx.Tx) error { return use(p, budget, tx) },
				func() error { return p.deleteCategory(p.Category) }, nothing)
			fixture.RequireReason(t, err, codes.FailedPrecondition, "CATEGORY_IN_USE")
		})
		t.Run(name+" before merge", func(t *testing.T) {
			t.Parallel()
			p, budget := newPerson(t.Context(), t, srv), srv.NewID()
			other := p.MakeCategory(p.Ctx, t, "Other")
			err := p.hold(t, func(tx pgx.Tx) error { return use(p, budget, tx) },
				func() error { return p.merge(p.Category, other) }, nothing)
			require.NoError(t, err)
			require.Equal(t, texts([]uuid.UUID{other}),
				p.sync(p.Ctx, t, budget, 1, []uuid.UUID{p.Category}))
		})
	}
	remove := func(me person, to uuid.UUID) (lock, rest func(pgx.Tx) error) {
		lock = func(tx pgx.Tx) error {
			_, err := lockCategories(t.Context(), tx, me.ID, me.Category, to)
			return err
		}
		return lock, func(tx pgx.Tx) error {
			if err := mergeReferences(t.Context(), tx, me.ID, me.Category, to); err != nil {
				return err
			}
			return deleteCategory(t.Context(), tx, me.ID, me.Category, &to, fixture.Today)
		}
	}
	t.Run("merge before reserve", func(t *testing.T) {
		t.Parallel()
		p, budget := newPerson(t.Context(), t, srv), srv.NewID()
		lock, rest := remove(p, p.MakeCategory(p.Ctx, t, "Other"))
		err := p.hold(t, lock, func() error {
			return p.reserve(p.Ctx, budget, budget, p.Category)
		}, rest)
		fixture.RequireReason(t, err, codes.NotFound, "INVALID_CATEGORY_EXIST_PARAMS")
	})
	t.Run("merge before record", func(t *testing.T) {
		t.Parallel()
		me, budget := newPerson(t.Context(), t, srv), srv.NewID()
		other := me.MakeCategory(me.Ctx, t, "Other")
		require.NoError(t, me.reserve(me.Ctx, budget, budget, me.Category))
		lock, rest := remove(me, other)
		var current []string
		err := me.hold(t, lock, func() error {
			current = me.sync(me.Ctx, t, budget, 1, []uuid.UUID{me.Category}, budget)
			return nil
		}, rest)
		require.NoError(t, err)
		require.Equal(t, texts([]uuid.UUID{other}), current)
	})
}
