package webhook

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

type deliveryStatus string

const (
	pending   deliveryStatus = "pending"
	delivered deliveryStatus = "delivered"
	failed    deliveryStatus = "failed"
)

type delivery struct {
	ID        uuid.UUID
	UserID    uuid.UUID `db:"user_id"`
	WebhookID uuid.UUID `db:"webhook_id"`
	// EventID identifies the event for receivers, also in a redelivery.
	EventID uuid.UUID `db:"event_id"`
	// Repeat is 0 for the first delivery of an event, and one more for each redelivery.
	Repeat int32
	// Type is the type of the event, such as ledger.v1.wallet.updated. It is stored for the log,
	// because Body is not decoded again.
	Type   string
	Body   []byte
	Status deliveryStatus
	// Attempts counts the requests that were sent, or that failed before.
	Attempts int32
	// NextAttemptAt is the time from which a pending delivery is due. It has no meaning in another
	// status.
	NextAttemptAt time.Time  `db:"next_attempt_at"`
	LastAttemptAt *time.Time `db:"last_attempt_at"`
	// ResponseStatus is the HTTP status of the last attempt, or nil if it got no response.
	ResponseStatus *int32 `db:"response_status"`
	// Error is the code of publicReason, or nil if the last attempt succeeded.
	Error      *string
	DurationMS *int32    `db:"duration_ms"`
	CreatedAt  time.Time `db:"created_at"`
}

// deliveryColumns lists the columns of type delivery, with the table alias d.
const deliveryColumns = listedColumns + `, d.body`

// listedColumns are the columns of a delivery in a list, which does not show the body. A page of
// the largest bodies has 100 MB.
const listedColumns = `d.id, d.user_id, d.webhook_id, d.event_id, d.repeat, d.type, d.status,
	d.attempts, d.next_attempt_at, d.last_attempt_at, d.response_status, d.error, d.duration_ms,
	d.created_at`

// insertDeliveries inserts pending deliveries that are due immediately. It omits those that exist
// already. The unique key of event and repeat recognizes them, so a repeated event is harmless.
func insertDeliveries(ctx context.Context, q pg.Querier, deliveries []delivery) error {
	if len(deliveries) == 0 {
		return nil
	}
	var ids, users, webhooks, events []uuid.UUID
	var types []string
	var bodies [][]byte
	var repeats []int32
	var times []time.Time
	for _, d := range deliveries {
		ids = append(ids, d.ID)
		users = append(users, d.UserID)
		webhooks = append(webhooks, d.WebhookID)
		events = append(events, d.EventID)
		types = append(types, d.Type)
		bodies = append(bodies, d.Body)
		times = append(times, d.CreatedAt)
		repeats = append(repeats, d.Repeat)
	}
	return pg.Exec(ctx, q, `
		INSERT INTO webhook_deliveries
			(id, user_id, webhook_id, event_id, repeat, type, body, next_attempt_at, created_at)
		SELECT id, user_id, webhook_id, event_id, repeat, type, body, created_at, created_at
		FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::integer[], $6::text[],
			$7::bytea[], $8::timestamptz[])
			AS d (id, user_id, webhook_id, event_id, repeat, type, body, created_at)
		ON CONFLICT (user_id, webhook_id, event_id, repeat) DO NOTHING`,
		ids, users, webhooks, events, repeats, types, bodies, times)
}

// selectEnabledWebhooks returns the enabled webhooks of users. Deliveries for disabled webhooks are
// not stored.
func selectEnabledWebhooks(
	ctx context.Context, q pg.Querier, users []uuid.UUID,
) ([]webhook, error) {
	return pg.All[webhook](ctx, q, `
		SELECT `+webhookColumns+`
		FROM webhooks w
		WHERE w.user_id = ANY($1) AND w.enabled`, users)
}

// deliveryList selects a page of a webhook's log. Without a status, it selects all deliveries.
type deliveryList struct {
	user, webhook uuid.UUID
	status        *string
	before        uuid.UUID
	limit         int
}

// selectDeliveries returns a page of a webhook's log, newest first. Ids are UUIDv7, so their order
// is the order of creation.
func selectDeliveries(ctx context.Context, q pg.Querier, l deliveryList) ([]delivery, error) {
	return pg.All[delivery](ctx, q, `
		SELECT `+listedColumns+`, ''::bytea AS body
		FROM webhook_deliveries d
		WHERE d.user_id = $1 AND d.webhook_id = $2 AND d.id < $3
			AND ($4::text IS NULL OR d.status = $4)
		ORDER BY d.id DESC
		LIMIT $5`, l.user, l.webhook, l.before, l.status, l.limit)
}

// selectDelivery returns pgx.ErrNoRows if the user's webhook has no delivery with this id.
func selectDelivery(ctx context.Context, q pg.Querier, w webhook, id uuid.UUID) (delivery, error) {
	return pg.One[delivery](ctx, q, `
		SELECT `+deliveryColumns+`
		FROM webhook_deliveries d
		WHERE d.user_id = $1 AND d.webhook_id = $2 AND d.id = $3`, w.UserID, w.ID, id)
}

