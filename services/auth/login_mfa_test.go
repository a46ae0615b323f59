package auth

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	"github.com/coffer-budget/coffer/services/auth/internal/factors"
)

// protected is a user with an authenticator app.
type protected struct {
	*bundle
	ctx    context.Context
	email  string
	secret string
	// recovery are the recovery codes.
	recovery []string
}

// protect enables an app for the user of a session, and advances the clock by a step, so that the
// next code is unused.
func (b *bundle) protect(ctx context.Context, t *testing.T, email string) *protected {
	t.Helper()
	made, err := b.factors.CreateTotp(ctx, &authv1.CreateTotpRequest{})
	require.NoError(t, err)
	p := &protected{bundle: b, ctx: ctx, email: email, secret: made.GetSecret()}
	confirmed, err := b.factors.ConfirmTotp(ctx, &authv1.ConfirmTotpRequest{Code: p.code(t)})
	require.NoError(t, err)
	p.recovery = confirmed.GetRecoveryCodes()
	b.clock.advance(30 * time.Second)
	return p
}

func setupProtected(t *testing.T) *protected {
	t.Helper()
	env := setup(t)
	ctx, _ := env.member(t, "ada@example.com")
	return env.protect(ctx, t, "ada@example.com")
}

// code returns the present code of the app.
func (p *protected) code(t *testing.T) string {
	t.Helper()
	code, err := totp.GenerateCode(p.secret, p.clock.now())
	require.NoError(t, err)
	return code
}

// challenge returns the token of the first step of a sign-in.
func (p *protected) challenge(t *testing.T) string {
	t.Helper()
	first := p.login(t, p.email)
	require.Equal(t, "MFA_REQUIRED", first.GetCode())
	return first.GetMfaToken()
}

func (p *protected) second(token, code string) error {
	_, err := p.LoginMfa(context.Background(),
		&authv1.LoginMfaRequest{MfaToken: token, Code: code})
	return err
}

func (p *protected) recover(token, code string) error {
	_, err := p.LoginMfa(context.Background(),
		&authv1.LoginMfaRequest{MfaToken: token, RecoveryCode: code})
	return err
}

func (p *protected) refusesCode(t *testing.T, call func() error) {
	t.Helper()
	p.refuses(t, codes.Unauthenticated, "INVALID_MFA_CODE", call)
}

func (p *protected) refusesToken(t *testing.T, call func() error) {
	t.Helper()
	p.refuses(t, codes.Unauthenticated, "INVALID_MFA_TOKEN", call)
}

