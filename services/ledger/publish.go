package ledger

import (
	"context"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg"
)

// publish adds an event to the outbox.
func (s *server) publish(ctx context.Context, q pg.Querier, owner uuid.UUID, data proto.Message) error {
	s.wake()
	return outbox.Add(ctx, q, s.event(ctx, owner, data))
}

func (s *server) event(ctx context.Context, owner uuid.UUID, data proto.Message) outbox.Event {
	return outbox.Event{ID: s.newID(), UserID: owner, Data: data, Traceparent: outbox.Traceparent(ctx)}
}
