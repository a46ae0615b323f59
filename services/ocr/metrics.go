package ocr

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/rpc"
	"github.com/coffer-budget/coffer/services/ocr/neural/process"
)

const meterName = "github.com/coffer-budget/coffer/services/ocr"

type metrics struct {
	seconds  metric.Float64Histogram
	failures metric.Int64Counter
}

func newMetrics() (metrics, error) {
	meter := otel.Meter(meterName)
	seconds, err1 := meter.Float64Histogram("ocr.receipt.duration", metric.WithUnit("s"),
		metric.WithDescription("Time to read a receipt, including the time in the queue."),
		metric.WithExplicitBucketBoundaries(0.25, 0.5, 1, 1.5, 2, 3, 5, 10, 20))
	failures, err2 := meter.Int64Counter("ocr.receipt.failures",
		metric.WithDescription("Receipts that were not read, by reason."))
	if err := errors.Join(err1, err2); err != nil {
		return metrics{}, fmt.Errorf("setting up metrics: %w", err)
	}
	return metrics{seconds: seconds, failures: failures}, nil
}

// measure publishes the length of the queue and the state of the neural engine as metrics until
// stop is called. A service restarted in the same process reports its own state.
func measure(gate rpc.Gate, neural *process.Process) (stop func() error, err error) {
	meter := otel.Meter(meterName)
	queue, err1 := meter.Int64ObservableGauge("ocr.queue.length",
		metric.WithDescription("Receipts that wait for a worker."))
	available, err2 := meter.Int64ObservableGauge("ocr.neural.available",
		metric.WithDescription("1 if the neural engine is installed and did not fail on its last "+
			"page, otherwise 0."))
	failures, err3 := meter.Int64ObservableCounter("ocr.neural.failures",
		metric.WithDescription("Pages on which the neural engine failed."))
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, fmt.Errorf("setting up metrics: %w", err)
	}
	registered, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		o.ObserveInt64(queue, int64(gate.Waiting()))
		o.ObserveInt64(failures, neural.Failures())
		if neural.Available() {
			o.ObserveInt64(available, 1)
		} else {
			o.ObserveInt64(available, 0)
		}
		return nil
	}, queue, available, failures)
	if err != nil {
		return nil, fmt.Errorf("setting up metrics: %w", err)
	}
	return registered.Unregister, nil
}

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
