package files

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

const (
	// moveInterval is the time between two searches for files to move, and moveBackoff that after a
	// failure.
	moveInterval = 5 * time.Second
	moveBackoff  = 30 * time.Second
	// damagedBackoff is the time if a file in PostgreSQL has a wrong content, which each search
	// reads and logs again.
	damagedBackoff = 10 * time.Minute
)

// Run moves new files into the store until ctx ends. Every replica may run it. It does nothing
// without a store, or if the store is read-only.
func (s *Store) Run(ctx context.Context, db *pgxpool.Pool) {
	if s == nil || s.readOnly {
		return
	}
	m := &mover{db: db, store: s, log: s.log}
	for {
		wait := moveInterval
		switch done, err := m.toStore(ctx, newID()); {
		case err != nil && ctx.Err() == nil:
			s.log.WarnContext(ctx, "failed to move files into the store", "error", err)
			wait = moveBackoff
		case done.failed > 0:
			wait = damagedBackoff
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait/2 + rand.N(wait)):
		}
	}
}

// The outcomes of a move, as the metric shows them.
const (
	moved = "moved"
	// failed means that the store or the database is unavailable or rejects the file.
	failed = "failed"
	// damaged means that the content is missing, or is not the one that was stored.
	damaged = "damaged"
)

// Measure counts the files that Run moves, and its failures, until stop is called. It must be
// called before Run. There is no metric without a store, or if the store is read-only.
func (s *Store) Measure() (stop func() error, err error) {
	stop = func() error { return nil }
	if s == nil || s.readOnly {
		return stop, nil
	}
	s.moves, err = otel.Meter("github.com/coffer-budget/coffer/services/ledger/files").
		Int64Counter("ledger.files.moves",
			metric.WithDescription("Files that were moved into the store, by outcome."))
	if err != nil {
		return nil, fmt.Errorf("setting up metrics: %w", err)
	}
	// An alert needs the values before the first move.
	for _, outcome := range []string{moved, failed, damaged} {
		s.count(context.Background(), outcome, 0)
	}
	return stop, nil
}

func (s *Store) count(ctx context.Context, outcome string, n int64) {
	s.moves.Add(ctx, n, metric.WithAttributes(attribute.String("outcome", outcome)))
}
