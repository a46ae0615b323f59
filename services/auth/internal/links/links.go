// Package links stores the links in mails. It owns the table mail_links.
//
// A link is a token of 256 bits that package mail derives from the id of its mail. Only its hash is
// stored. A link works once: Use marks it in the transaction of its effect, and of simultaneous
// calls one finds it unused. A link that is bound to a password is no longer valid after a change
// of the password; Use does not check that, because the statement that writes must.
package links

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
)

// Kinds of links. They are stored: never rename one.
const (
	PasswordReset = "password_reset"
	// EmailVerification confirms the present e-mail, EmailChange a new one, and EmailRevert
	// restores the former one.
	EmailVerification = "email_verification"
	EmailChange       = "email_change"
	EmailRevert       = "email_revert"
	// Invitation registers a user with the e-mail.
	Invitation = "invitation"
)

// Link is a row of mail_links.
type Link struct {
	Kind   string
	UserID *uuid.UUID `db:"user_id"`
	// Email is the address that received the link. EmailRevert restores it.
	Email string
	// PasswordMark is Mark of the hash of the password to which the link is bound, or nil.
	PasswordMark []byte    `db:"password_mark"`
	ExpiresAt    time.Time `db:"expires_at"`
	// InvitationID is nil for other kinds than Invitation.
	InvitationID *uuid.UUID `db:"invitation_id"`
}

const columns = `kind, user_id, email, password_mark, expires_at, invitation_id`

// Hash returns the hash by which a token is stored. A token has 256 random bits, so a fast hash is
// sufficient.
func Hash(token string) []byte {
	hash := sha256.Sum256([]byte(token))
	return hash[:]
}

// Mark returns the mark of a password for a link, from the hash of the password. A link does not
// store that hash itself, because links are kept after the password has changed.
func Mark(passwordHash string) []byte { return Hash(passwordHash) }

// Insert stores a link. It does nothing if the token has one, because a mail is sent again with the
// same token.
func Insert(ctx context.Context, q pg.Querier, token string, link Link) error {
	return pg.Exec(ctx, q, `
		INSERT INTO mail_links (hash, kind, user_id, email, password_mark, expires_at,
			invitation_id)
		VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (hash) DO NOTHING`,
		Hash(token), link.Kind, link.UserID, link.Email, link.PasswordMark, link.ExpiresAt,
		link.InvitationID)
}

// Select returns a link that can be used now, or pgx.ErrNoRows.
func Select(
	ctx context.Context, q pg.Querier, kind, token string, now time.Time,
) (Link, error) {
	return pg.One[Link](ctx, q, `
		SELECT `+columns+`
		FROM mail_links
		WHERE hash = $1 AND kind = $2 AND used_at IS NULL AND expires_at > $3`,
		Hash(token), kind, now)
}

// Use marks a link of one of the kinds as used and returns it. It returns pgx.ErrNoRows for a link
// that is unknown, of another kind, used or expired. A simultaneous call waits for the transaction
// of the first one.
func Use(
	ctx context.Context, q pg.Querier, token string, now time.Time, kinds ...string,
) (Link, error) {
	return pg.One[Link](ctx, q, `
		UPDATE mail_links
		SET used_at = $3
		WHERE hash = $1 AND kind = ANY($2) AND used_at IS NULL AND expires_at > $3
		RETURNING `+columns, Hash(token), kinds, now)
}

// EndLater ends the links with which a thief could undo the use of an EmailRevert link: pending
// changes of the e-mail, and links that were sent to later e-mails. Links that were sent to earlier
// e-mails stay valid, because the first one is the owner's. The transaction must have locked the
// user. Otherwise a simultaneous change could create another link.
func EndLater(ctx context.Context, q pg.Querier, reverted Link, now time.Time) error {
	return pg.Exec(ctx, q, `
		UPDATE mail_links
		SET used_at = $3
		WHERE user_id = $1 AND used_at IS NULL
			AND (kind = 'email_change' OR kind = 'email_revert' AND expires_at > $2)`,
		reverted.UserID, reverted.ExpiresAt, now)
}

// EndAll ends all links of a user. It waits for transactions that use one.
func EndAll(ctx context.Context, q pg.Querier, user uuid.UUID, now time.Time) error {
	return pg.Exec(ctx, q, `
		UPDATE mail_links
		SET used_at = $2
		WHERE user_id = $1 AND used_at IS NULL`, user, now)
}

// EndInvitations ends the links of invitations.
func EndInvitations(
	ctx context.Context, q pg.Querier, invitations []uuid.UUID, now time.Time,
) error {
	return pg.Exec(ctx, q, `
		UPDATE mail_links
		SET used_at = $2
		WHERE invitation_id = ANY($1) AND used_at IS NULL`, invitations, now)
}

// Expire deletes the links that expired before a time.
func Expire(ctx context.Context, q pg.Querier, before time.Time) error {
	return pg.Exec(ctx, q, `DELETE FROM mail_links WHERE expires_at < $1`, before)
}
