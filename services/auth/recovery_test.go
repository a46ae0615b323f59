package auth

import (
	"encoding/hex"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
)

const newPassword = "another staple 8"

func (p post) forgot(t *testing.T, email string) {
	t.Helper()
	_, err := p.ForgotPassword(t.Context(), &authv1.ForgotPasswordRequest{Email: email})
	require.NoError(t, err)
}

func (p post) reset(t *testing.T, token string) error {
	t.Helper()
	_, err := p.ResetPassword(t.Context(),
		&authv1.ResetPasswordRequest{Token: token, Password: newPassword})
	return err
}

func (p post) canLogin(t *testing.T, email, password string) bool {
	t.Helper()
	_, err := p.Login(t.Context(), &authv1.LoginRequest{Email: email, Password: password})
	return err == nil
}

// requireExpired requires LINK_EXPIRED, and that nothing changed.
func (p post) requireExpired(t *testing.T, call func() error) {
	t.Helper()
	p.refuses(t, codes.FailedPrecondition, "LINK_EXPIRED", call)
}

func TestForgotPassword(t *testing.T) {
	t.Parallel()
	t.Run("mails a link to a user, and nothing to an unknown e-mail", func(t *testing.T) {
		t.Parallel()
		p := setupMail(t)
		p.register(t, "ada@example.com")
		_, err := p.ForgotPassword(t.Context(), &authv1.ForgotPasswordRequest{
			Email: " ADA@example.com", AcceptLanguage: "de-DE,de;q=0.9",
		})
		require.NoError(t, err)
		p.forgot(t, "eve@example.com")
		got := p.mailed(t, "ada@example.com")
		require.Equal(t, "Neues Passwort setzen", got.Subject)
		require.Len(t, p.sent("/reset#"), 1)
	})
	t.Run("runs the same statements for known and unknown e-mails", func(t *testing.T) {
		t.Parallel()
		p := setupMail(t)
		p.register(t, "ada@example.com")
		recorder := &statements{}
		p.record(t, recorder)
		run := func(email string) []string {
			recorder.reset()
			resp, err := p.ForgotPassword(t.Context(),
				&authv1.ForgotPasswordRequest{Email: email, IdempotencyKey: "key"})
			require.NoError(t, err)
			require.Equal(t, `{}`, fmt.Sprintf("{%v}", resp))
			return recorder.all()
		}
		// pgx prepares statements with their first use.
		run("ben@example.com")
		known := run("ada@example.com")
		require.NotEmpty(t, known)
		require.Equal(t, known, run("eve@example.com"))
		require.NotContains(t, strings.Join(known, "\n"), "users")
	})
	t.Run("stores no readable e-mail, which may be that of a stranger", func(t *testing.T) {
		t.Parallel()
		p := setupMail(t)
		_, err := p.ForgotPassword(t.Context(),
			&authv1.ForgotPasswordRequest{Email: "eve@example.com", IdempotencyKey: "key"})
		require.NoError(t, err)
		stored := pgtest.Value[string](t, p.db, `
			SELECT (SELECT string_agg(k::text, '') FROM idempotency_keys k) ||
				(SELECT string_agg(m::text, '') FROM mails m)`)
		require.NotContains(t, stored, "eve@")
		require.NotContains(t, stored, hex.EncodeToString([]byte("eve@")), "in a bytea")
	})
	t.Run("limits requests of an address, and mails to an address", func(t *testing.T) {
		t.Parallel()
		p := setupMail(t)
		p.register(t, "ada@example.com")
		req := &authv1.ForgotPasswordRequest{Email: "ada@example.com"}
		for range forgotPerAddress {
			_, err := p.ForgotPassword(from(t.Context(), "203.0.113.7"), req)
			require.NoError(t, err)
		}
		_, err := p.ForgotPassword(from(t.Context(), "203.0.113.7"), req)
		e := requireReason(t, codes.ResourceExhausted, "RATE_LIMITED", err)
		require.Equal(t, failureWindow, e.RetryAfter)
		_, err = p.ForgotPassword(from(t.Context(), "203.0.113.8"), req)
		require.NoError(t, err)
		p.mails.RunQueued(t.Context())
		require.Len(t, p.sent("/reset#"), 5)
		p.clock.advance(failureWindow)
		_, err = p.ForgotPassword(from(t.Context(), "203.0.113.7"), req)
		require.NoError(t, err)
	})
	t.Run("is unavailable without a mail server", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		_, err := b.ForgotPassword(t.Context(),
			&authv1.ForgotPasswordRequest{Email: "ada@example.com"})
		requireReason(t, codes.Unavailable, "MAIL_UNAVAILABLE", err)
		_, err = b.ForgotPassword(t.Context(), &authv1.ForgotPasswordRequest{Email: "ada"})
		requireReason(t, codes.InvalidArgument, "VALIDATION_ERROR", err)
	})
}

