package pg

import (
	"context"
	"log/slog"
	"time"
)

// sweepEvery is how often what has expired is deleted.
const sweepEvery = time.Hour

// Sweep calls expire, which deletes what has expired, now and every hour until ctx ends. Replicas may do so at the same time.
func Sweep(ctx context.Context, log *slog.Logger, expire func(ctx context.Context) error) {
	for {
		if err := expire(ctx); err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "deleting what has expired", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(sweepEvery):
		}
	}
}
