package auth

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
)

const adaMail, newMail = "ada@example.com", "new@example.com"

func (p post) confirm(t *testing.T, token string) error {
	t.Helper()
	_, err := p.VerifyEmail(t.Context(), &authv1.VerifyEmailRequest{Token: token})
	return err
}

func (p post) revert(t *testing.T, token string) error {
	t.Helper()
	_, err := p.RevertEmail(t.Context(), &authv1.RevertEmailRequest{Token: token})
	return err
}

// moves requests a new e-mail for the user of the context.
func (p post) moves(t *testing.T, ctx context.Context, to string) *authv1.UpdateMeResponse {
	t.Helper()
	resp, err := p.UpdateMe(ctx,
		&authv1.UpdateMeRequest{Email: new(to), CurrentPassword: goodPassword})
	require.NoError(t, err)
	return resp
}

func (p post) me(t *testing.T, ctx context.Context) *authv1.User {
	t.Helper()
	resp, err := p.GetMe(ctx, &authv1.GetMeRequest{})
	require.NoError(t, err)
	return resp.GetUser()
}

func TestVerifyEmail(t *testing.T) {
	t.Parallel()
	t.Run("confirms the e-mail once, with an event", func(t *testing.T) {
		t.Parallel()
		p := setupMail(t)
		ctx, _ := p.member(t, adaMail)
		require.False(t, p.me(t, ctx).GetEmailVerified())
		token := p.token(t, adaMail)
		require.NoError(t, p.confirm(t, token))
		require.True(t, p.me(t, ctx).GetEmailVerified())
		events := p.events(t)
		last := events[len(events)-1]
		require.Equal(t, "auth.v1.user.email_verified", last.Subject)
		event, ok := last.message(t).(*authv1.UserEmailVerified)
		require.True(t, ok)
		require.True(t, event.GetUser().GetEmailVerified())
		p.requireExpired(t, func() error { return p.confirm(t, token) })
	})
	t.Run("takes effect once from 20 connections", func(t *testing.T) {
		t.Parallel()
		p := setupMail(t)
		p.register(t, adaMail)
		token := p.token(t, adaMail)
		require.Equal(t, 1, succeeded(20, func(int) error { return p.confirm(t, token) }))
	})
	t.Run("rejects a link after its expiry, of another e-mail or kind", func(t *testing.T) {
		t.Parallel()
		p := setupMail(t)
		p.register(t, adaMail)
		token := p.token(t, adaMail)
		p.requireExpired(t, func() error { return p.revert(t, token) })
		p.requireExpired(t, func() error { return p.reset(t, token) })
		pgtest.Exec(t, p.db, `UPDATE users SET email = 'new@example.com'`)
		p.requireExpired(t, func() error { return p.confirm(t, token) })
		pgtest.Exec(t, p.db, `UPDATE users SET email = 'ada@example.com'`)
		p.clock.advance(verifyTTL)
		p.requireExpired(t, func() error { return p.confirm(t, token) })
		_, err := p.VerifyEmail(t.Context(), &authv1.VerifyEmailRequest{})
		requireReason(t, codes.InvalidArgument, "VALIDATION_ERROR", err)
	})
	t.Run("is also done by a reset of the password", func(t *testing.T) {
		t.Parallel()
		p := setupMail(t)
		p.register(t, adaMail)
		p.forgot(t, adaMail)
		require.NoError(t, p.reset(t, p.token(t, adaMail)))
		ctx := p.as(t, p.loginWith(t, adaMail, newPassword).GetAccessToken())
		require.True(t, p.me(t, ctx).GetEmailVerified())
		events := p.events(t)
		require.Equal(t, "auth.v1.user.email_verified", events[len(events)-1].Subject)
	})
}

func TestSendVerification(t *testing.T) {
	t.Parallel()
	send := func(p post, ctx context.Context) error {
		_, err := p.SendVerification(ctx, &authv1.SendVerificationRequest{})
		return err
	}
	t.Run("sends the link again, within the limits", func(t *testing.T) {
		t.Parallel()
		p := setupMail(t)
		ctx, _ := p.member(t, adaMail)
		first := p.token(t, adaMail)
		require.NoError(t, send(p, ctx))
		require.NotEqual(t, first, p.token(t, adaMail))
		for range 3 {
			require.NoError(t, send(p, ctx))
		}
		requireReason(t, codes.ResourceExhausted, "RATE_LIMITED", send(p, ctx))
		require.NoError(t, p.confirm(t, first))
		require.NoError(t, send(p, ctx), "nothing is sent to a verified e-mail")
		p.mails.RunQueued(t.Context())
		require.Len(t, p.box.Mails(), 5)
	})
	t.Run("is unavailable without a mail server", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		ctx, _ := b.member(t, adaMail)
		_, err := b.SendVerification(ctx, &authv1.SendVerificationRequest{})
		requireReason(t, codes.Unavailable, "MAIL_UNAVAILABLE", err)
	})
}

