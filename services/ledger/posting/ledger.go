package posting

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/request"
	"github.com/coffer-budget/coffer/services/ledger/storage"
)

// Ledger holds the resources that all RPC methods share. Each server of RPC methods embeds it.
type Ledger struct {
	DB *pgxpool.Pool
	// Wake makes the relay publish new events soon.
	Wake  func()
	Now   func() time.Time
	NewID func() uuid.UUID
	// Volume is the one of the database. RPCs that store files check it.
	Volume storage.Volume
	// Distributed reports whether the tables are distributed over servers by owner, so that each
	// statement of a request must name a single owner (ADR 124).
	Distributed bool
}

// Today returns the current civil day in the time zone of the owner's settings. It decides what
// "today" and "this month" are, and never which day is stored (ADR 104).
func (l *Ledger) Today(ctx context.Context, q pg.Querier, owner uuid.UUID) (time.Time, error) {
	zone, err := SelectTimeZone(ctx, q, owner)
	if err != nil {
		return time.Time{}, err
	}
	return calendar.Today(l.Now(), zone), nil
}

// Publish adds the events of a change to the outbox, in this order. q is the database transaction
// of that change, so that all are committed or none is. It wakes the relay before the commit: the
// relay waits 100 ms before it polls, and polls again later (ADR 10).
func (l *Ledger) Publish(
	ctx context.Context, q pg.Querier, owner uuid.UUID, data ...proto.Message,
) error {
	events := make([]outbox.Event, len(data))
	for i, d := range data {
		events[i] = l.event(ctx, owner, d)
	}
	l.Wake()
	return outbox.Add(ctx, q, events...)
}

// PublishUpdates adds the events of changed transactions of one owner, like Publish. Without
// transactions it runs no query.
func (l *Ledger) PublishUpdates(
	ctx context.Context, q pg.Querier, before, after []Transaction,
) error {
	if len(after) == 0 {
		return nil
	}
	events := make([]proto.Message, len(after))
	for i, t := range after {
		events[i] = &ledgerv1.TransactionUpdated{
			OwnerId: t.OwnerID.String(), Before: before[i].Proto(), After: t.Proto(),
		}
	}
	return l.Publish(ctx, q, after[0].OwnerID, events...)
}

// Created returns the event of a created transaction.
func (l *Ledger) Created(
	ctx context.Context, owner uuid.UUID, t *ledgerv1.Transaction,
) outbox.Event {
	data := &ledgerv1.TransactionCreated{OwnerId: owner.String(), Transaction: t}
	return l.event(ctx, owner, data)
}

// event returns a new event for a user. It carries the trace of ctx to its consumers.
func (l *Ledger) event(ctx context.Context, owner uuid.UUID, data proto.Message) outbox.Event {
	trace := outbox.Traceparent(ctx)
	return outbox.Event{ID: l.NewID(), UserID: owner, Data: data, Traceparent: trace}
}

// InsertTransactions inserts transactions of one owner with their events, whose content is
// messages, and without idempotency records. It returns the ids of the inserted transactions: those
// whose wallet and category belong to the owner. For several transactions q must be a database
// transaction, and the caller must roll it back on an error or a missing id.
func (l *Ledger) InsertTransactions(
	ctx context.Context, q pg.Querier, ts []Transaction, messages []*ledgerv1.Transaction,
) (map[uuid.UUID]bool, error) {
	events := make([]outbox.Event, len(ts))
	for i, t := range ts {
		events[i] = l.Created(ctx, t.OwnerID, messages[i])
	}
	rows, err := outbox.Encode(events...)
	if err != nil {
		return nil, err
	}
	l.Wake()
	// The locks have no timeout, because the statement contains the rows of one request only. No
	// other request waits for it.
	written, err := Insert(ctx, q, 0, ts, rows, make([]idem.Record, len(ts)))
	return written, ClientError(err)
}

// NotInserted returns the reason why Insert skipped a transaction: its wallet or category does not
// belong to the owner.
func NotInserted(ctx context.Context, q pg.Querier, t Transaction) error {
	if err := request.CheckOwned(ctx, q, apierr.Problems{}, t.OwnerID, t.References()); err != nil {
		return err
	}
	// The wallet and the category were created after the insert, so a retry succeeds.
	return apierr.Unavailable
}
