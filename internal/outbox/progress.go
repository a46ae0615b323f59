package outbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/coffer-budget/coffer/internal/pg"
)

// progress is the relay's position in the outbox. Each relay starts with an empty one and publishes
// all rows again; JetStream drops the duplicates by event id.
//
// Rows do not become visible in the order of seq: a row takes its number when it is inserted and
// becomes visible when its transaction commits. The cursor must not pass a number whose row may
// still appear. The watermark is the highest safe number.
type progress struct {
	// distributed is set by RelayDistributed. The cursor and the watermark then stay 0.
	distributed bool
	// acknowledged holds the events that NATS has acknowledged and that are still in the outbox, by
	// seq.
	acknowledged map[int64]acknowledgment
	// cursor: all events up to it have been published, and no further event up to it will appear.
	cursor int64
	// watermark: each event up to it is visible by now or will never appear.
	watermark int64
	// nextWatermark becomes the watermark once all transactions before nextXID have ended.
	nextWatermark, nextXID int64
	// deletedAt is the time of the last deletion from the outbox.
	deletedAt time.Time
	// reconnects is the connection's number of reconnects when the relay began.
	reconnects uint64
}

// acknowledgment is the time at which NATS acknowledged an event, and the event's user.
type acknowledgment struct {
	user uuid.UUID
	at   time.Time
}

// errReconnected makes the relay start again with an empty progress.
var errReconnected = errors.New("reconnected to NATS, publishing the outbox again")

// advanceWatermark moves the watermark and returns the highest seq in the outbox, 0 if it is empty.
// Once all transactions that ran at some moment have ended, every number taken before that moment
// is visible or was rolled back.
func (p *progress) advanceWatermark(ctx context.Context, conn *pgxpool.Conn) (int64, error) {
	type row struct{ Last, Oldest, Newest int64 }
	found, err := pg.One[row](ctx, conn, `
		SELECT coalesce((SELECT max(seq) FROM outbox), 0) AS last,
			pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS oldest,
			pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS newest`)
	if err != nil {
		return 0, fmt.Errorf("reading the transactions in flight: %w", err)
	}
	if found.Oldest >= p.nextXID {
		p.watermark = p.nextWatermark
		p.nextWatermark = max(p.nextWatermark, found.Last)
		p.nextXID = found.Newest
	}
	return found.Last, nil
}

// acknowledgedAfter returns the acknowledged events beyond seq, which must not be published again.
func (p *progress) acknowledgedAfter(seq int64) []int64 {
	after := []int64{}
	for s := range p.acknowledged {
		if s > seq {
			after = append(after, s)
		}
	}
	return after
}

// deleteStored deletes the events that NATS has synced to disk, at most once per retryInterval.
// First it checks that NATS still answers on the connection on which it acknowledged them: after a
// restart, NATS may lack the last ones.
func (b *Bus) deleteStored(ctx context.Context, conn *pgxpool.Conn, done *progress) error {
	now := time.Now()
	if now.Sub(done.deletedAt) < retryInterval {
		return nil
	}
	done.deletedAt = now
	var stored []int64
	for seq, acknowledged := range done.acknowledged {
		if now.Sub(acknowledged.at) >= syncDelay {
			stored = append(stored, seq)
		}
	}
	if len(stored) == 0 {
		return nil
	}
	flush, cancel := context.WithTimeout(ctx, retryInterval)
	defer cancel()
	err := b.conn.FlushWithContext(flush)
	if err != nil || b.conn.Stats().Reconnects != done.reconnects {
		return nil
	}
	slices.Sort(stored)
	remove := deleteEvents
	if done.distributed {
		remove = done.deleteByUser
	}
	if err := remove(ctx, conn, stored); err != nil {
		return fmt.Errorf("deleting stored events from the outbox: %w", err)
	}
	for _, seq := range stored {
		delete(done.acknowledged, seq)
	}
	return nil
}

func deleteEvents(ctx context.Context, conn *pgxpool.Conn, seqs []int64) error {
	return pg.Exec(ctx, conn, `DELETE FROM outbox WHERE seq = ANY($1)`, seqs)
}

// deleteByUser deletes events with one statement for each user, so that each statement runs on one
// server. They share a round trip, and so a transaction, which may commit on several servers.
func (p *progress) deleteByUser(ctx context.Context, conn *pgxpool.Conn, seqs []int64) error {
	byUser := map[uuid.UUID][]int64{}
	for _, seq := range seqs {
		user := p.acknowledged[seq].user
		byUser[user] = append(byUser[user], seq)
	}
	batch := &pgx.Batch{}
	for user, seqs := range byUser {
		batch.Queue(`DELETE FROM outbox WHERE user_id = $1 AND seq = ANY($2)`, user, seqs)
	}
	return conn.SendBatch(ctx, batch).Close()
}
