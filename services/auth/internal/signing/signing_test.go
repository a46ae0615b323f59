package signing

import (
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
)

const rotation = 720 * time.Hour

// setup returns the keys of a replica on a new schema. The test sets the time.
func setup(t *testing.T, now *time.Time) *Ring {
	t.Helper()
	return New(Config{
		DB: pgtest.New(t, os.DirFS("../..")), ServiceKey: "test", Rotation: rotation,
		AccessTTL: time.Hour, Log: slog.New(slog.DiscardHandler),
		Now:   func() time.Time { return *now },
		NewID: func() uuid.UUID { return uuid.Must(uuid.NewV7()) },
	})
}

func TestRing(t *testing.T) {
	t.Parallel()
	t.Run("is not ready before the first load", func(t *testing.T) {
		t.Parallel()
		now := time.Now()
		k := setup(t, &now)
		require.ErrorIs(t, k.Ready(), apierr.Unavailable)
		require.NoError(t, k.Refresh(t.Context()))
		require.NoError(t, k.Ready())
	})
	t.Run("creates one key for replicas that start simultaneously", func(t *testing.T) {
		t.Parallel()
		now := time.Now()
		first := setup(t, &now)
		replicas := make([]*Ring, 6)
		errs := make([]error, len(replicas))
		for i := range replicas {
			replicas[i] = New(first.Config)
		}
		for range 2 { // the first key, and the next one
			var all sync.WaitGroup
			for i, r := range replicas {
				all.Go(func() { errs[i] = r.Refresh(t.Context()) })
			}
			all.Wait()
			now = now.Add(rotation)
		}
		stored, err := Select(t.Context(), first.DB)
		require.NoError(t, err)
		require.Len(t, stored, 2)
		for i, r := range replicas {
			require.NoError(t, errs[i])
			k, err := r.signer()
			require.NoError(t, err)
			require.Equal(t, stored[1].KID, k.kid)
		}
	})
	t.Run("creates one key if two replicas rotate", func(t *testing.T) {
		t.Parallel()
		now := time.Now()
		ring := setup(t, &now)
		require.NoError(t, ring.Refresh(t.Context()))
		now = now.Add(rotation - activationDelay)
		require.NoError(t, pgtest.Behind(t, ring.DB, func(tx pgx.Tx) error {
			if err := lock(t.Context(), tx); err != nil {
				return err
			}
			made, err := ring.makeKey(now.Add(activationDelay))
			require.NoError(t, err)
			return insert(t.Context(), tx, made)
		}, func() error { return ring.Refresh(t.Context()) }))
		stored, err := Select(t.Context(), ring.DB)
		require.NoError(t, err)
		require.Len(t, stored, 2)
	})
	t.Run("encrypts the private keys in the database", func(t *testing.T) {
		t.Parallel()
		now := time.Now()
		ring := setup(t, &now)
		require.NoError(t, ring.Refresh(t.Context()))
		k, err := ring.signer()
		require.NoError(t, err)
		stored, err := Select(t.Context(), ring.DB)
		require.NoError(t, err)
		require.NotContains(t, string(stored[0].SealedPrivateKey), string(k.key.Seed()))
		_, err = ring.sealer.Open(stored[0].SealedPrivateKey, "another kid")
		require.Error(t, err, "a key must not be passed off as another one")
	})
}
