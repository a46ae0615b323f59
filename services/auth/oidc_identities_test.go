package auth

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	"github.com/coffer-budget/coffer/services/auth/oidctest"
)

// auditTypes returns the types of the audit entries of a user, newest first.
func (b *bundle) auditTypes(ctx context.Context, t *testing.T) (types []string) {
	t.Helper()
	for _, e := range b.audit(ctx, t) {
		types = append(types, e.GetType())
	}
	return types
}

func (p *provided) identities(ctx context.Context, t *testing.T) []*authv1.OidcIdentity {
	t.Helper()
	resp, err := p.oidc.ListOidcIdentities(ctx, &authv1.ListOidcIdentitiesRequest{})
	require.NoError(t, err)
	return resp.GetIdentities()
}

func (p *provided) unlink(ctx context.Context, id string) error {
	_, err := p.oidc.DeleteOidcIdentity(ctx, &authv1.DeleteOidcIdentityRequest{Id: id})
	return err
}

func TestLinkOidc(t *testing.T) {
	t.Parallel()
	p := setupProvided(t, false)
	ctx, login := p.member(t, "grace@example.com")
	linked, err := p.link(t, login.GetAccessToken())
	require.NoError(t, err)
	require.Equal(t, "OIDC_LINKED", linked.GetCode())
	require.Empty(t, linked.GetAccessToken())
	shown := p.identities(ctx, t)
	require.Len(t, shown, 1)
	require.Equal(t, "Home", shown[0].GetLabel())
	require.Equal(t, "ada@example.com", shown[0].GetEmail())
	require.Nil(t, shown[0].LastUsedAt)
	entry := p.audit(ctx, t)[0]
	require.Equal(t, "oidc_linked", entry.GetType())
	require.Equal(t, "Home", entry.GetTokenName())

	in, err := p.signIn(t)
	require.NoError(t, err)
	require.Equal(t, login.GetUser().GetId(), in.GetUser().GetId())
	require.NotNil(t, p.identities(ctx, t)[0].LastUsedAt)

	t.Run("an identity belongs to one account", func(t *testing.T) {
		_, other := p.member(t, "other@example.com")
		p.refuses(t, codes.AlreadyExists, "OIDC_ALREADY_LINKED", func() error {
			_, err := p.link(t, other.GetAccessToken())
			return err
		})
	})
	t.Run("the session has ended meanwhile", func(t *testing.T) {
		other := p.login(t, "other@example.com")
		started, err := p.oidc.LinkOidc(p.as(t, other.GetAccessToken()),
			&authv1.LinkOidcRequest{Provider: "home"})
		require.NoError(t, err)
		trip := &trip{url: started.GetUrl(), cookie: started.GetCookie().GetValue()}
		p.provider.Change(func(p *oidctest.Provider) { p.User.Subject = "2" })
		p.authorize(t, trip)
		code := p.finish(t, trip)
		_, err = p.Logout(p.as(t, other.GetAccessToken()), &authv1.LogoutRequest{})
		require.NoError(t, err)
		_, err = p.exchange(t, trip, code)
		requireReason(t, codes.Unauthenticated, "INVALID_OIDC_CODE", err)
	})
	t.Run("a user has at most 10 identities", func(t *testing.T) {
		pgtest.Exec(t, p.db, `
			INSERT INTO oidc_identities (id, user_id, issuer, subject, email, created_at)
			SELECT gen_random_uuid(), $1, 'x', n::text, '', now() FROM generate_series(1, 9) n`,
			login.GetUser().GetId())
		p.refuses(t, codes.AlreadyExists, "LIMIT_REACHED", func() error {
			_, err := p.link(t, login.GetAccessToken())
			return err
		})
	})
}

