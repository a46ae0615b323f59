package auth

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/outbox"
)

// publish adds an event to the outbox in the transaction tx, so that it is published if and only if the change is committed.
func (s *server) publish(ctx context.Context, tx pgx.Tx, user uuid.UUID, data proto.Message) error {
	// The relay polls soon after this. If that is before the commit, a later poll finds the event.
	s.wake()
	return outbox.Add(ctx, tx, outbox.Event{ID: s.newID(), UserID: user, Data: data})
}