func TestLoginMfa(t *testing.T) {
	t.Parallel()
	p := setupProtected(t)
	t.Run("the first step returns no token and starts no session", func(t *testing.T) {
		sessions := pgtest.Value[int](t, p.db, `SELECT count(*) FROM sessions`)
		first := p.login(t, p.email)
		require.Empty(t, first.GetAccessToken()+first.GetToken()+first.GetRefreshToken()+
			first.GetDeviceKey()+first.GetTokenType())
		require.Nil(t, first.GetUser())
		require.Nil(t, first.GetCookie())
		require.Equal(t, []string{"totp", "recovery"}, first.GetMethods())
		require.EqualValues(t, 300, first.GetExpiresIn())
		require.Equal(t, sessions, pgtest.Value[int](t, p.db, `SELECT count(*) FROM sessions`))
		stored := pgtest.Value[string](t, p.db, `SELECT string_agg(c::text, ' ') FROM ceremonies c`)
		require.NotContains(t, stored, strings.TrimPrefix(first.GetMfaToken(), "mfa_"))
	})
	t.Run("the second step responds as a sign-in", func(t *testing.T) {
		resp, err := p.LoginMfa(t.Context(), &authv1.LoginMfaRequest{
			MfaToken: p.challenge(t), Code: p.code(t), UserAgent: "phone",
		})
		require.NoError(t, err)
		require.Equal(t, p.email, resp.GetUser().GetEmail())
		require.Equal(t, p.clock.now(), p.authTime(t, resp.GetAccessToken()))
		_, err = p.refresh(t.Context(), resp.GetRefreshToken())
		require.NoError(t, err)
		require.Equal(t, "login_succeeded success", p.lastAudit(t))
	})
	t.Run("sets a cookie for the site itself only", func(t *testing.T) {
		p.clock.advance(30 * time.Second)
		req := &authv1.LoginMfaRequest{
			MfaToken: p.challenge(t), Code: p.code(t), Session: "cookie", Site: ownSite,
			Origin: "https://evil.example", FetchSite: "cross-site",
		}
		p.refuses(t, codes.PermissionDenied, "FORBIDDEN_ORIGIN", func() error {
			_, err := p.LoginMfa(t.Context(), req)
			return err
		})
		req.Origin, req.FetchSite = ownSite, "same-origin"
		resp, err := p.LoginMfa(t.Context(), req)
		require.NoError(t, err)
		require.NotEmpty(t, resp.GetCookie().GetValue())
		require.Empty(t, resp.GetRefreshToken())
	})
	t.Run("returns the same response for a repeated key", func(t *testing.T) {
		p.clock.advance(30 * time.Second)
		req := &authv1.LoginMfaRequest{
			MfaToken: p.challenge(t), Code: p.code(t), IdempotencyKey: "k",
		}
		first, err := p.LoginMfa(t.Context(), req)
		require.NoError(t, err)
		p.clock.advance(time.Hour)
		for range codesPerChallenge + 1 {
			again, err := p.LoginMfa(t.Context(), req)
			require.NoError(t, err)
			require.True(t, again.GetReplayed())
			require.Equal(t, first.GetAccessToken(), again.GetAccessToken())
		}
		req.Code = "000000"
		for range codesPerChallenge {
			p.refuses(t, codes.AlreadyExists, "IDEMPOTENCY_KEY_CONFLICT", func() error {
				_, err := p.LoginMfa(t.Context(), req)
				return err
			})
		}
		p.refuses(t, codes.ResourceExhausted, "RATE_LIMITED", func() error {
			_, err := p.LoginMfa(t.Context(), req)
			return err
		})
	})
	t.Run("rejects a malformed request", func(t *testing.T) {
		e := p.refuses(t, codes.InvalidArgument, "VALIDATION_ERROR", func() error {
			_, err := p.LoginMfa(t.Context(), &authv1.LoginMfaRequest{Session: "body"})
			return err
		})
		require.Equal(t, []string{"mfaToken", "code", "session"}, fieldNames(e))
	})
}

func TestLoginMfaAcceptsEachCodeOnce(t *testing.T) {
	t.Parallel()
	p := setupProtected(t)
	t.Run("in several sign-ins", func(t *testing.T) {
		code := p.code(t)
		require.NoError(t, p.second(p.challenge(t), code))
		second := p.challenge(t)
		p.refusesCode(t, func() error { return p.second(second, code) })
		require.NoError(t, p.recover(second, p.recovery[0]), "a wrong code keeps the challenge")
		third := p.challenge(t)
		p.clock.advance(time.Second)
		p.refusesCode(t, func() error { return p.recover(third, p.recovery[0]) })
		require.Equal(t, "second_factor_failed failure", p.lastAudit(t))
	})
	t.Run("not a code of an earlier step", func(t *testing.T) {
		before := p.code(t)
		p.clock.advance(30 * time.Second)
		require.NoError(t, p.second(p.challenge(t), p.code(t)))
		token := p.challenge(t)
		p.refusesCode(t, func() error { return p.second(token, before) })
	})
	t.Run("in 20 simultaneous sign-ins", func(t *testing.T) {
		for name, try := range map[string]func(token string) error{
			"app":      func(token string) error { return p.second(token, p.code(t)) },
			"recovery": func(token string) error { return p.recover(token, p.recovery[1]) },
		} {
			p.clock.advance(failureWindow)
			tokens := make([]string, 20)
			for i := range tokens {
				tokens[i] = p.challenge(t)
			}
			require.Equal(t, 1, succeeded(20, func(i int) error { return try(tokens[i]) }), name)
		}
	})
	t.Run("and each challenge, in 20 simultaneous requests", func(t *testing.T) {
		p.clock.advance(failureWindow)
		token := p.challenge(t)
		require.Equal(t, 1, succeeded(20, func(i int) error {
			return p.recover(token, p.recovery[2+i%8])
		}))
		left := pgtest.Value[int](t, p.db,
			`SELECT count(*) FROM recovery_codes WHERE used_at IS NULL`)
		require.Equal(t, 7, left, "only one code was used")
		p.clock.advance(failureWindow)
		again := p.challenge(t)
		require.NoError(t, p.second(again, p.code(t)))
		p.clock.advance(30 * time.Second)
		p.refusesToken(t, func() error { return p.second(again, p.code(t)) })
	})
}