func TestResetPassword(t *testing.T) {
	t.Parallel()
	const ada = "ada@example.com"
	t.Run("sets the password once, ends all sessions and reports it", func(t *testing.T) {
		t.Parallel()
		p := setupMail(t)
		p.register(t, ada)
		session := p.login(t, ada)
		other, _ := p.member(t, "ben@example.com")
		p.forgot(t, ada)
		token := p.token(t, ada)
		require.NoError(t, p.reset(t, token))
		require.True(t, p.canLogin(t, ada, newPassword))
		require.False(t, p.canLogin(t, ada, goodPassword))
		_, err := p.verify(t, session.GetAccessToken())
		require.Error(t, err, "verifiers load ended sessions every 5 seconds")
		_, err = p.refresh(t.Context(), session.GetRefreshToken())
		require.ErrorIs(t, err, errInvalidRefreshToken)
		_, err = p.GetMe(other, &authv1.GetMeRequest{})
		require.NoError(t, err)
		p.requireExpired(t, func() error { return p.reset(t, token) })
		require.Equal(t, "Your password was changed", p.mailed(t, ada).Subject)
		ctx := p.as(t, p.loginWith(t, ada, newPassword).GetAccessToken())
		audit, err := p.ListAudit(ctx, &authv1.ListAuditRequest{})
		require.NoError(t, err)
		var types []string
		for _, e := range audit.GetEntries() {
			types = append(types, e.GetType())
		}
		require.Contains(t, types, auditPasswordReset)
		require.Contains(t, types, auditSessionEnded)
	})
	t.Run("repeats its response for an idempotency key", func(t *testing.T) {
		t.Parallel()
		p := setupMail(t)
		p.register(t, ada)
		p.forgot(t, ada)
		req := &authv1.ResetPasswordRequest{
			Token: p.token(t, ada), Password: newPassword, IdempotencyKey: "key",
		}
		_, err := p.ResetPassword(t.Context(), req)
		require.NoError(t, err)
		again, err := p.ResetPassword(t.Context(), req)
		require.NoError(t, err)
		require.True(t, again.GetReplayed())
	})
	t.Run("resets the failed attempts of the user", func(t *testing.T) {
		t.Parallel()
		p := setupMail(t)
		p.register(t, ada)
		for range failuresPerPair {
			require.False(t, p.canLogin(t, ada, "wrong password"))
		}
		require.False(t, p.canLogin(t, ada, goodPassword))
		p.forgot(t, ada)
		require.NoError(t, p.reset(t, p.token(t, ada)))
		require.True(t, p.canLogin(t, ada, newPassword))
	})
	t.Run("rejects a weak password and keeps the link", func(t *testing.T) {
		t.Parallel()
		p := setupMail(t)
		p.register(t, ada)
		p.forgot(t, ada)
		token := p.token(t, ada)
		for _, weak := range []string{"", "short", "password1", ada} {
			_, err := p.ResetPassword(t.Context(),
				&authv1.ResetPasswordRequest{Token: token, Password: weak})
			e := requireReason(t, codes.InvalidArgument, "VALIDATION_ERROR", err)
			require.Equal(t, []string{"password"}, fieldNames(e))
		}
		require.NoError(t, p.reset(t, token))
	})
	for name, change := range map[string]func(t *testing.T, p post){
		"after its expiry": func(t *testing.T, p post) {
			t.Helper()
			p.clock.advance(resetTTL)
		},
		"after a change of the password": func(t *testing.T, p post) {
			t.Helper()
			_, err := p.ChangePassword(p.as(t, p.login(t, ada).GetAccessToken()),
				&authv1.ChangePasswordRequest{
					CurrentPassword: goodPassword, NewPassword: "yet another 9",
				})
			require.NoError(t, err)
		},
		"after another link was used": func(t *testing.T, p post) {
			t.Helper()
			p.forgot(t, ada)
			require.NoError(t, p.reset(t, p.token(t, ada)))
		},
		"after a change of the e-mail": func(t *testing.T, p post) {
			t.Helper()
			pgtest.Exec(t, p.db, `UPDATE users SET email = 'new@example.com'`)
		},
		"of another kind": func(t *testing.T, p post) {
			t.Helper()
			pgtest.Exec(t, p.db, `UPDATE mail_links SET kind = 'other'`)
		},
	} {
		t.Run("rejects a link "+name, func(t *testing.T) {
			t.Parallel()
			p := setupMail(t)
			p.register(t, ada)
			p.forgot(t, ada)
			token := p.token(t, ada)
			change(t, p)
			p.requireExpired(t, func() error { return p.reset(t, token) })
			p.requireExpired(t, func() error { return p.reset(t, "unknown") })
		})
	}
	t.Run("changes only the user of the link", func(t *testing.T) {
		t.Parallel()
		p := setupMail(t)
		p.register(t, ada)
		p.register(t, "eve@example.com")
		p.forgot(t, "eve@example.com")
		eve := p.as(t, p.login(t, "eve@example.com").GetAccessToken())
		_, err := p.ResetPassword(eve, &authv1.ResetPasswordRequest{
			Token: p.token(t, "eve@example.com"), Password: newPassword,
		})
		require.NoError(t, err)
		require.True(t, p.canLogin(t, ada, goodPassword))
	})
}

