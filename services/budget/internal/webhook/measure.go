package webhook

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

const (
	// measureTimeout limits the time that the gauge may delay a scrape of the metrics.
	measureTimeout = time.Second
	// broken is the problem of a webhook that cannot be used, for example because its secret was
	// sealed with another service key.
	broken = "broken"
)

// Measure publishes the number of webhooks by state, until stop is called, and counts the attempts
// of this replica by outcome. While the database is unavailable, the gauge has no value. It must be
// called before Run.
func (s *Server) Measure(ctx context.Context) (stop func() error, err error) {
	meter := otel.Meter("github.com/coffer-budget/coffer/services/budget")
	s.attempts, err = meter.Int64Counter("budget.webhook.attempts",
		metric.WithDescription("Requests to webhooks, by outcome: delivered, or the problem."))
	if err != nil {
		return nil, fmt.Errorf("setting up metrics: %w", err)
	}
	// An alert needs the values before the first attempt.
	for _, problem := range []string{"", broken} {
		s.countAttempt(ctx, problem, 0)
	}
	webhooks, err := meter.Int64ObservableGauge("budget.webhooks",
		metric.WithUnit("{webhook}"), metric.WithDescription("Webhooks by state: enabled, failing "+
			"(enabled, and the last attempt failed) or disabled (by Coffer)."))
	if err != nil {
		return nil, fmt.Errorf("setting up metrics: %w", err)
	}
	registered, err := meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		ctx, cancel := context.WithTimeout(ctx, measureTimeout)
		defer cancel()
		n, err := countByState(ctx, s.db)
		if err != nil {
			return nil
		}
		for state, count := range map[string]int64{
			"enabled": n.Enabled, "failing": n.Failing, "disabled": n.Disabled,
		} {
			o.ObserveInt64(webhooks, count,
				metric.WithAttributes(attribute.String("state", state)))
		}
		return nil
	}, webhooks)
	if err != nil {
		return nil, fmt.Errorf("setting up metrics: %w", err)
	}
	return registered.Unregister, nil
}

// countAttempt adds n attempts with a problem, or delivered ones if it is empty.
func (s *Server) countAttempt(ctx context.Context, problem string, n int64) {
	if problem == "" {
		problem = string(delivered)
	}
	s.attempts.Add(ctx, n, metric.WithAttributes(attribute.String("outcome", problem)))
}
