package mail

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

// newMail is a row of mails to insert.
type newMail struct {
	Mail
	toMAC, to, params []byte
	now, expires      time.Time
}

// leased is a row of mails that this replica sends.
type leased struct {
	ID           uuid.UUID
	UserID       *uuid.UUID `db:"user_id"`
	Template     string
	Language     string
	ToSealed     []byte    `db:"to_sealed"`
	ParamsSealed []byte    `db:"params_sealed"`
	CreatedAt    time.Time `db:"created_at"`
	ExpiresAt    time.Time `db:"expires_at"`
	// Attempts is the number of leases including this one. It identifies the lease: each new one
	// increments it.
	Attempts int
}

// insertMail inserts a mail unless the address has reached a limit, and reports whether it did. The
// advisory lock keeps simultaneous mails to one address from exceeding the limits.
func insertMail(ctx context.Context, tx pgx.Tx, m newMail) (bool, error) {
	err := pg.Exec(ctx, tx,
		`SELECT pg_advisory_xact_lock(hashtextextended('mails ' || encode($1, 'hex'), 0))`, m.toMAC)
	if err != nil {
		return false, err
	}
	return pg.Affected(ctx, tx, `
		INSERT INTO mails (id, user_id, template, language, to_mac, to_sealed, params_sealed,
			status, created_at, next_attempt_at, expires_at, dedupe_key)
		SELECT @id, @user, @template, @language, @mac, @to, @params, 'queued', @now, @now, @expires,
			@dedupe
		FROM (
			SELECT count(*) AS mails, count(*) FILTER (WHERE template = @template) AS alike
			FROM mails
			WHERE to_mac = @mac AND created_at > @since) earlier
		WHERE earlier.mails < @perAddress AND earlier.alike < @perTemplate
		ON CONFLICT (dedupe_key) DO NOTHING`,
		pgx.NamedArgs{
			"id": m.ID, "user": optional(m.UserID), "template": m.Template, "language": m.Language,
			"mac": m.toMAC, "to": m.to, "params": m.params, "now": m.now, "expires": m.expires,
			"dedupe": optional(m.DedupeKey), "since": m.now.Add(-LimitWindow),
			"perAddress": perAddress, "perTemplate": perTemplate,
		})
}

// optional returns nil, which becomes NULL, for a zero value.
func optional[T comparable](value T) *T {
	if value == *new(T) {
		return nil
	}
	return &value
}

// leaseMail leases the next due mail until the given time and counts the attempt, so that a mail
// that kills its replicas fails, too. It returns pgx.ErrNoRows if none is due.
func leaseMail(ctx context.Context, q pg.Querier, now, until time.Time) (leased, error) {
	return pg.One[leased](ctx, q, `
		UPDATE mails
		SET attempts = attempts + 1, leased_until = $2
		WHERE id = (
			SELECT id
			FROM mails
			WHERE status = 'queued' AND next_attempt_at <= $1
				AND (leased_until IS NULL OR leased_until <= $1)
			ORDER BY next_attempt_at
			LIMIT 1
			FOR UPDATE SKIP LOCKED)
		RETURNING id, user_id, template, language, to_sealed, params_sealed, created_at, expires_at,
			attempts`, now, until)
}

// endMail ends a mail and removes its address and contents. It does nothing after another replica
// has leased the mail.
func endMail(ctx context.Context, q pg.Querier, row leased, status string) error {
	return pg.Exec(ctx, q, `
		UPDATE mails
		SET status = $3, to_sealed = NULL, params_sealed = NULL, leased_until = NULL
		WHERE id = $1 AND attempts = $2 AND status = 'queued'`, row.ID, row.Attempts, status)
}

// releaseMail ends the lease of a mail whose attempt failed.
func releaseMail(ctx context.Context, q pg.Querier, row leased, next time.Time) error {
	return pg.Exec(ctx, q, `
		UPDATE mails
		SET next_attempt_at = $3, leased_until = NULL
		WHERE id = $1 AND attempts = $2 AND status = 'queued'`, row.ID, row.Attempts, next)
}

// deleteMails deletes the log that is older than logged, and dropped mails that are older than
// limits. Anyone can cause dropped mails to addresses without an account.
func deleteMails(ctx context.Context, q pg.Querier, logged, limits time.Time) error {
	return pg.Exec(ctx, q, `
		DELETE FROM mails
		WHERE created_at < $1 OR created_at < $2 AND status = 'dropped'`, logged, limits)
}

func deleteMailsTo(ctx context.Context, q pg.Querier, mac []byte) error {
	return pg.Exec(ctx, q, `DELETE FROM mails WHERE to_mac = $1`, mac)
}
