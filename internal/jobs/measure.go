package jobs

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg"
)

// measureTimeout limits the time that the gauges of a table may delay a scrape of the metrics.
const measureTimeout = time.Second

// unfinished are the unfinished jobs with a status.
type unfinished struct {
	Status string
	Count  int64
	// Age is the number of seconds since the oldest QueuedAt of these jobs.
	Age int64
}

// selectUnfinished returns the numbers and ages of the unfinished jobs of all owners.
func (t Table) selectUnfinished(ctx context.Context, q pg.Querier) ([]unfinished, error) {
	return pg.All[unfinished](ctx, q, `
		SELECT status, count(*) AS count,
			extract(epoch FROM now() - min(`+t.QueuedAt+`))::bigint AS age
		FROM `+t.Name+`
		WHERE `+t.Unfinished+`
		GROUP BY status`)
}

// Measure publishes the numbers and ages of unfinished jobs by status, until stop is called, and
// counts the failures of this replica by reason. While the database is unavailable, the gauges have
// no value. It must be called before Run.
func (q *Queue) Measure() (stop func() error, err error) {
	meter := otel.Meter("github.com/coffer-budget/coffer/internal/jobs")
	q.failures, err = meter.Int64Counter("coffer.jobs.failures",
		metric.WithDescription("Jobs that failed, by the code of the error. "+
			"INTERNAL: after all attempts."))
	if err != nil {
		return nil, fmt.Errorf("setting up metrics: %w", err)
	}
	// An alert needs the value before the first failure.
	q.countFailure(context.Background(), apierr.Internal.Reason, 0)
	count, err := meter.Int64ObservableGauge("coffer.jobs",
		metric.WithUnit("{job}"), metric.WithDescription("Jobs that have not ended, by status."))
	if err != nil {
		return nil, fmt.Errorf("setting up metrics: %w", err)
	}
	age, err := meter.Int64ObservableGauge("coffer.jobs.age", metric.WithUnit("s"),
		metric.WithDescription("Age of the oldest job that has not ended: of imports since the "+
			"last progress, of rules since they were applied."))
	if err != nil {
		return nil, fmt.Errorf("setting up metrics: %w", err)
	}
	registered, err := meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		ctx, cancel := context.WithTimeout(ctx, measureTimeout)
		defer cancel()
		found, err := q.table.selectUnfinished(ctx, q.db)
		if err != nil {
			return nil
		}
		for _, u := range found {
			attributes := metric.WithAttributes(attribute.String("table", q.table.Name),
				attribute.String("status", u.Status))
			o.ObserveInt64(count, u.Count, attributes)
			o.ObserveInt64(age, u.Age, attributes)
		}
		return nil
	}, count, age)
	if err != nil {
		return nil, fmt.Errorf("setting up metrics: %w", err)
	}
	return registered.Unregister, nil
}

func (q *Queue) countFailure(ctx context.Context, reason string, n int64) {
	q.failures.Add(ctx, n, metric.WithAttributes(
		attribute.String("table", q.table.Name), attribute.String("reason", reason)))
}
