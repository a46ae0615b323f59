package auth

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	"github.com/coffer-budget/coffer/services/auth/internal/factors"
)

func TestLoginPasskey(t *testing.T) {
	t.Parallel()
	p := setupMail(t)
	ctx, _ := p.member(t, "ada@example.com")
	d := p.registered(ctx, t)
	rejects := func(t *testing.T, req *authv1.LoginPasskeyRequest) {
		t.Helper()
		p.refuses(t, codes.Unauthenticated, "INVALID_PASSKEY_RESPONSE",
			func() error { return d.signIn(req) })
	}
	t.Run("signs in without a password, and is both steps", func(t *testing.T) {
		resp, err := p.LoginPasskey(t.Context(), d.assertion(t))
		require.NoError(t, err)
		require.Equal(t, "ada@example.com", resp.GetUser().GetEmail())
		require.Equal(t, p.clock.now(), p.authTime(t, resp.GetAccessToken()))
		_, err = p.refresh(t.Context(), resp.GetRefreshToken())
		require.NoError(t, err)
	})
	t.Run("returns the first response to a repeated request", func(t *testing.T) {
		req := d.assertion(t)
		req.IdempotencyKey = "k"
		first, err := p.LoginPasskey(t.Context(), req)
		require.NoError(t, err)
		again, err := p.LoginPasskey(t.Context(), req)
		require.NoError(t, err)
		require.True(t, again.GetReplayed())
		require.Equal(t, first.GetAccessToken(), again.GetAccessToken())
		req.Assertion = d.assertion(t).GetAssertion()
		p.refuses(t, codes.AlreadyExists, "IDEMPOTENCY_KEY_CONFLICT",
			func() error { return d.signIn(req) })
	})
	t.Run("sets a cookie for the site itself only", func(t *testing.T) {
		req := d.assertion(t)
		req.Session, req.Site, req.FetchSite = "cookie", ownSite, "cross-site"
		p.refuses(t, codes.PermissionDenied, "FORBIDDEN_ORIGIN",
			func() error { return d.signIn(req) })
		req.FetchSite = "same-origin"
		resp, err := p.LoginPasskey(t.Context(), req)
		require.NoError(t, err)
		require.NotEmpty(t, resp.GetCookie().GetValue())
		require.Empty(t, resp.GetRefreshToken())
	})
	t.Run("accepts each ceremony once", func(t *testing.T) {
		req := d.assertion(t)
		require.Equal(t, 1, succeeded(20, func(int) error { return d.signIn(req) }))
		rejects(t, req)
		late := d.assertion(t)
		p.clock.advance(factors.ChallengeTTL)
		rejects(t, late)
		mixed := d.assertion(t)
		mixed.CeremonyId = d.assertion(t).GetCeremonyId()
		rejects(t, mixed)
	})
	t.Run("rejects the responses of other sites, users and keys", func(t *testing.T) {
		for _, change := range []func(d *device){
			func(d *device) { d.party.Origin = "https://evil.example" },
			func(d *device) { d.party.ID = "evil.example" },
			func(d *device) { d.auth.Options.UserNotVerified = true },
			func(d *device) { d.auth.Options.UserHandle = []byte("somebody") },
			func(d *device) {
				id := d.key.ID
				d.key = newKey()
				d.key.ID, d.key.Counter = id, 1000
			},
			func(d *device) { d.key = newKey() },
		} {
			other := *d
			change(&other)
			rejects(t, other.assertion(t))
		}
		e := p.refuses(t, codes.InvalidArgument, "VALIDATION_ERROR", func() error {
			return d.signIn(&authv1.LoginPasskeyRequest{Session: "body"})
		})
		require.Equal(t, []string{"ceremonyId", "assertion", "session"}, fieldNames(e))
	})
	t.Run("records no failure without a user", func(t *testing.T) {
		// With this context, a transaction would fail.
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		err := p.failFactor(canceled, factors.ErrInvalidAssertion,
			p.entry(auditLoginFailed, uuid.Nil, uuid.Nil, client{}))
		require.ErrorIs(t, err, factors.ErrInvalidAssertion)
	})
	t.Run("disables a passkey whose counter does not increase", func(t *testing.T) {
		copied := *d
		require.NoError(t, d.signIn(d.assertion(t)))
		requireReason(t, codes.Unauthenticated, "PASSKEY_CLONED", d.signIn(copied.assertion(t)))
		require.Equal(t, "passkey_cloned failure", p.lastAudit(t))
		require.Equal(t, "A passkey was disabled", p.mailed(t, "ada@example.com").Subject)
		d.key.Counter += 10
		rejects(t, d.assertion(t))
		list, err := p.factors.ListPasskeys(ctx, &authv1.ListPasskeysRequest{})
		require.NoError(t, err)
		require.True(t, list.GetPasskeys()[0].GetDisabled())
		found, err := p.factors.GetFactors(ctx, &authv1.GetFactorsRequest{})
		require.NoError(t, err)
		require.EqualValues(t, 1, found.GetFactors().GetPasskeys())
		first := p.login(t, "ada@example.com")
		require.Equal(t, []string{"recovery"}, first.GetMethods(), "it stays a second factor")
	})
}

