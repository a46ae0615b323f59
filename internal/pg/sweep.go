package pg

import (
	"bytes"
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/google/uuid"
)

// sweepInterval is the time between deletions of expired rows.
const sweepInterval = time.Hour

// Sweep calls expire, which deletes expired rows, now and every hour until ctx ends. It logs errors
// and continues. All replicas may run it, so expire must be safe to run concurrently.
func Sweep(ctx context.Context, log *slog.Logger, expire func(ctx context.Context) error) {
	SweepEvery(ctx, sweepInterval, log, expire)
}

// SweepEvery is Sweep with another time between the deletions.
func SweepEvery(
	ctx context.Context, interval time.Duration, log *slog.Logger,
	expire func(ctx context.Context) error,
) {
	for {
		if err := expire(ctx); err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "failed to delete expired rows", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(interval):
		}
	}
}

// SweepOwners deletes the expired rows of all owners with statements of one owner each, so that
// each statement reaches one part of a distributed database (ADR 124). next returns the owners of
// some expired rows, also repeatedly. sweep deletes expired rows of one owner, and reports whether
// there were any. SweepOwners ends when next returns no owner with such rows, or at the first
// error. The order of the owners is random, so that an owner whose rows cannot be deleted does not
// prevent the same deletions each time.
func SweepOwners(
	next func() ([]uuid.UUID, error), sweep func(owner uuid.UUID) (found bool, err error),
) error {
	for {
		owners, err := next()
		if err != nil {
			return err
		}
		slices.SortFunc(owners, func(a, b uuid.UUID) int {
			return bytes.Compare(a[:], b[:])
		})
		owners = slices.Compact(owners)
		rand.Shuffle(len(owners), func(i, j int) {
			owners[i], owners[j] = owners[j], owners[i]
		})
		ended := true
		for _, owner := range owners {
			for found := true; found; {
				if found, err = sweep(owner); err != nil {
					return err
				}
				ended = ended && !found
			}
		}
		if ended {
			return nil
		}
	}
}
