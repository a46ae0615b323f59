package verify

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
)

func TestScrubber(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	people := []person{
		newPerson(t.Context(), t, srv), newPerson(t.Context(), t, srv),
		newPerson(t.Context(), t, srv),
	}
	var logged bytes.Buffer
	scrub := &Scrubber{DB: srv.DB, Log: slog.New(slog.NewTextHandler(&logged, nil))}
	pass := func() {
		// Without time left, a step checks a single owner.
		for range len(people) + 1 {
			require.NoError(t, scrub.step(t.Context(), 0))
		}
		require.Equal(t, uuid.Nil, scrub.last)
	}
	pass()
	require.Zero(t, scrub.differing.Load())

	pgtest.Exec(t, srv.DB, `UPDATE wallet_balances SET amount_minor = 1 WHERE owner_id <> $1`,
		people[0].ID)
	require.NoError(t, scrub.step(t.Context(), time.Minute))
	require.EqualValues(t, 2, scrub.differing.Load())
	require.Contains(t, logged.String(), people[2].ID.String())
	require.NotContains(t, logged.String(), people[0].ID.String())

	require.NoError(t, verifyAll(t.Context(), srv.DB, true, &bytes.Buffer{}))
	pass()
	require.Zero(t, scrub.differing.Load())
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, scrub.step(ended, time.Minute), context.Canceled)
}

func TestVerifyWithoutOwners(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, verifyAll(t.Context(), setup(t).DB, false, &out))
	require.Equal(t, "0 owners checked, 0 differ\n", out.String())
}