// TestLinksConcurrently bypasses the hasher, which runs few requests at a time.
func TestLinksConcurrently(t *testing.T) {
	t.Parallel()
	p := setupMail(t)
	p.register(t, "ada@example.com")
	p.forgot(t, "ada@example.com")
	token := p.token(t, "ada@example.com")
	require.Equal(t, 1, succeeded(20, func(n int) error {
		return pgx.BeginFunc(t.Context(), p.db, func(tx pgx.Tx) error {
			return p.resetPassword(t.Context(), tx, token,
				fmt.Sprintf("$argon2id$%d", n), client{})
		})
	}))
	require.Equal(t, 1, pgtest.Value[int](t, p.db,
		`SELECT count(*) FROM audit WHERE type = 'password_reset'`))
}

// BenchmarkForgotPassword compares the time for known and unknown e-mails, which alternate.
func BenchmarkForgotPassword(b *testing.B) {
	server, err := newServer(pgtest.New(b, Migrations), mailConfig("127.0.0.1:1"), func() {},
		time.Now, slog.New(slog.DiscardHandler))
	require.NoError(b, err)
	emails := []string{"ada@example.com", "eve@example.com"}
	_, err = server.Register(b.Context(), &authv1.RegisterRequest{
		Name: "Ada", Email: emails[0], Password: goodPassword,
	})
	require.NoError(b, err)
	var times [2][]time.Duration
	for b.Loop() {
		for i, email := range emails {
			pgtest.Exec(b, server.db, `TRUNCATE mails, login_failures`)
			began := time.Now()
			_, err := server.ForgotPassword(b.Context(),
				&authv1.ForgotPasswordRequest{Email: email})
			require.NoError(b, err)
			times[i] = append(times[i], time.Since(began))
		}
	}
	median := func(i int) float64 {
		slices.Sort(times[i])
		return float64(times[i][len(times[i])/2])
	}
	b.ReportMetric(median(1)/median(0), "unknown/known")
}
