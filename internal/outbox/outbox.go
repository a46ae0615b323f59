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
//	    created_at timestamptz NOT NULL DEFAULT now(),
//	    traceparent text
//	);
//
// A row is written after the rows that it tells of are locked, so of two changes to one thing the earlier one has the
// lower seq and is visible whenever the later one is. Publishing what is there in the order of seq is therefore in order.
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
	// Data is a message of an events.proto, whose name is the event's.
	Data proto.Message
	// Traceparent is the request's trace context, as func Traceparent returns it; Add takes it from ctx.
	Traceparent *string
}

// Rows are events as the table holds them, a slice per column, for a statement that writes them along with its change.
type Rows struct {
	IDs, UserIDs []uuid.UUID
	Subjects     []string
	Data         [][]byte
	Traceparents []*string
}

// Encode makes rows of events.
func Encode(events ...Event) (Rows, error) {
	var r Rows
	for _, e := range events {
		// Any keeps the message's type with it, for the relay's ce-type.
		data, err := anypb.New(e.Data)
		if err != nil {
			return Rows{}, fmt.Errorf("encoding an event: %w", err)
		}
		encoded, err := proto.Marshal(data)
		if err != nil {
			return Rows{}, fmt.Errorf("encoding an event: %w", err)
		}
		r.IDs, r.UserIDs = append(r.IDs, e.ID), append(r.UserIDs, e.UserID)
		r.Subjects, r.Data = append(r.Subjects, Type(e.Data.ProtoReflect().Descriptor().FullName())), append(r.Data, encoded)
		r.Traceparents = append(r.Traceparents, e.Traceparent)
	}
	return r, nil
}

// Add writes events in the transaction of the change that they tell of, in one statement.
func Add(ctx context.Context, tx pg.Querier, events ...Event) error {
	if len(events) == 0 {
		return nil
	}
	rows, err := Encode(events...)
	if err != nil {
		return err
	}
	for i := range rows.Traceparents {
		rows.Traceparents[i] = Traceparent(ctx)
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO outbox (id, user_id, subject, data, traceparent)
		SELECT id, user_id, subject, data, traceparent
		FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::bytea[], $5::text[]) WITH ORDINALITY
			AS e (id, user_id, subject, data, traceparent, position)
		ORDER BY position`, rows.IDs, rows.UserIDs, rows.Subjects, rows.Data, rows.Traceparents)
	if err != nil {
		return fmt.Errorf("adding events: %w", err)
	}
	return nil
}
