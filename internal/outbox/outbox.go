// Package outbox implements the transactional outbox: an event commits with the change that it
// describes, and reaches JetStream at least once and in order per user.
//
// A service adds events with Add, or writes the Rows of Encode in the statement of the change. It
// calls Bus.Wake when it adds events and runs Bus.Relay, which publishes the rows and deletes them
// once NATS has stored them. Bus.Consume applies events of any service, at least once. Bus.Follow
// reads one user's events from a position on. While NATS is unavailable, writes continue and events
// wait in the table.
//
// Start reading with Relay in relay.go, whose position is in progress.go, and Consumer in
// consume.go. stream.go defines the stream and the encoding of messages.
//
// Each service that publishes events has this table in its schema:
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
// A row must be inserted after the changed rows are locked. Then of two changes to one row, the
// earlier one has the lower seq and is visible whenever the later one is, so that publishing the
// visible rows by seq keeps the order.
//
// The rows of a user are independent of those of other users, so the table may be distributed over
// servers by user_id, with the primary key (user_id, seq), an index of seq, and one sequence for
// all. RelayDistributed is the relay of such a table.
package outbox

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/coffer-budget/coffer/internal/pg"
)

// maxData is the maximum size of the data of an event, in bytes. NATS rejects messages of more than
// 1 MiB, including the headers. Such an event would stay in the outbox and block the later ones of
// all users.
const maxData = 1_000_000

// maxBatch limits the data of the events that are published or applied together, in bytes: a batch
// is in memory, for webhooks once for each of them.
const maxBatch = 2_000_000

// Event describes a change of a user's data.
type Event struct {
	// ID is a UUIDv7. JetStream and consumers use it to drop duplicates.
	ID uuid.UUID
	// UserID is the user whose data changed. It is the last token of the message's subject.
	UserID uuid.UUID
	// Data is a message of an events.proto. Its name determines the event's type, see Type.
	Data proto.Message
	// Traceparent is the request's trace context as returned by func Traceparent. Add ignores it
	// and uses that of ctx.
	Traceparent *string
}

// Rows holds events in the table's encoding, one slice per column. A statement can insert them
// together with its change.
type Rows struct {
	IDs, UserIDs []uuid.UUID
	Subjects     []string
	Data         [][]byte
	Traceparents []*string
}

// Encode converts events to rows of the outbox table, in the same order. It returns an error for
// data of more than maxData bytes.
func Encode(events ...Event) (Rows, error) {
	var rows Rows
	for _, event := range events {
		// Any keeps the message's type URL, which the relay sends as ce-dataschema.
		data, err := anypb.New(event.Data)
		if err != nil {
			return Rows{}, fmt.Errorf("encoding an event: %w", err)
		}
		if size := len(data.GetValue()); size > maxData {
			return Rows{}, fmt.Errorf("encoding an event: %s has %d bytes, at most %d are allowed",
				data.MessageName(), size, maxData)
		}
		encoded, err := proto.Marshal(data)
		if err != nil {
			return Rows{}, fmt.Errorf("encoding an event: %w", err)
		}
		rows.IDs, rows.UserIDs = append(rows.IDs, event.ID), append(rows.UserIDs, event.UserID)
		rows.Subjects = append(rows.Subjects,
			Type(event.Data.ProtoReflect().Descriptor().FullName()))
		rows.Data = append(rows.Data, encoded)
		rows.Traceparents = append(rows.Traceparents, event.Traceparent)
	}
	return rows, nil
}

// Add inserts events in order with one statement. tx must be the transaction of the change that
// they describe.
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
	return pg.Exec(ctx, tx, `
		INSERT INTO outbox (id, user_id, subject, data, traceparent)
		SELECT id, user_id, subject, data, traceparent
		FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::bytea[], $5::text[]) WITH ORDINALITY
			AS e (id, user_id, subject, data, traceparent, position)
		ORDER BY position`, rows.IDs, rows.UserIDs, rows.Subjects, rows.Data, rows.Traceparents)
}
