package auth

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
)

// requireAPI returns the reason of an error.
func requireAPI(err error) string {
	if e := apierr.From(err); e != nil {
		return e.Reason
	}
	return ""
}

func (b *bundle) confirm(ctx context.Context, code string) error {
	_, err := b.factors.ConfirmTotp(ctx, &authv1.ConfirmTotpRequest{Code: code})
	return err
}

func TestConfirmTotp(t *testing.T) {
	t.Parallel()
	env := setup(t)
	ctx, _ := env.member(t, "ada@example.com")
	other := env.login(t, "ada@example.com")
	env.refuses(t, codes.FailedPrecondition, "TOTP_NOT_ENABLED", func() error {
		return env.confirm(ctx, "123456")
	})
	made, err := env.factors.CreateTotp(ctx, &authv1.CreateTotpRequest{IdempotencyKey: "k"})
	require.NoError(t, err)
	p := &protected{bundle: env, ctx: ctx, email: "ada@example.com", secret: made.GetSecret()}
	t.Run("a secret has no effect before", func(t *testing.T) {
		require.NotEmpty(t, env.login(t, "ada@example.com").GetAccessToken())
		again, err := env.factors.CreateTotp(ctx, &authv1.CreateTotpRequest{IdempotencyKey: "k"})
		require.NoError(t, err)
		require.Equal(t, made.GetSecret(), again.GetSecret(), "a repeated key")
		stored := pgtest.Value[string](t, env.db, `SELECT f::text FROM user_factors f`)
		require.NotContains(t, stored, made.GetSecret())
	})
	t.Run("rejects a wrong code and a malformed one", func(t *testing.T) {
		env.refuses(t, codes.Unauthenticated, "INVALID_MFA_CODE", func() error {
			return env.confirm(ctx, "000000")
		})
		e := env.refuses(t, codes.InvalidArgument, "VALIDATION_ERROR", func() error {
			return env.confirm(ctx, "12345")
		})
		require.Equal(t, []string{"code"}, fieldNames(e))
	})
	t.Run("enables the app and ends the other sessions", func(t *testing.T) {
		code := p.code(t)
		require.NoError(t, env.confirm(ctx, code))
		_, err := env.refresh(t.Context(), other.GetRefreshToken())
		require.ErrorIs(t, err, errInvalidRefreshToken)
		_, err = env.GetMe(ctx, &authv1.GetMeRequest{})
		require.NoError(t, err)
		env.clock.advance(time.Second)
		p.refusesCode(t, func() error { return p.second(p.challenge(t), code) })
	})
	t.Run("keeps the present app until the new one is confirmed", func(t *testing.T) {
		env.refuses(t, codes.AlreadyExists, "TOTP_ALREADY_ENABLED", func() error {
			_, err := env.factors.CreateTotp(ctx, &authv1.CreateTotpRequest{})
			return err
		})
		made, err := env.factors.CreateTotp(ctx, &authv1.CreateTotpRequest{Replace: true})
		require.NoError(t, err)
		env.clock.advance(time.Minute)
		require.NoError(t, p.second(p.challenge(t), p.code(t)))
		next := &protected{bundle: env, ctx: ctx, email: p.email, secret: made.GetSecret()}
		require.NoError(t, env.confirm(ctx, next.code(t)))
		env.clock.advance(time.Minute)
		p.refusesCode(t, func() error { return p.second(p.challenge(t), p.code(t)) })
		require.NoError(t, next.second(next.challenge(t), next.code(t)))
	})
}