func TestDeleteOidcIdentity(t *testing.T) {
	t.Parallel()
	p := setupProvided(t, true)
	first, err := p.signIn(t)
	require.NoError(t, err)
	ctx := p.as(t, first.GetAccessToken())
	id := p.identities(ctx, t)[0].GetId()
	stranger, _ := p.member(t, "grace@example.com")
	p.refuses(t, codes.FailedPrecondition, "LAST_FACTOR", func() error { return p.unlink(ctx, id) })
	for _, other := range []string{"x", p.newID().String()} {
		p.refuses(t, codes.NotFound, "OIDC_IDENTITY_NOT_FOUND", func() error {
			return p.unlink(ctx, other)
		})
	}
	p.refuses(t, codes.NotFound, "OIDC_IDENTITY_NOT_FOUND", func() error {
		return p.unlink(stranger, id)
	})

	t.Run("a passkey is a way to sign in", func(t *testing.T) {
		key := p.newID()
		pgtest.Exec(t, p.db, `
			INSERT INTO passkeys (id, user_id, name, credential_id, credential, created_at)
			VALUES ($1, $2, 'Phone', '\x01', '\x01', now())`, key, first.GetUser().GetId())
		require.NoError(t, p.unlink(ctx, id))
		p.refuses(t, codes.FailedPrecondition, "LAST_FACTOR", func() error {
			_, err := p.factors.DeletePasskey(ctx,
				&authv1.DeletePasskeyRequest{Id: key.String()})
			return err
		})
		_, err := p.link(t, first.GetAccessToken())
		require.NoError(t, err)
		_, err = p.factors.DeletePasskey(ctx, &authv1.DeletePasskeyRequest{Id: key.String()})
		require.NoError(t, err)
	})

	p.provider.Change(func(p *oidctest.Provider) { p.User.Subject = "2" })
	_, err = p.link(t, first.GetAccessToken())
	require.NoError(t, err)
	other, err := p.signIn(t)
	require.NoError(t, err)
	var group sync.WaitGroup
	var unlinked atomic.Int32
	for _, identity := range p.identities(ctx, t) {
		group.Go(func() {
			if p.unlink(ctx, identity.GetId()) == nil {
				unlinked.Add(1)
			}
		})
	}
	group.Wait()
	require.Equal(t, int32(1), unlinked.Load(), "one way to sign in remains")
	_, err = p.GetMe(p.as(t, first.GetAccessToken()), &authv1.GetMeRequest{})
	require.NoError(t, err)
	_, err = p.refresh(t.Context(), other.GetRefreshToken())
	requireReason(t, codes.Unauthenticated, "INVALID_REFRESH_TOKEN", err)
	require.Equal(t, []string{"session_ended", "oidc_unlinked"}, p.auditTypes(ctx, t)[:2])
}

// TestUnlinkedIdentityEndsSecondSteps requires that a sign-in with an identity does not survive the
// removal of its link between the two steps.
func TestUnlinkedIdentityEndsSecondSteps(t *testing.T) {
	t.Parallel()
	setup := func(t *testing.T) (*provided, post, *protected) {
		t.Helper()
		p, mails := setupProvidedMail(t)
		ctx, login := p.member(t, adaMail)
		_, err := p.link(t, login.GetAccessToken())
		require.NoError(t, err)
		return p, mails, p.protect(ctx, t, adaMail)
	}
	first := func(t *testing.T, p *provided) string {
		t.Helper()
		resp, err := p.signIn(t)
		require.NoError(t, err)
		require.Equal(t, "MFA_REQUIRED", resp.GetCode())
		return resp.GetMfaToken()
	}
	t.Run("by the user", func(t *testing.T) {
		t.Parallel()
		p, _, user := setup(t)
		token := first(t, p)
		require.NoError(t, p.unlink(user.ctx, p.identities(user.ctx, t)[0].GetId()))
		err := user.second(token, user.code(t))
		requireReason(t, codes.Unauthenticated, "INVALID_MFA_TOKEN", err)
	})
	t.Run("by the link that restores the e-mail", func(t *testing.T) {
		t.Parallel()
		p, mails, user := setup(t)
		mails.moves(t, user.ctx, newMail)
		require.NoError(t, mails.confirm(t, mails.token(t, newMail)))
		token := first(t, p)
		require.NoError(t, mails.revert(t, mails.token(t, adaMail)))
		err := user.second(token, user.code(t))
		requireReason(t, codes.Unauthenticated, "INVALID_MFA_TOKEN", err)
	})
}

