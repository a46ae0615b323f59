package verify

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
)

const (
	// scrubInterval and scrubTime limit the background check of each replica to about 1 % of one
	// database core.
	scrubInterval = 10 * time.Second
	scrubTime     = scrubInterval / 100
)

// Scrubber continuously verifies the owners' balances and totals in the background, and counts the
// owners that differ (ADR 41). It only reports; ledger verify -repair corrects. Every replica runs
// one, so an owner may be checked once per replica: replicas need no agreement about who checks
// which owner, and each finds every difference.
type Scrubber struct {
	DB  *pgxpool.Pool
	Log *slog.Logger
	// last is the owner checked most recently. found counts the differing owners of the current
	// pass over all owners.
	last  uuid.UUID
	found int64
	// differing is the larger count of the current and the previous pass, so that the metric does
	// not drop to zero when a pass begins.
	differing atomic.Int64
}

// Measure publishes the number of differing owners until stop is called.
func (s *Scrubber) Measure() (stop func() error, err error) {
	meter := otel.Meter("github.com/coffer-budget/coffer/services/ledger")
	gauge, err := meter.Int64ObservableGauge("ledger.differing.owners",
		metric.WithDescription("Owners whose balances, monthly totals or counts differ "+
			"from their transactions."))
	if err != nil {
		return nil, fmt.Errorf("setting up metrics: %w", err)
	}
	registered, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		o.ObserveInt64(gauge, s.differing.Load())
		return nil
	}, gauge)
	if err != nil {
		return nil, fmt.Errorf("setting up metrics: %w", err)
	}
	return registered.Unregister, nil
}

// Run checks owners until ctx ends. A database that is unavailable causes a warning per interval.
func (s *Scrubber) Run(ctx context.Context) {
	for {
		if err := s.step(ctx, scrubTime); err != nil && ctx.Err() == nil {
			s.Log.WarnContext(ctx, "failed to verify balances and totals", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(scrubInterval):
		}
	}
}

// step checks owners until limit has passed, and at least one, so that a pass ends even if one
// owner takes longer than the limit. After the last owner it publishes the count of the pass. If a
// check fails, it returns the error, and the owner is skipped until the next pass, so that one
// owner cannot stop the verification of the others.
func (s *Scrubber) step(ctx context.Context, limit time.Duration) error {
	budget, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for first := true; first || budget.Err() == nil; first = false {
		owner, err := selectOwnerAfter(ctx, s.DB, s.last)
		if errors.Is(err, pgx.ErrNoRows) {
			// The pass is complete, so differences of the previous pass that were repaired no
			// longer count.
			s.differing.Store(s.found)
			s.last, s.found = uuid.Nil, 0
			return nil
		}
		if err != nil {
			return err
		}
		s.last = owner
		differences, err := compare(ctx, s.DB, owner)
		if err != nil {
			return err
		}
		if len(differences) > 0 {
			s.found++
			s.differing.Store(max(s.found, s.differing.Load()))
			s.Log.ErrorContext(ctx, "balances, totals or transactions differ from a recomputation",
				"owner_id", owner, "differences", len(differences))
		}
	}
	return nil
}
