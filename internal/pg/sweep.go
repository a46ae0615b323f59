package pg

import (
	"context"
	"log/slog"
	"time"
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