func TestDeleteTotp(t *testing.T) {
	t.Parallel()
	p := setupProtected(t)
	ctx, _ := p.member(t, "bob@example.com")
	p.refuses(t, codes.FailedPrecondition, "TOTP_NOT_ENABLED", func() error {
		_, err := p.factors.DeleteTotp(ctx, &authv1.DeleteTotpRequest{})
		return err
	})
	_, err := p.factors.DeleteTotp(p.ctx, &authv1.DeleteTotpRequest{})
	require.NoError(t, err)
	require.NotEmpty(t, p.login(t, p.email).GetAccessToken())
	require.Zero(t, pgtest.Value[int](t, p.db, `SELECT count(*) FROM recovery_codes`))
	got, err := p.factors.GetFactors(p.ctx, &authv1.GetFactorsRequest{})
	require.NoError(t, err)
	require.Nil(t, got.GetFactors().TotpEnabledAt)
	_, err = p.Logout(p.ctx, &authv1.LogoutRequest{})
	require.NoError(t, err)
	for _, call := range []func() error{
		pgtest.Call(p.ctx, p.factors.GetFactors, &authv1.GetFactorsRequest{}),
		pgtest.Call(p.ctx, p.factors.CreateTotp, &authv1.CreateTotpRequest{}),
		pgtest.Call(p.ctx, p.factors.ConfirmTotp, &authv1.ConfirmTotpRequest{Code: "123456"}),
		pgtest.Call(p.ctx, p.factors.DeleteTotp, &authv1.DeleteTotpRequest{}),
		pgtest.Call(p.ctx, p.factors.CreateRecoveryCodes, &authv1.CreateRecoveryCodesRequest{}),
	} {
		require.ErrorIs(t, call(), apierr.Unauthorized)
	}
}

func TestCreateRecoveryCodes(t *testing.T) {
	t.Parallel()
	p := setupProtected(t)
	ctx, _ := p.member(t, "bob@example.com")
	p.refuses(t, codes.FailedPrecondition, "TOTP_NOT_ENABLED", func() error {
		_, err := p.factors.CreateRecoveryCodes(ctx, &authv1.CreateRecoveryCodesRequest{})
		return err
	})
	require.NoError(t, p.recover(p.challenge(t), p.recovery[0]))
	got, err := p.factors.GetFactors(p.ctx, &authv1.GetFactorsRequest{})
	require.NoError(t, err)
	require.EqualValues(t, 9, got.GetFactors().GetRecoveryCodesLeft())
	require.NotNil(t, got.GetFactors().TotpEnabledAt)
	made, err := p.factors.CreateRecoveryCodes(p.ctx, &authv1.CreateRecoveryCodesRequest{})
	require.NoError(t, err)
	p.refusesCode(t, func() error { return p.recover(p.challenge(t), p.recovery[1]) })
	require.NoError(t, p.recover(p.challenge(t), made.GetRecoveryCodes()[0]))
}

// TestSecondFactorBesideSignIn enables an app while a sign-in with the password alone is about to
// start its session.
func TestSecondFactorBesideSignIn(t *testing.T) {
	t.Parallel()
	env := setup(t)
	ctx, _ := env.member(t, "ada@example.com")
	made, err := env.factors.CreateTotp(ctx, &authv1.CreateTotpRequest{})
	require.NoError(t, err)
	p := &protected{bundle: env, ctx: ctx, email: "ada@example.com", secret: made.GetSecret()}
	var first *authv1.LoginResponse
	err = pgtest.Behind(t, env.db, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), `UPDATE users SET second_factor = true WHERE id = $1`,
			caller.ID(ctx))
		return err
	}, func() (err error) {
		first, err = env.Login(t.Context(),
			&authv1.LoginRequest{Email: p.email, Password: goodPassword})
		return err
	})
	require.NoError(t, err)
	require.Equal(t, "MFA_REQUIRED", first.GetCode())
	require.Empty(t, first.GetAccessToken())
}

func TestReauthenticateWithCode(t *testing.T) {
	t.Parallel()
	p := setupProtected(t)
	reauthenticate := func(req *authv1.ReauthenticateRequest) error {
		_, err := p.Reauthenticate(p.ctx, req)
		return err
	}
	code := p.code(t)
	require.NoError(t, reauthenticate(&authv1.ReauthenticateRequest{Code: code}))
	require.NoError(t,
		reauthenticate(&authv1.ReauthenticateRequest{RecoveryCode: p.recovery[0]}))
	p.refusesCode(t, func() error {
		return reauthenticate(&authv1.ReauthenticateRequest{Code: code})
	})
	p.clock.advance(time.Second)
	p.refusesCode(t, func() error {
		return reauthenticate(&authv1.ReauthenticateRequest{RecoveryCode: p.recovery[0]})
	})
	require.Equal(t, "reauthentication_failed failure", p.lastAudit(t))
	require.NoError(t, reauthenticate(&authv1.ReauthenticateRequest{Password: goodPassword}),
		"in a session the password is sufficient, also with a second factor")
	for range codesPerUser - 2 {
		p.refusesCode(t, func() error {
			return reauthenticate(&authv1.ReauthenticateRequest{Code: "000000"})
		})
	}
	p.refuses(t, codes.ResourceExhausted, "RATE_LIMITED", func() error {
		return reauthenticate(&authv1.ReauthenticateRequest{Code: p.code(t)})
	})
	e := p.refuses(t, codes.InvalidArgument, "VALIDATION_ERROR", func() error {
		return reauthenticate(&authv1.ReauthenticateRequest{Password: "x", Code: "1"})
	})
	require.Equal(t, []string{"code", "password"}, fieldNames(e))
}

