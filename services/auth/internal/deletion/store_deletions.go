package deletion

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

const columns = `id, user_id, user_mac, requested_at, erases_at, asked, asked_at, budget_at,
	ledger_at, events_at, erased_at`

// NotBegun is the condition on a user u whose data no service deletes yet. A service that has
// deleted them must not store new ones.
const NotBegun = `NOT EXISTS (SELECT FROM deletions d WHERE d.user_id = u.id AND d.asked <> '')`

func insertDeletion(ctx context.Context, q pg.Querier, d deletion) error {
	return pg.Exec(ctx, q, `
		INSERT INTO deletions (id, user_id, user_mac, requested_at, erases_at, asked_at)
		VALUES ($1, $2, $3, $4, $5, $4)`, d.ID, d.UserID, d.UserMAC, d.RequestedAt, d.ErasesAt)
}

// deleteDeletion deletes a deletion that has not begun, and returns it. It returns pgx.ErrNoRows
// for any other id.
func deleteDeletion(
	ctx context.Context, q pg.Querier, id uuid.UUID, now time.Time,
) (deletion, error) {
	return pg.One[deletion](ctx, q, `
		DELETE FROM deletions
		WHERE id = $1 AND user_id IS NOT NULL AND asked = '' AND erases_at > $2
		RETURNING `+columns, id, now)
}

func selectDeletion(ctx context.Context, q pg.Querier, id uuid.UUID) (deletion, error) {
	return pg.One[deletion](ctx, q, `SELECT `+columns+` FROM deletions WHERE id = $1`, id)
}

// lockDeletion locks a deletion that is not complete, or returns pgx.ErrNoRows.
func lockDeletion(ctx context.Context, tx pgx.Tx, id uuid.UUID) (deletion, error) {
	return pg.One[deletion](ctx, tx,
		`SELECT `+columns+` FROM deletions WHERE id = $1 AND user_id IS NOT NULL FOR UPDATE`, id)
}

// selectPending returns the deletion of a user, if there is one.
func selectPending(ctx context.Context, q pg.Querier, user uuid.UUID) ([]deletion, error) {
	return pg.All[deletion](ctx, q,
		`SELECT `+columns+` FROM deletions WHERE user_id = $1`, user)
}

// selectDue returns the deletions that are not complete and whose grace period has ended.
func selectDue(ctx context.Context, q pg.Querier, now time.Time) ([]deletion, error) {
	return pg.All[deletion](ctx, q, `
		SELECT `+columns+`
		FROM deletions
		WHERE user_id IS NOT NULL AND erases_at <= $1
		ORDER BY erases_at
		LIMIT 1000`, now)
}

// selectOldestAge returns the time since the end of the oldest grace period in seconds.
func selectOldestAge(ctx context.Context, q pg.Querier, now time.Time) (int64, error) {
	return pg.Value[int64](ctx, q, `
		SELECT coalesce(extract(epoch FROM $1::timestamptz - min(erases_at)), 0)::bigint
		FROM deletions
		WHERE user_id IS NOT NULL AND erases_at <= $1`, now)
}

func updateAsked(
	ctx context.Context, q pg.Querier, id uuid.UUID, service string, now time.Time,
) error {
	return pg.Exec(ctx, q,
		`UPDATE deletions SET asked = $2, asked_at = $3 WHERE id = $1`, id, service, now)
}

func updateBudgetAt(ctx context.Context, q pg.Querier, id uuid.UUID, at time.Time) error {
	return pg.Exec(ctx, q, `
		UPDATE deletions
		SET budget_at = $2
		WHERE id = $1 AND user_id IS NOT NULL AND budget_at IS NULL`, id, at)
}

func updateLedgerAt(ctx context.Context, q pg.Querier, id uuid.UUID, at time.Time) error {
	return pg.Exec(ctx, q, `
		UPDATE deletions
		SET ledger_at = $2
		WHERE id = $1 AND user_id IS NOT NULL AND ledger_at IS NULL AND budget_at IS NOT NULL`,
		id, at)
}

// updateErased completes a deletion.
func updateErased(ctx context.Context, q pg.Querier, id uuid.UUID, events, erased time.Time) error {
	return pg.Exec(ctx, q, `
		UPDATE deletions
		SET user_id = NULL, events_at = $2, erased_at = $3
		WHERE id = $1`, id, events, erased)
}

func deleteCertificates(ctx context.Context, q pg.Querier, before time.Time) error {
	return pg.Exec(ctx, q, `DELETE FROM deletions WHERE erased_at < $1`, before)
}

// certificate is a complete deletion.
type certificate struct {
	ID  uuid.UUID
	MAC []byte `db:"user_mac"`
}

func selectCertificates(ctx context.Context, q pg.Querier) ([]certificate, error) {
	return pg.All[certificate](ctx, q,
		`SELECT id, user_mac FROM deletions WHERE user_id IS NULL`)
}

// restart makes a complete deletion begin again.
func restart(ctx context.Context, q pg.Querier, id, user uuid.UUID, now time.Time) error {
	return pg.Exec(ctx, q, `
		UPDATE deletions
		SET user_id = $2, erases_at = $3, asked = '', asked_at = $3, budget_at = NULL,
			ledger_at = NULL, events_at = NULL, erased_at = NULL
		WHERE id = $1`, id, user, now)
}

// restartUnfinished makes the deletions that have begun begin again. It returns the users of all
// deletions that are not complete.
func restartUnfinished(ctx context.Context, q pg.Querier) ([]uuid.UUID, error) {
	return pg.Values[uuid.UUID](ctx, q, `
		UPDATE deletions
		SET asked = '', budget_at = NULL, ledger_at = NULL
		WHERE user_id IS NOT NULL
		RETURNING user_id`)
}
