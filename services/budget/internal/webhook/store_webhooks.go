package webhook

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

type webhook struct {
	ID          uuid.UUID
	UserID      uuid.UUID `db:"user_id"`
	URL         string
	Description string
	// Events holds patterns of event types. An empty list selects all types.
	Events  []string
	Enabled bool
	// DisabledReason is set if Coffer disabled the webhook, and not its user.
	DisabledReason *disabledReason `db:"disabled_reason"`
	// Secret and PreviousSecret are sealed. The previous one also signs until PreviousUntil.
	Secret         []byte
	PreviousSecret []byte     `db:"previous_secret"`
	PreviousUntil  *time.Time `db:"previous_until"`
	// Failures counts the failed attempts since the last success. FailingSince is the time of the
	// first of them.
	Failures     int32
	FailingSince *time.Time `db:"failing_since"`
	// Version is the ETag. Attempts and rotations do not change it.
	Version   int64
	CreatedAt time.Time `db:"created_at"`
	UpdatedAt time.Time `db:"updated_at"`
}

type disabledReason string

const (
	// gone is the reason after a response with status 410.
	gone disabledReason = "gone"
	// failing is the reason after days without a successful attempt.
	failing disabledReason = "failing"
)

// webhookColumns lists the columns of type webhook, with the table alias w.
const webhookColumns = `w.id, w.user_id, w.url, w.description, w.events, w.enabled,
	w.disabled_reason, w.secret, w.previous_secret, w.previous_until, w.failures, w.failing_since,
	w.version, w.created_at, w.updated_at`

// args returns the columns that users change as named arguments. Other statements set leases,
// failures and pauses.
func (w webhook) args() pgx.NamedArgs {
	return pgx.NamedArgs{
		"id": w.ID, "user": w.UserID, "url": w.URL, "description": w.Description,
		"events": w.Events, "enabled": w.Enabled,
		"reason": w.DisabledReason, "secret": w.Secret, "previous": w.PreviousSecret,
		"until": w.PreviousUntil, "version": w.Version,
		"created": w.CreatedAt, "updated": w.UpdatedAt,
	}
}

// countWebhooks returns the number of a user's webhooks. A lock serializes the user's creations
// until tx ends, so that concurrent ones cannot exceed the limit.
func countWebhooks(ctx context.Context, tx pgx.Tx, user uuid.UUID) (int64, error) {
	if err := pg.Lock(ctx, tx, "webhooks", user); err != nil {
		return 0, err
	}
	return pg.Value[int64](ctx, tx, `SELECT count(*) FROM webhooks WHERE user_id = $1`, user)
}

func insertWebhook(ctx context.Context, q pg.Querier, w webhook) error {
	return pg.Exec(ctx, q, `
		INSERT INTO webhooks (id, user_id, url, description, events, enabled, secret, version,
			created_at, updated_at)
		VALUES (@id, @user, @url, @description, @events, @enabled, @secret, @version, @created,
			@updated)`, w.args())
}

// selectWebhooks returns a page of a user's webhooks, newest first.
func selectWebhooks(
	ctx context.Context, q pg.Querier, user, before uuid.UUID, limit int,
) ([]webhook, error) {
	return pg.All[webhook](ctx, q, `
		SELECT `+webhookColumns+`
		FROM webhooks w
		WHERE w.user_id = $1 AND w.id < $2
		ORDER BY w.id DESC
		LIMIT $3`, user, before, limit)
}

// selectWebhook returns pgx.ErrNoRows if the user has no webhook with this id.
func selectWebhook(ctx context.Context, q pg.Querier, user, id uuid.UUID) (webhook, error) {
	return pg.One[webhook](ctx, q, `
		SELECT `+webhookColumns+`
		FROM webhooks w
		WHERE w.user_id = $1 AND w.id = $2`, user, id)
}

// lockWebhook serializes the changes of one webhook until tx ends. It locks nothing if the user has
// no webhook with this id. Deliveries may be inserted meanwhile, because the lock does not block
// foreign keys.
func lockWebhook(ctx context.Context, tx pgx.Tx, user, id uuid.UUID) error {
	return pg.Exec(ctx, tx,
		`SELECT id FROM webhooks WHERE user_id = $1 AND id = $2 FOR NO KEY UPDATE`, user, id)
}

// updateWebhook also resets failures and pause, because the user's change may have repaired the
// webhook. It does not end a lease: a worker that is sending continues with the former URL until
// its batch ends.
func updateWebhook(ctx context.Context, q pg.Querier, w webhook) error {
	return pg.Exec(ctx, q, `
		UPDATE webhooks
		SET url = @url, description = @description, events = @events, enabled = @enabled,
			disabled_reason = @reason, secret = @secret, previous_secret = @previous,
			previous_until = @until, failures = 0, failing_since = NULL, paused_until = '-infinity',
			version = @version, updated_at = @updated
		WHERE user_id = @user AND id = @id`, w.args())
}

// deleteWebhook also deletes the deliveries of the webhook, by cascade.
func deleteWebhook(ctx context.Context, q pg.Querier, user, id uuid.UUID) error {
	return pg.Exec(ctx, q, `DELETE FROM webhooks WHERE user_id = $1 AND id = $2`, user, id)
}

// disableWebhook disables a webhook, unless its user has changed the URL since w was read. The
// lease is released afterwards by the worker that holds it.
func disableWebhook(
	ctx context.Context, q pg.Querier, w webhook, reason disabledReason, at time.Time,
) error {
	return pg.Exec(ctx, q, `
		UPDATE webhooks
		SET enabled = false, disabled_reason = $5, version = version + 1, updated_at = $3
		WHERE user_id = $1 AND id = $2 AND url = $4 AND enabled`, w.UserID, w.ID, at, w.URL, reason)
}

// numbers are the numbers of webhooks by state.
type numbers struct{ Enabled, Failing, Disabled int64 }

// countByState counts the webhooks of all users. Each user has at most maxWebhooks.
func countByState(ctx context.Context, q pg.Querier) (numbers, error) {
	return pg.One[numbers](ctx, q, `
		SELECT count(*) FILTER (WHERE enabled) AS enabled,
			count(*) FILTER (WHERE enabled AND failures > 0) AS failing,
			count(*) FILTER (WHERE disabled_reason IS NOT NULL) AS disabled
		FROM webhooks`)
}
