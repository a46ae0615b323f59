// Package outbox publishes what happened: an event commits with the change that it tells of, and reaches JetStream at
// least once and in order per user.
//
// Each service that uses it has this table in its schema:
//
//	CREATE TABLE outbox (
//	    seq        bigint      GENERATED ALWAYS AS IDENTITY CONSTRAINT outbox_pkey PRIMARY KEY,
//	    id         uuid        NOT NULL,
//	    user_id    uuid        NOT NULL,
//	    subject    text        NOT NULL,
//	    data       bytea       NOT NULL,
//	    created_at timestamptz NOT NULL DEFAULT now()
//	);
//
// A row is written after the rows that it tells of are locked, so of two changes to one thing the earlier one has the
// lower seq and is visible whenever the later one is. Publishing in the order of seq and deleting what JetStream
// acknowledged is therefore enough; no row can be skipped.
package outbox

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/coffer-budget/coffer/internal/pg"
)

// Event is something that happened to a user's data.
type Event struct {
	// ID lets consumers drop a repeat; a UUIDv7.
	ID uuid.UUID
	// UserID is whose data changed.
	UserID uuid.UUID
	// Subject is <service>.v1.<noun>.<past participle>.
	Subject string
	Data    proto.Message
}

// Add writes events in the transaction of the change that they tell of, in one statement.
func Add(ctx context.Context, tx pg.Querier, events ...Event) error {
	if len(events) == 0 {
		return nil
	}
	ids, users := make([]uuid.UUID, len(events)), make([]uuid.UUID, len(events))
	subjects, data := make([]string, len(events)), make([][]byte, len(events))
	for i, e := range events {
		encoded, err := encode(e.Data)
		if err != nil {
			return fmt.Errorf("encoding event %s: %w", e.Subject, err)
		}
		ids[i], users[i], subjects[i], data[i] = e.ID, e.UserID, e.Subject, encoded
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO outbox (id, user_id, subject, data)
		SELECT id, user_id, subject, data
		FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::bytea[]) WITH ORDINALITY AS e (id, user_id, subject, data, position)
		ORDER BY position`, ids, users, subjects, data)
	if err != nil {
		return fmt.Errorf("adding events: %w", err)
	}
	return nil
}

// encode keeps the message's type with it, for the relay's ce-type.
func encode(m proto.Message) ([]byte, error) {
	data, err := anypb.New(m)
	if err != nil {
		return nil, err
	}
	return proto.Marshal(data)
}