func TestEmailVerification(t *testing.T) {
	t.Parallel()
	invites := func(p post, by string) error {
		_, err := p.FindUserByEmail(t.Context(),
			&authv1.FindUserByEmailRequest{Email: adaMail, InviterId: by})
		return err
	}
	for value, want := range map[string]struct{ invites, signsIn bool }{
		"": {false, true}, verificationOff: {true, true}, verificationSoft: {false, true},
		verificationRequired: {false, false},
	} {
		t.Run("with the value "+value, func(t *testing.T) {
			t.Parallel()
			p := setupMail(t)
			p.config.Mail.Verification = value
			ada := p.register(t, adaMail)
			require.Equal(t, want.signsIn, p.canLogin(t, adaMail, goodPassword))
			require.Equal(t, want.invites, invites(p, ada.GetId()) == nil)
			require.NoError(t, invites(p, ""), "of an earlier release")
			require.NoError(t, invites(p, uuid.NewString()))
			if want.invites {
				return
			}
			requireReason(t, codes.PermissionDenied, "EMAIL_NOT_VERIFIED",
				invites(p, ada.GetId()))
			require.NoError(t, p.confirm(t, p.token(t, adaMail)))
			require.True(t, p.canLogin(t, adaMail, goodPassword))
			require.NoError(t, invites(p, ada.GetId()))
		})
	}
	t.Run("sends the link again with a rejected sign-in", func(t *testing.T) {
		t.Parallel()
		p := setupMail(t)
		p.config.Mail.Verification = verificationRequired
		p.register(t, adaMail)
		_, err := p.Login(t.Context(),
			&authv1.LoginRequest{Email: adaMail, Password: goodPassword})
		requireReason(t, codes.PermissionDenied, "EMAIL_NOT_VERIFIED", err)
		p.mails.RunQueued(t.Context())
		require.Len(t, p.box.Mails(), 2)
	})
	t.Run("needs mail", func(t *testing.T) {
		t.Parallel()
		config := testConfig
		config.Mail.Verification = verificationSoft
		require.ErrorContains(t, config.check(), "EMAIL_VERIFICATION requires SMTP_URL")
		config.Mail.Verification = "on"
		require.ErrorContains(t, config.check(), "must be off, soft or required")
		require.Equal(t, verificationOff, testConfig.verification())
	})
}

