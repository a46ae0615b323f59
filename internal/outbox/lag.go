package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/nats-io/nats.go/jetstream"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/coffer-budget/coffer/internal/pg"
)

// observeTimeout limits the time that one gauge may delay a scrape of the metrics.
const observeTimeout = time.Second

// Lag returns the number of events in the stream that a consumer has not acknowledged, delivered or
// not.
func (b *Bus) Lag(ctx context.Context, consumer string) (int64, error) {
	c, err := b.js.Consumer(ctx, streamName, consumer)
	if err != nil {
		return 0, fmt.Errorf("finding consumer %s: %w", consumer, err)
	}
	info := c.CachedInfo()
	return int64(info.NumPending) + int64(info.NumAckPending), nil //nolint:gosec // Below 2^63.
}

// AwaitApplied waits until a consumer has applied all events of its subject that are in the stream
// at the time of the call, or until ctx ends. An event that is not acknowledged, such as one that
// fails, delays it. Later events do not.
func (b *Bus) AwaitApplied(ctx context.Context, consumer string) error {
	c, err := b.js.Consumer(ctx, streamName, consumer)
	if err != nil {
		return fmt.Errorf("finding consumer %s: %w", consumer, err)
	}
	stream, err := b.js.Stream(ctx, streamName)
	if err != nil {
		return fmt.Errorf("finding the stream: %w", err)
	}
	last, err := stream.GetLastMsgForSubject(ctx, c.CachedInfo().Config.FilterSubject)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the last event of consumer %s: %w", consumer, err)
	}
	for {
		info, err := c.Info(ctx)
		if err != nil {
			return fmt.Errorf("reading the position of consumer %s: %w", consumer, err)
		}
		// Without outstanding events, the floor may be that of an event before deleted ones.
		idle := info.NumPending == 0 && info.NumAckPending == 0
		if idle || info.AckFloor.Stream >= last.Sequence {
			return nil
		}
		sleep(ctx, minPollInterval)
	}
}

// observe registers a gauge with the attribute attr, whose value read returns, until stop is
// called. While read fails, the metric has no value.
func (b *Bus) observe(
	name string, attr attribute.KeyValue, read func(ctx context.Context) (int64, error),
	options ...metric.Int64ObservableGaugeOption,
) (stop func()) {
	meter := otel.Meter("github.com/coffer-budget/coffer/internal/outbox")
	gauge, err := meter.Int64ObservableGauge(name, options...)
	if err != nil {
		b.log.Error("failed to register a metric", "metric", name, "error", err)
		return func() {}
	}
	registered, err := meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		ctx, cancel := context.WithTimeout(ctx, observeTimeout)
		defer cancel()
		if n, err := read(ctx); err == nil {
			o.ObserveInt64(gauge, n, metric.WithAttributes(attr))
		}
		return nil
	}, gauge)
	if err != nil {
		b.log.Error("failed to register a metric", "metric", name, "error", err)
		return func() {}
	}
	return func() { _ = registered.Unregister() }
}

// oldestAge returns a function that reads the age of the oldest event in the outbox in seconds, 0
// if the outbox is empty.
func oldestAge(pool *pgxpool.Pool) func(ctx context.Context) (int64, error) {
	return func(ctx context.Context) (int64, error) {
		return pg.Value[int64](ctx, pool, `
			SELECT coalesce((SELECT extract(epoch FROM now() - created_at)::bigint FROM outbox
				ORDER BY seq LIMIT 1), 0)`)
	}
}