// TestPasskeyAsSecondFactor uses a passkey after the password, and to confirm the identity.
func TestPasskeyAsSecondFactor(t *testing.T) {
	t.Parallel()
	p := setupMail(t)
	ctx, _ := p.member(t, "ada@example.com")
	d := p.registered(ctx, t)
	bob, _ := p.member(t, "bob@example.com")
	other := p.registered(bob, t)
	step := func(a *authv1.LoginPasskeyRequest, token string) error {
		_, err := p.LoginMfa(context.Background(), &authv1.LoginMfaRequest{
			MfaToken: token, CeremonyId: a.GetCeremonyId(), Assertion: a.GetAssertion(),
		})
		return err
	}
	second := func(d *device, token string) error { return step(d.assertion(t), token) }
	first := p.login(t, "ada@example.com")
	require.Equal(t, []string{"passkey", "recovery"}, first.GetMethods())
	p.refuses(t, codes.Unauthenticated, "INVALID_PASSKEY_RESPONSE",
		func() error { return second(other, first.GetMfaToken()) })
	require.NoError(t, second(d, first.GetMfaToken()))
	once := d.assertion(t)
	var tokens []string
	for range 4 {
		tokens = append(tokens, p.login(t, "ada@example.com").GetMfaToken())
	}
	require.Equal(t, 1, succeeded(20, func(n int) error { return step(once, tokens[n%4]) }))

	confirm := func(a *authv1.LoginPasskeyRequest) error {
		_, err := p.Reauthenticate(ctx, &authv1.ReauthenticateRequest{
			CeremonyId: a.GetCeremonyId(), Assertion: a.GetAssertion(),
		})
		return err
	}
	p.clock.advance(failureWindow) // ends the limits of wrong codes
	once = d.assertion(t)
	require.Equal(t, 1, succeeded(20, func(int) error { return confirm(once) }))
	p.clock.advance(failureWindow)
	p.refuses(t, codes.Unauthenticated, "INVALID_PASSKEY_RESPONSE",
		func() error { return confirm(other.assertion(t)) })
	require.Equal(t, "reauthentication_failed failure", p.lastAudit(t))

	first = p.login(t, "ada@example.com")
	_, err := p.ChangePassword(ctx, &authv1.ChangePasswordRequest{
		CurrentPassword: goodPassword, NewPassword: newPassword,
	})
	require.NoError(t, err)
	p.refuses(t, codes.Unauthenticated, "INVALID_MFA_TOKEN",
		func() error { return second(d, first.GetMfaToken()) })
	require.NoError(t, d.signIn(d.assertion(t)), "it needs no password")
}

// TestLoginPasskeyLockOrder disables a cloned passkey beside the deletion of its user's account,
// which locks the user and then the passkey.
func TestLoginPasskeyLockOrder(t *testing.T) {
	t.Parallel()
	p := setupMail(t)
	ctx, _ := p.member(t, "ada@example.com")
	p.registered(ctx, t)
	cloned := &factors.ClonedError{
		Passkey: pgtest.Value[uuid.UUID](t, p.db, `SELECT id FROM passkeys`), User: caller.ID(ctx),
	}
	disabled := make(chan error, 1)
	err := pgtest.Behind(t, p.db, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), `SELECT FROM users FOR UPDATE`)
		require.NoError(t, err)
		go func() {
			disabled <- p.failFactor(ctx, cloned,
				p.entry(auditLoginFailed, uuid.Nil, uuid.Nil, client{}))
		}()
		p.awaitBlocked(t, tx)
		_, err = tx.Exec(t.Context(), `SELECT FROM passkeys FOR UPDATE NOWAIT`)
		return err
	}, func() error { return <-disabled })
	require.ErrorIs(t, err, errPasskeyCloned)
}

