package ocr

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/rpc"
	"github.com/coffer-budget/coffer/services/ocr/neural/process"
)

// metrics are the service's instruments.
type metrics struct {
	seconds  metric.Float64Histogram
	failures metric.Int64Counter
}

// newMetrics registers the instruments. The buckets of durations are in seconds. The queue and the neural engine are read at collection.
func newMetrics(g rpc.Gate, neural *process.Process) (metrics, error) {
	meter := otel.Meter("github.com/coffer-budget/coffer/services/ocr")
	seconds, err := meter.Float64Histogram("ocr.receipt.duration", metric.WithUnit("s"), metric.WithDescription("Time to read a receipt, including the time in the queue."),
		metric.WithExplicitBucketBoundaries(0.25, 0.5, 1, 1.5, 2, 3, 5, 10, 20))
	if err != nil {
		return metrics{}, fmt.Errorf("setting up metrics: %w", err)
	}
	failures, err := meter.Int64Counter("ocr.receipt.failures", metric.WithDescription("Receipts that were not read, by reason."))
	if err != nil {
		return metrics{}, fmt.Errorf("setting up metrics: %w", err)
	}
	_, err = meter.Int64ObservableGauge("ocr.queue.length", metric.WithDescription("Receipts that wait for a worker."),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(int64(g.Waiting()))
			return nil
		}))
	if err != nil {
		return metrics{}, fmt.Errorf("setting up metrics: %w", err)
	}
	_, err = meter.Int64ObservableGauge("ocr.neural.available", metric.WithDescription("1 if the neural engine is installed and did not fail on its last page, otherwise 0."),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			available := int64(0)
			if neural.Available() {
				available = 1
			}
			o.Observe(available)
			return nil
		}))
	if err != nil {
		return metrics{}, fmt.Errorf("setting up metrics: %w", err)
	}
	_, err = meter.Int64ObservableCounter("ocr.neural.failures", metric.WithDescription("Pages on which the neural engine failed."),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(neural.Failures())
			return nil
		}))
	if err != nil {
		return metrics{}, fmt.Errorf("setting up metrics: %w", err)
	}
	return metrics{seconds: seconds, failures: failures}, nil
}

// record counts one receipt that was read or failed, with its duration including the time in the queue.
func (m metrics) record(ctx context.Context, took time.Duration, err error) {
	m.seconds.Record(ctx, took.Seconds())
	if err == nil {
		return
	}
	reason := "CANCELED"
	if e := apierr.From(err); e != nil {
		reason = e.Reason
	}
	m.failures.Add(ctx, 1, metric.WithAttributes(attribute.String("reason", reason)))
}
