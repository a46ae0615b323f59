package auth

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/auth/internal/links"
)

// TestDeleteAccountWithNewEmail changes the e-mail during the deletion. Links to do so end with the
// grace period, because the services delete what contains the e-mail.
func TestDeleteAccountWithNewEmail(t *testing.T) {
	t.Parallel()
	l := startDeletion(t)
	id := uuid.MustParse(l.user.GetId())
	const former = "former@example.com"
	require.NoError(t, links.Insert(t.Context(), l.db, "token", links.Link{
		Kind: links.EmailRevert, UserID: &id, Email: former,
		ExpiresAt: l.clock.now().Add(2 * grace),
	}))
	l.clock.advance(grace)
	require.Equal(t, []string{"budget"}, l.asked(t))
	_, err := l.RevertEmail(t.Context(), &authv1.RevertEmailRequest{Token: "token"})
	require.ErrorIs(t, err, errLinkExpired)
	l.reports(t, &budgetv1.UserErased{})
	require.Equal(t, []string{"ledger"}, l.asked(t))
	l.reports(t, &ledgerv1.UserErased{})

	var texts []string
	l.deletions.EraseEvents = func(_ context.Context, _ uuid.UUID, named ...string) error {
		texts = append(texts, named...)
		pgtest.Exec(t, l.db, `UPDATE users SET email = $1 WHERE id = $2`, former, id)
		return nil
	}
	l.deletions.RunQueued(t.Context())
	require.Equal(t, "erasing", l.status(t).GetStatus())
	l.deletions.RunQueued(t.Context())
	require.Equal(t, "erased", l.status(t).GetStatus())
	require.Equal(t, []string{l.user.GetEmail(), former}, texts)
	require.Empty(t, pgtest.Mentions(t, l.db, id.String(), former))
}

// TestDeleteAccountWithNewEvent adds an event of the user to the outbox while the events in the
// stream are deleted. They are deleted again after its publication.
func TestDeleteAccountWithNewEvent(t *testing.T) {
	t.Parallel()
	l := startDeletion(t)
	l.erasedByServices(t)
	erasures := 0
	l.deletions.EraseEvents = func(context.Context, uuid.UUID, ...string) error {
		if erasures++; erasures == 1 {
			pgtest.Exec(t, l.db, `
				INSERT INTO outbox (id, user_id, subject, data)
				VALUES ($1, $1, 'auth.v1.user.updated', '')`, l.user.GetId())
		}
		return nil
	}
	l.deletions.RunQueued(t.Context())
	require.Equal(t, "erasing", l.status(t).GetStatus())
	pgtest.Exec(t, l.db, `DELETE FROM outbox`)
	l.deletions.RunQueued(t.Context())
	require.Equal(t, "erased", l.status(t).GetStatus())
	require.Equal(t, 2, erasures)
}

// TestDeleteAccountEndsInvitations invites a user before and after the services delete the rows of
// the user. They would store the invitation after that.
func TestDeleteAccountEndsInvitations(t *testing.T) {
	t.Parallel()
	l := startDeletion(t)
	other := l.register(t, "eve@example.com")
	find := func() error {
		_, err := l.FindUserByEmail(t.Context(),
			&authv1.FindUserByEmailRequest{Email: l.user.GetEmail()})
		return err
	}
	invited := func() (users []string) {
		pgtest.Exec(t, l.db, `DELETE FROM outbox`)
		require.NoError(t, pg.InTx(t.Context(), l.db, func(tx pgx.Tx) error {
			return l.noteSharing(t.Context(), tx, []outbox.Received{{
				ID: l.newID(), UserID: uuid.MustParse(other.GetId()), Time: l.clock.now(),
				Data: &budgetv1.InvitationMailed{
					BudgetId: "b", OwnerId: other.GetId(), InvitationId: uuid.NewString(),
					Email: l.user.GetEmail(),
				},
			}})
		}))
		for _, event := range l.events(t) {
			if m, ok := event.message(t).(*authv1.UserInvited); ok {
				users = append(users, m.GetUser().GetId())
			}
		}
		return users
	}
	require.NoError(t, find())
	require.Equal(t, []string{l.user.GetId()}, invited())
	l.clock.advance(grace)
	pgtest.Exec(t, l.db, `DELETE FROM outbox`)
	require.Equal(t, []string{"budget"}, l.asked(t))
	require.ErrorIs(t, find(), errUserNotFound)
	require.Empty(t, invited())
}

// TestReplayEndsAccess restores the session of a user in the grace period.
func TestReplayEndsAccess(t *testing.T) {
	t.Parallel()
	l := startDeletion(t)
	live := func() int {
		return pgtest.Value[int](t, l.db, `SELECT count(*) FROM sessions WHERE revoked_at IS NULL`)
	}
	pgtest.Exec(t, l.db, `UPDATE sessions SET revoked_at = NULL`)
	require.NotZero(t, live())
	replayed, err := l.deletions.Replay(t.Context())
	require.NoError(t, err)
	require.Zero(t, replayed)
	require.Zero(t, live())
	require.NotEmpty(t, l.rejected(t), "the deletion can be canceled")
}

// TestDeleteAccountAwaitsAudit applies events that name the user while the deletion waits for the
// audit trail.
func TestDeleteAccountAwaitsAudit(t *testing.T) {
	t.Parallel()
	l := startDeletion(t)
	id := l.user.GetId()
	other := l.register(t, "eve@example.com")
	entries := func() int {
		return pgtest.Value[int](t, l.db,
			`SELECT count(*) FROM audit WHERE user_id = $1 AND sharing IS NOT NULL`, other.GetId())
	}
	l.erasedByServices(t)
	l.deletions.AwaitApplied = func(context.Context) error { return context.DeadlineExceeded }
	l.deletions.RunQueued(t.Context())
	require.Equal(t, "erasing", l.status(t).GetStatus(), "the audit trail is behind")
	require.Empty(t, l.erased)
	l.deletions.AwaitApplied = func(context.Context) error {
		require.Empty(t, l.erased, "the events are still in the stream")
		l.sharing(t, other.GetId(), id, l.user.GetEmail())
		return nil
	}
	l.deletions.RunQueued(t.Context())
	require.Equal(t, "erased", l.status(t).GetStatus())
	require.Equal(t, 4, entries())
	require.Empty(t, pgtest.Mentions(t, l.db, id, l.user.GetEmail()))
}

// TestDeleteAccountDeletesResponses has responses of second steps of sign-ins, which are stored for
// 24 hours.
func TestDeleteAccountDeletesResponses(t *testing.T) {
	t.Parallel()
	l := startDeletion(t)
	other := l.register(t, "eve@example.com")
	for token, user := range map[string]string{"ada": l.user.GetId(), "eve": other.GetId()} {
		pgtest.Exec(t, l.db, `
			INSERT INTO ceremonies (hash, kind, user_id, expires_at)
			VALUES (sha256($1), 'login', $2, $3)`, []byte(token), user, l.clock.now())
		pgtest.Exec(t, l.db, `
			INSERT INTO idempotency_keys (scope, key_hash, request_mac)
			VALUES ('mfa:' || encode(sha256($1), 'hex'), $1, '')`, []byte(token))
	}
	l.erasedByServices(t)
	l.deletions.RunQueued(t.Context())
	require.Equal(t, "erased", l.status(t).GetStatus())
	require.Equal(t, []byte("eve"), pgtest.Value[[]byte](t, l.db,
		`SELECT key_hash FROM idempotency_keys WHERE scope LIKE 'mfa:%'`))
}