// awaitBlocked waits until another transaction waits for a lock of tx.
func (p post) awaitBlocked(t *testing.T, tx pgx.Tx) {
	t.Helper()
	require.Eventually(t, func() bool {
		return pgtest.Value[bool](t, p.db, `
			SELECT EXISTS (SELECT FROM pg_stat_activity
				WHERE $1 = ANY(pg_blocking_pids(pid)))`, tx.Conn().PgConn().PID())
	}, time.Minute, 5*time.Millisecond)
}

// TestReauthenticateLockOrder confirms the identity with a passkey beside a change of factors. Such
// a change locks the user and then the session.
func TestReauthenticateLockOrder(t *testing.T) {
	t.Parallel()
	p := setupMail(t)
	ctx, _ := p.member(t, "ada@example.com")
	a := p.registered(ctx, t).assertion(t)
	confirmed := make(chan error, 1)
	err := pgtest.Behind(t, p.db, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), `SELECT FROM users FOR NO KEY UPDATE`)
		require.NoError(t, err)
		go func() {
			_, err := p.Reauthenticate(ctx, &authv1.ReauthenticateRequest{
				CeremonyId: a.GetCeremonyId(), Assertion: a.GetAssertion(),
			})
			confirmed <- err
		}()
		p.awaitBlocked(t, tx)
		_, err = tx.Exec(t.Context(), `SELECT FROM sessions FOR SHARE NOWAIT`)
		return err
	}, func() error { return <-confirmed })
	require.NoError(t, err)
}

// TestLoginPasskeyUnverified sends the link again, like a sign-in with the password.
func TestLoginPasskeyUnverified(t *testing.T) {
	t.Parallel()
	p := setupMail(t)
	ctx, _ := p.member(t, "ada@example.com")
	d := p.registered(ctx, t)
	p.config.Mail.Verification = verificationRequired
	p.refuses(t, codes.PermissionDenied, "EMAIL_NOT_VERIFIED",
		func() error { return d.signIn(d.assertion(t)) })
	require.NoError(t, p.confirm(t, p.token(t, "ada@example.com")))
	require.NoError(t, d.signIn(d.assertion(t)))
}

// TestLoginPasskeyDuringDeletion rejects a sign-in with a passkey, alone and as the second step,
// like one with the password.
func TestLoginPasskeyDuringDeletion(t *testing.T) {
	t.Parallel()
	l := startDeletion(t)
	require.NoError(t, l.cancel(l.rejected(t)))
	ctx := l.as(t, l.login(t, l.user.GetEmail()).GetAccessToken())
	d := l.registered(ctx, t)
	req := d.assertion(t)
	req.IdempotencyKey = "k"
	require.NoError(t, d.signIn(req))
	first := l.login(t, l.user.GetEmail()).GetMfaToken()
	started, err := l.deletions.DeleteAccount(ctx,
		&authv1.DeleteAccountRequest{Email: l.user.GetEmail()})
	require.NoError(t, err)
	l.deletion = started.GetDeletionId()
	l.refuses(t, codes.PermissionDenied, "ACCOUNT_DELETION_PENDING",
		func() error { return d.signIn(d.assertion(t)) })
	second := d.assertion(t)
	l.refuses(t, codes.PermissionDenied, "ACCOUNT_DELETION_PENDING", func() error {
		_, err := l.LoginMfa(t.Context(), &authv1.LoginMfaRequest{
			MfaToken: first, CeremonyId: second.GetCeremonyId(), Assertion: second.GetAssertion(),
		})
		return err
	})
	l.erasedByServices(t)
	l.deletions.RunQueued(t.Context())
	require.Equal(t, "erased", l.status(t).GetStatus())
	require.Empty(t, pgtest.Mentions(t, l.db, l.user.GetId(), l.user.GetEmail()))
	require.Zero(t, pgtest.Value[int](t, l.db, `
		SELECT (SELECT count(*) FROM passkeys) + (SELECT count(*) FROM idempotency_keys)`))
}