// TestSecondFactorMails requires a mail for each change, and that a reset of the password never
// disables the second factor.
func TestSecondFactorMails(t *testing.T) {
	t.Parallel()
	post := setupMail(t)
	ctx, _ := post.member(t, "ada@example.com")
	p := post.protect(ctx, t, "ada@example.com")
	require.Equal(t, "An authenticator app was enabled", post.mailed(t, p.email).Subject)
	require.NoError(t, p.recover(p.challenge(t), p.recovery[0]))
	require.Equal(t, "A recovery code was used", post.mailed(t, p.email).Subject)
	_, err := p.factors.CreateRecoveryCodes(ctx, &authv1.CreateRecoveryCodesRequest{})
	require.NoError(t, err)
	require.Equal(t, "You have new recovery codes", post.mailed(t, p.email).Subject)

	post.forgot(t, p.email)
	require.NoError(t, post.reset(t, post.token(t, p.email)))
	first := post.loginWith(t, p.email, newPassword)
	require.Equal(t, "MFA_REQUIRED", first.GetCode())
	signedIn, err := p.LoginMfa(t.Context(),
		&authv1.LoginMfaRequest{MfaToken: first.GetMfaToken(), Code: p.code(t)})
	require.NoError(t, err)
	_, err = p.factors.DeleteTotp(p.as(t, signedIn.GetAccessToken()), &authv1.DeleteTotpRequest{})
	require.NoError(t, err)
	require.Equal(t, "Your authenticator app was disabled", post.mailed(t, p.email).Subject)
}

// TestLoginStatements requires that a sign-in without a second factor runs no further statement
// than before there were any. One of them looks for a deletion of the account.
func TestLoginStatements(t *testing.T) {
	t.Parallel()
	post := setupMail(t)
	post.register(t, "ada@example.com")
	var ran statements
	post.record(t, &ran)
	post.login(t, "ada@example.com")
	require.Len(t, ran.all(), 11)
	for _, sql := range ran.all() {
		require.NotRegexp(t, "user_factors|recovery_codes|ceremonies", sql)
	}
}

// BenchmarkLogin measures a sign-in without a second factor.
func BenchmarkLogin(b *testing.B) {
	server, err := newServer(pgtest.New(b, Migrations), testConfig, func() {}, time.Now,
		slog.New(slog.DiscardHandler))
	require.NoError(b, err)
	require.NoError(b, server.keys.Refresh(b.Context()))
	_, err = server.Register(b.Context(), &authv1.RegisterRequest{
		Name: "Ada", Email: "ada@example.com", Password: goodPassword,
	})
	require.NoError(b, err)
	for b.Loop() {
		_, err := server.Login(b.Context(),
			&authv1.LoginRequest{Email: "ada@example.com", Password: goodPassword})
		require.NoError(b, err)
	}
}

// TestPersonalTokenMails requires a mail for each created and deleted token.
func TestPersonalTokenMails(t *testing.T) {
	t.Parallel()
	post := setupMail(t)
	ctx, _ := post.member(t, "ada@example.com")
	pgtest.Exec(t, post.db, `UPDATE users SET email_verified_at = now()`)
	created := post.newToken(ctx, t, readOnly("Backup"))
	got := post.mailed(t, "ada@example.com")
	require.Equal(t, "An access token was created", got.Subject)
	require.Contains(t, got.Text, "Backup")
	require.NotContains(t, got.Text, created.GetToken())
	_, err := post.tokens.DeletePersonalToken(ctx,
		&authv1.DeletePersonalTokenRequest{Id: created.GetPersonalToken().GetId()})
	require.NoError(t, err)
	require.Equal(t, "An access token was deleted", post.mailed(t, "ada@example.com").Subject)
}