func TestUpdateMeWithVerification(t *testing.T) {
	t.Parallel()
	t.Run("changes the e-mail when the new one is confirmed", func(t *testing.T) {
		t.Parallel()
		p := setupMail(t)
		ctx, _ := p.member(t, adaMail)
		resp := p.moves(t, ctx, newMail)
		require.Equal(t, newMail, resp.GetPendingEmail())
		require.Equal(t, adaMail, resp.GetUser().GetEmail())
		require.True(t, p.canLogin(t, adaMail, goodPassword))
		token := p.token(t, newMail)
		require.Equal(t, 1, succeeded(20, func(int) error { return p.confirm(t, token) }))
		require.Equal(t, newMail, p.me(t, ctx).GetEmail())
		require.True(t, p.me(t, ctx).GetEmailVerified())
		require.Contains(t, p.mailed(t, adaMail).Text, newMail)
		p.requireExpired(t, func() error { return p.confirm(t, token) })
	})
	t.Run("changes the name at once", func(t *testing.T) {
		t.Parallel()
		p := setupMail(t)
		ctx, _ := p.member(t, adaMail)
		resp, err := p.UpdateMe(ctx, &authv1.UpdateMeRequest{
			Name: new("Countess"), Email: new(newMail), CurrentPassword: goodPassword,
		})
		require.NoError(t, err)
		require.Equal(t, "Countess", resp.GetUser().GetName())
		require.Equal(t, adaMail, resp.GetUser().GetEmail())
	})
	t.Run("rejects an e-mail with an account, also one that is registered meanwhile",
		func(t *testing.T) {
			t.Parallel()
			p := setupMail(t)
			ctx, _ := p.member(t, adaMail)
			p.moves(t, ctx, newMail)
			token := p.token(t, newMail)
			p.register(t, newMail)
			_, err := p.UpdateMe(ctx,
				&authv1.UpdateMeRequest{Email: new(newMail), CurrentPassword: goodPassword})
			requireReason(t, codes.AlreadyExists, "EMAIL_ALREADY_EXISTS", err)
			requireReason(t, codes.AlreadyExists, "EMAIL_ALREADY_EXISTS", p.confirm(t, token))
			require.Equal(t, adaMail, p.me(t, ctx).GetEmail())
		})
	t.Run("rejects the link after a change of the password", func(t *testing.T) {
		t.Parallel()
		p := setupMail(t)
		ctx, _ := p.member(t, adaMail)
		p.moves(t, ctx, newMail)
		token := p.token(t, newMail)
		_, err := p.ChangePassword(ctx, &authv1.ChangePasswordRequest{
			CurrentPassword: goodPassword, NewPassword: newPassword,
		})
		require.NoError(t, err)
		p.requireExpired(t, func() error { return p.confirm(t, token) })
	})
	t.Run("changes it at once if e-mails are not verified, and notifies the former one",
		func(t *testing.T) {
			t.Parallel()
			p := setupMail(t)
			p.config.Mail.Verification = verificationOff
			ctx, _ := p.member(t, adaMail)
			require.Empty(t, p.moves(t, ctx, newMail).GetPendingEmail())
			require.Equal(t, newMail, p.me(t, ctx).GetEmail())
			require.NoError(t, p.revert(t, p.token(t, adaMail)))
			require.True(t, p.canLogin(t, adaMail, goodPassword))
		})
}

func TestRevertEmail(t *testing.T) {
	t.Parallel()
	const thief, other = "thief@example.com", "other@example.com"
	// stolen moves the account to two e-mails of a thief, who has also asked for a third one.
	stolen := func(t *testing.T, p post) (owners, thiefs, pending string, ctx context.Context) {
		t.Helper()
		ctx, _ = p.member(t, adaMail)
		p.moves(t, ctx, thief)
		require.NoError(t, p.confirm(t, p.token(t, thief)))
		owners = p.token(t, adaMail)
		p.clock.advance(time.Minute)
		p.moves(t, ctx, other)
		require.NoError(t, p.confirm(t, p.token(t, other)))
		thiefs = p.token(t, thief)
		p.moves(t, ctx, newMail)
		return owners, thiefs, p.token(t, newMail), ctx
	}
	t.Run("restores the e-mail once, and ends sessions and later links", func(t *testing.T) {
		t.Parallel()
		p := setupMail(t)
		owners, thiefs, pending, ctx := stolen(t, p)
		p.clock.advance(time.Minute)
		require.NoError(t, p.revert(t, owners))
		require.True(t, p.canLogin(t, adaMail, goodPassword))
		require.False(t, p.canLogin(t, other, goodPassword))
		_, err := p.GetMe(ctx, &authv1.GetMeRequest{})
		requireReason(t, codes.Unauthenticated, "UNAUTHORIZED", err)
		p.requireExpired(t, func() error { return p.revert(t, owners) })
		p.requireExpired(t, func() error { return p.revert(t, thiefs) })
		p.requireExpired(t, func() error { return p.confirm(t, pending) })
	})
	t.Run("takes precedence over a link of a later e-mail that was used", func(t *testing.T) {
		t.Parallel()
		p := setupMail(t)
		owners, thiefs, _, _ := stolen(t, p)
		require.NoError(t, p.revert(t, thiefs))
		require.Equal(t, 1, succeeded(20, func(int) error { return p.revert(t, owners) }))
		require.True(t, p.canLogin(t, adaMail, goodPassword))
	})
	t.Run("works after a change of the password, and not after 7 days", func(t *testing.T) {
		t.Parallel()
		p := setupMail(t)
		owners, thiefs, _, ctx := stolen(t, p)
		_, err := p.ChangePassword(ctx, &authv1.ChangePasswordRequest{
			CurrentPassword: goodPassword, NewPassword: newPassword,
		})
		require.NoError(t, err)
		require.NoError(t, p.revert(t, thiefs))
		p.clock.advance(revertTTL)
		p.requireExpired(t, func() error { return p.revert(t, owners) })
	})
}