// TestOidcUserWithoutPassword requires a recent sign-in in place of the password.
func TestOidcUserWithoutPassword(t *testing.T) {
	t.Parallel()
	p := setupProvided(t, true)
	first, err := p.signIn(t)
	require.NoError(t, err)
	ctx := p.as(t, first.GetAccessToken())
	_, err = p.Reauthenticate(ctx, &authv1.ReauthenticateRequest{Password: goodPassword})
	requireReason(t, codes.Unauthenticated, "INVALID_CREDENTIALS", err)
	change := &authv1.ChangePasswordRequest{NewPassword: goodPassword}
	email := &authv1.UpdateMeRequest{Email: new("grace@example.com")}
	p.clock.advance(10*time.Minute + time.Second)
	p.refuses(t, codes.PermissionDenied, "REAUTHENTICATION_REQUIRED", func() error {
		_, err := p.ChangePassword(ctx, change)
		return err
	})
	p.refuses(t, codes.PermissionDenied, "REAUTHENTICATION_REQUIRED", func() error {
		_, err := p.UpdateMe(ctx, email)
		return err
	})
	again, err := p.signIn(t)
	require.NoError(t, err)
	ctx = p.as(t, again.GetAccessToken())
	_, err = p.UpdateMe(ctx, email)
	require.NoError(t, err)
	_, err = p.ChangePassword(ctx, change)
	require.NoError(t, err)
	me, err := p.GetMe(ctx, &authv1.GetMeRequest{})
	require.NoError(t, err)
	require.False(t, me.GetWithoutPassword())
	p.login(t, "grace@example.com")
	require.NoError(t, p.unlink(ctx, p.identities(ctx, t)[0].GetId()))
}

// TestRecoveryUnlinksIdentities requires that a thief of a session who has linked an identity does
// not keep access after the owner has recovered the account.
func TestRecoveryUnlinksIdentities(t *testing.T) {
	t.Parallel()
	p, mails := setupProvidedMail(t)
	first, err := p.signIn(t)
	require.NoError(t, err)
	ctx := p.as(t, first.GetAccessToken())
	mails.forgot(t, "ada@example.com")
	link := mails.token(t, "ada@example.com")
	_, err = p.ResetPassword(t.Context(),
		&authv1.ResetPasswordRequest{Token: link, Password: goodPassword})
	require.NoError(t, err)
	require.Zero(t, pgtest.Value[int](t, p.db, `SELECT count(*) FROM oidc_identities`))
	_, err = p.GetMe(ctx, &authv1.GetMeRequest{})
	requireReason(t, codes.Unauthenticated, "UNAUTHORIZED", err)
	p.refusesSignIn(t, codes.AlreadyExists, "OIDC_ACCOUNT_EXISTS")

	in := p.login(t, "ada@example.com")
	_, err = p.link(t, in.GetAccessToken())
	require.NoError(t, err)
	require.Contains(t, mails.mailed(t, "ada@example.com").Subject, "Home")
	require.Equal(t, []string{"oidc_linked", "login_succeeded", "oidc_unlinked", "session_ended"},
		p.auditTypes(p.as(t, in.GetAccessToken()), t)[:4])

	t.Run("no link for an e-mail that nobody has verified", func(t *testing.T) {
		pgtest.Exec(t, p.db, `UPDATE users SET password_hash = NULL, email_verified_at = NULL`)
		before := len(mails.sent("/reset#"))
		mails.forgot(t, "ada@example.com")
		mails.mails.RunQueued(t.Context())
		require.Len(t, mails.sent("/reset#"), before)
	})
}
