package auth

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

// auditEntry is a row of audit. insertAudit writes several rows as one JSON parameter.
type auditEntry struct {
	ID      uuid.UUID `json:"id"`
	UserID  uuid.UUID `db:"user_id" json:"user_id"`
	Type    string    `json:"type"`
	Outcome string    `json:"outcome"`
	At      time.Time `json:"at"`
	// LastAt is the time of the last occurrence. It equals At unless the row counts several.
	LastAt time.Time `db:"last_at" json:"last_at"`
	Times  int32     `json:"times"`
	// SessionID is nil for a failed sign-in, and for an entry about a shared budget. Address and
	// UserAgent are empty if they are unknown.
	SessionID *uuid.UUID `db:"session_id" json:"session_id"`
	Address   string     `json:"address"`
	UserAgent string     `db:"user_agent" json:"user_agent"`
	Sharing   *sharing   `json:"sharing"`
	// TokenName is nil in entries that are not about a personal access token.
	TokenName *string `db:"token_name" json:"token_name"`
}

// sharing holds the details of an entry about a shared budget, stored as JSON. The ids are texts as
// in the event, because they are only shown. MemberID is empty for an invitation by mail. Role,
// Status and RemovedBy are nil in the types of entries that have none.
type sharing struct {
	// BudgetID or GoalID is empty.
	BudgetID  string  `json:"budgetId"`
	GoalID    string  `json:"goalId,omitempty"`
	OwnerID   string  `json:"ownerId"`
	MemberID  string  `json:"memberId"`
	Role      *string `json:"role,omitempty"`
	Status    *string `json:"status,omitempty"`
	RemovedBy *string `json:"removedBy,omitempty"`
	// OwnerName and MemberName are the names at the time of the event. Entries of earlier releases
	// have none.
	OwnerName  *string `json:"ownerName,omitempty"`
	MemberName *string `json:"memberName,omitempty"`
	// Email is the invited e-mail of an invitation by mail, and Reason why it ended.
	Email  *string `json:"email,omitempty"`
	Reason *string `json:"reason,omitempty"`
}

// insertAudit inserts entries. It omits entries of users that do not exist, and entries whose id
// exists already, because an event may be delivered more than once. A nil Sharing is null in JSON,
// which NULLIF converts to the NULL of SQL.
func insertAudit(ctx context.Context, q pg.Querier, entries ...auditEntry) error {
	rows, err := json.Marshal(entries)
	if err != nil {
		return fmt.Errorf("encoding audit entries: %w", err)
	}
	return pg.Exec(ctx, q, `
		INSERT INTO audit (id, user_id, type, outcome, at, last_at, times, session_id, address,
			user_agent, sharing, token_name)
		SELECT e.id, e.user_id, e.type, e.outcome, e.at, e.last_at, e.times, e.session_id,
			e.address, e.user_agent, NULLIF(e.sharing, 'null'), e.token_name
		FROM jsonb_to_recordset($1::jsonb) AS e (
			id uuid, user_id uuid, type text, outcome text, at timestamptz, last_at timestamptz,
			times integer, session_id uuid, address text, user_agent text, sharing jsonb,
			token_name text)
		JOIN users u ON u.id = e.user_id
		ON CONFLICT (user_id, id) DO NOTHING`, string(rows))
}

// countAudit adds one to the user's failures of this type, hour and address. It does nothing if the
// user does not exist. In each hour, up to limit addresses have a row each, and all later addresses
// share a row without an address.
//
// The LATERAL subquery counts the rows of this type and hour, and reports whether this address has
// one. Only these rows have a value in failed_in. The unique index covers no others, so the entries
// of insertAudit are never counted together.
//
// Simultaneous failures of one address meet at the unique index audit_failures and are all counted.
// Simultaneous first failures of several addresses may each find a place, so an hour can have a few
// more rows.
func countAudit(
	ctx context.Context, q pg.Querier, entry auditEntry, hour time.Time, limit int,
) error {
	return pg.Exec(ctx, q, `
		INSERT INTO audit AS a (id, user_id, type, outcome, at, last_at, times, session_id, address,
			user_agent, failed_in)
		SELECT @id, u.id, @type, @outcome, @at, @at, 1, @session,
			CASE WHEN known.addresses < @limit OR known.this THEN @address ELSE '' END,
			CASE WHEN known.addresses < @limit OR known.this THEN @agent ELSE '' END, @hour
		FROM users u, LATERAL (
			SELECT count(*) AS addresses, COALESCE(bool_or(k.address = @address), false) AS this
			FROM audit k
			WHERE k.user_id = u.id AND k.failed_in = @hour AND k.type = @type) known
		WHERE u.id = @user
		ON CONFLICT (user_id, failed_in, type, address) WHERE failed_in IS NOT NULL DO UPDATE
		SET times = a.times + 1, last_at = GREATEST(a.last_at, EXCLUDED.last_at)`,
		pgx.NamedArgs{
			"id": entry.ID, "type": entry.Type, "outcome": entry.Outcome, "at": entry.At,
			"session": entry.SessionID,
			"address": entry.Address, "agent": entry.UserAgent, "user": entry.UserID, "hour": hour,
			"limit": limit,
		})
}

func selectAudit(
	ctx context.Context, q pg.Querier, user, before uuid.UUID, limit int,
) ([]auditEntry, error) {
	return pg.All[auditEntry](ctx, q, `
		SELECT id, user_id, type, outcome, at, last_at, times, session_id, address, user_agent,
			sharing, token_name
		FROM audit
		WHERE user_id = $1 AND id < $2
		ORDER BY id DESC
		LIMIT $3`, user, before, limit)
}

// deleteAudit deletes the entries of all users that are older than before. The index audit_at finds
// the rows.
func deleteAudit(ctx context.Context, q pg.Querier, before time.Time) error {
	return pg.Exec(ctx, q, `DELETE FROM audit WHERE at < $1`, before)
}
