package budget

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
)

// measureTimeout limits the time that a gauge may delay a scrape of the metrics.
const measureTimeout = time.Second

// measure publishes the age of the oldest queued report to the ledger until stop is called. While the database is unavailable, the
// metric has no value.
func (s *server) measure() (stop func() error, err error) {
	meter := otel.Meter("github.com/coffer-budget/coffer/services/budget")
	age, err := meter.Int64ObservableGauge("budget.references.age", metric.WithUnit("s"),
		metric.WithDescription("Age of the oldest budget whose categories are queued for the ledger."))
	if err != nil {
		return nil, fmt.Errorf("setting up metrics: %w", err)
	}
	registered, err := meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		ctx, cancel := context.WithTimeout(ctx, measureTimeout)
		defer cancel()
		if seconds, err := selectOldestSyncAge(ctx, s.db); err == nil {
			o.ObserveInt64(age, seconds)
		}
		return nil
	}, age)
	if err != nil {
		return nil, fmt.Errorf("setting up metrics: %w", err)
	}
	return registered.Unregister, nil
}
