package ledger

import (
	"context"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg"
)

// publish adds an event of a change to the outbox. q is the database transaction of that change, so that both are committed or
// neither is.
func (s *server) publish(ctx context.Context, q pg.Querier, owner uuid.UUID, data proto.Message) error {
	s.wake()
	return outbox.Add(ctx, q, s.event(ctx, owner, data))
}

// event returns a new event for a user. It carries the trace of ctx to its consumers.
func (s *server) event(ctx context.Context, owner uuid.UUID, data proto.Message) outbox.Event {
	return outbox.Event{ID: s.newID(), UserID: owner, Data: data, Traceparent: outbox.Traceparent(ctx)}
}