// countRepeats returns the number of redeliveries of an event. A lock serializes the redeliveries
// to the webhook until tx ends, so that each gets a different number.
func countRepeats(ctx context.Context, tx pgx.Tx, d delivery) (int32, error) {
	if err := lockWebhook(ctx, tx, d.UserID, d.WebhookID); err != nil {
		return 0, err
	}
	return pg.Value[int32](ctx, tx, `
		SELECT max(repeat)
		FROM webhook_deliveries
		WHERE user_id = $1 AND webhook_id = $2 AND event_id = $3`, d.UserID, d.WebhookID, d.EventID)
}

// claimWebhook leases the webhook with the oldest due delivery, or returns pgx.ErrNoRows if no
// delivery is due. It skips users with maxLeased leased webhooks. The recursive query steps through
// the index from webhook to webhook, because there are few webhooks, but a paused one may have any
// number of deliveries.
func claimWebhook(
	ctx context.Context, q pg.Querier, now, until time.Time, maxLeased int,
) (webhook, error) {
	return pg.One[webhook](ctx, q, `
		WITH RECURSIVE first AS (
			(
				SELECT user_id, webhook_id, next_attempt_at
				FROM webhook_deliveries
				WHERE status = 'pending'
				ORDER BY user_id, webhook_id, next_attempt_at
				LIMIT 1
			)
			UNION ALL
			SELECT d.user_id, d.webhook_id, d.next_attempt_at
			FROM first f
			CROSS JOIN LATERAL (
				SELECT user_id, webhook_id, next_attempt_at
				FROM webhook_deliveries
				WHERE status = 'pending' AND (user_id, webhook_id) > (f.user_id, f.webhook_id)
				ORDER BY user_id, webhook_id, next_attempt_at
				LIMIT 1
			) d
		), due AS (
			SELECT w.user_id, w.id
			FROM first f
			JOIN webhooks w ON w.user_id = f.user_id AND w.id = f.webhook_id
			WHERE f.next_attempt_at <= $1 AND w.enabled
				AND w.leased_until <= $1 AND w.paused_until <= $1
				AND (
					SELECT count(*)
					FROM webhooks o
					WHERE o.user_id = w.user_id AND o.leased_until > $1) < $3
			ORDER BY f.next_attempt_at
			LIMIT 1
			FOR NO KEY UPDATE OF w SKIP LOCKED
		)
		UPDATE webhooks w
		SET leased_until = $2
		FROM due
		WHERE w.user_id = due.user_id AND w.id = due.id
		RETURNING `+webhookColumns, now, until, maxLeased)
}

// releaseWebhook ends the lease that was taken until a time, and records failures and pause. If
// that lease has expired and another worker has one, nothing changes. So a worker that was too slow
// cannot end the lease of its successor.
func releaseWebhook(ctx context.Context, q pg.Querier, w webhook, until, paused time.Time) error {
	return pg.Exec(ctx, q, `
		UPDATE webhooks
		SET leased_until = '-infinity', failures = $4, failing_since = $5, paused_until = $6
		WHERE user_id = $1 AND id = $2 AND leased_until = $3`,
		w.UserID, w.ID, until, w.Failures, w.FailingSince, paused)
}

// selectDue returns the due deliveries of a webhook, the oldest first. The order keeps events in
// the order of their creation, unless one is retried. The partial index webhook_deliveries_pending
// has this order.
func selectDue(ctx context.Context, q pg.Querier, w webhook, now time.Time) ([]delivery, error) {
	return pg.All[delivery](ctx, q, `
		SELECT `+deliveryColumns+`
		FROM webhook_deliveries d
		WHERE d.user_id = $1 AND d.webhook_id = $2 AND d.status = 'pending'
			AND d.next_attempt_at <= $3
		ORDER BY d.next_attempt_at, d.id
		LIMIT $4`, w.UserID, w.ID, now, batchSize)
}

func updateDelivery(ctx context.Context, q pg.Querier, d delivery) error {
	return pg.Exec(ctx, q, `
		UPDATE webhook_deliveries
		SET status = $4, attempts = $5, next_attempt_at = $6, last_attempt_at = $7,
			response_status = $8, error = $9, duration_ms = $10
		WHERE user_id = $1 AND webhook_id = $2 AND id = $3`,
		d.UserID, d.WebhookID, d.ID, d.Status, d.Attempts, d.NextAttemptAt, d.LastAttemptAt,
		d.ResponseStatus, d.Error, d.DurationMS)
}

// expireDeliveries fails the pending deliveries from before a time, and deletes all deliveries from
// before another time. Deliveries of a disabled webhook expire, too. The hourly cleanup calls it.
// The index webhook_deliveries_created_at finds the rows.
func expireDeliveries(ctx context.Context, q pg.Querier, failBefore, deleteBefore time.Time) error {
	err := pg.Exec(ctx, q, `
		UPDATE webhook_deliveries
		SET status = 'failed'
		WHERE status = 'pending' AND created_at < $1`, failBefore)
	if err != nil {
		return err
	}
	return pg.Exec(ctx, q, `DELETE FROM webhook_deliveries WHERE created_at < $1`, deleteBefore)
}
