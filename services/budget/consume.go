package budget

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/outbox"
)

// consumer is of all events there are. Alerts and webhooks have one between them: nearly every event is for both, and NATS
// and this service spend as much on an event for each consumer.
func (s *server) consumer() outbox.Consumer {
	return outbox.Consumer{Name: "budget-events", Subject: "*.v1.*.*", Apply: s.applyEvents, Applied: s.wake}
}

func (s *server) applyEvents(ctx context.Context, tx pgx.Tx, events []outbox.Received) error {
	if err := s.followCategories(ctx, tx, events); err != nil {
		return err
	}
	if err := s.noteSpending(ctx, tx, events); err != nil {
		return err
	}
	return s.queueDeliveries(ctx, tx, events)
}

// wake spares what there is to do the wait for the next look.
func (s *server) wake() {
	s.wakeAlerts()
	s.wakeSyncs()
	s.wakeDeliveries()
}