func TestLoginMfaRejectsChallenges(t *testing.T) {
	t.Parallel()
	p := setupProtected(t)
	p.refusesToken(t, func() error { return p.second("mfa_unknown", "123456") })
	t.Run("after 5 minutes", func(t *testing.T) {
		token := p.challenge(t)
		p.clock.advance(factors.ChallengeTTL)
		p.refusesToken(t, func() error { return p.second(token, p.code(t)) })
	})
	t.Run("with the code of another user", func(t *testing.T) {
		ctx, _ := p.member(t, "bob@example.com")
		bob := p.protect(ctx, t, "bob@example.com")
		token := p.challenge(t)
		p.refusesCode(t, func() error { return p.second(token, bob.code(t)) })
		p.refusesCode(t, func() error { return p.recover(token, bob.recovery[0]) })
		require.NoError(t, p.second(token, p.code(t)))
	})
	t.Run("after a change of the password", func(t *testing.T) {
		token := p.challenge(t)
		_, err := p.ChangePassword(p.ctx, &authv1.ChangePasswordRequest{
			CurrentPassword: goodPassword, NewPassword: newPassword,
		})
		require.NoError(t, err)
		p.clock.advance(30 * time.Second)
		p.refusesToken(t, func() error { return p.second(token, p.code(t)) })
	})
	t.Run("after a day they are deleted", func(t *testing.T) {
		p.clock.advance(25 * time.Hour)
		require.NoError(t, p.expire(t.Context()))
		require.Zero(t, pgtest.Value[int](t, p.db, `SELECT count(*) FROM ceremonies`))
	})
}

func TestLoginMfaLimits(t *testing.T) {
	t.Parallel()
	limited := func(t *testing.T, p *protected, token string) {
		t.Helper()
		require.Equal(t, "RATE_LIMITED", requireReason(t, codes.ResourceExhausted, "RATE_LIMITED",
			p.second(token, p.code(t))).Reason)
	}
	t.Run("5 wrong codes for a challenge, 10 for a user", func(t *testing.T) {
		t.Parallel()
		p := setupProtected(t)
		first, second := p.challenge(t), p.challenge(t)
		for range codesPerChallenge {
			p.refusesCode(t, func() error { return p.second(first, "000000") })
		}
		limited(t, p, first)
		for range codesPerUser - codesPerChallenge - 1 {
			p.refusesCode(t, func() error { return p.second(second, "000000") })
		}
		limited(t, p, p.challenge(t))
		p.clock.advance(failureWindow)
		require.NoError(t, p.second(p.challenge(t), p.code(t)))
	})
	t.Run("20 simultaneous guesses", func(t *testing.T) {
		t.Parallel()
		p := setupProtected(t)
		token := p.challenge(t)
		compared := succeeded(20, func(int) error {
			err := p.second(token, "000000")
			if e := requireAPI(err); e == "INVALID_MFA_CODE" {
				return nil
			}
			return err
		})
		require.Equal(t, codesPerChallenge, compared)
	})
	t.Run("right codes do not count", func(t *testing.T) {
		t.Parallel()
		p := setupProtected(t)
		for range codesPerUser + 1 {
			p.clock.advance(30 * time.Second)
			require.NoError(t, p.second(p.challenge(t), p.code(t)))
		}
		require.Zero(t, pgtest.Value[int](t, p.db, `SELECT count(*) FROM login_failures`))
	})
}
