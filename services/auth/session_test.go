package auth

import (
	"context"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
)

func TestLogin(t *testing.T) {
	t.Parallel()
	t.Run("returns a token that every service accepts", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		u := b.register(t, "ada@example.com")
		resp := b.login(t, " ADA@example.com")
		require.Equal(t, resp.GetAccessToken(), resp.GetToken())
		require.Equal(t, "Bearer", resp.GetTokenType())
		require.EqualValues(t, 3600, resp.GetExpiresIn())
		require.True(t, proto.Equal(u, resp.GetUser()))
		require.Len(t, resp.GetRefreshToken(), 43)

		id, err := b.verify(t, resp.GetAccessToken())
		require.NoError(t, err)
		require.Equal(t, u.GetId(), id.UserID.String())

		var claims caller.Claims
		token, _, err := jwt.NewParser().ParseUnverified(resp.GetAccessToken(), &claims)
		require.NoError(t, err)
		require.Equal(t, "EdDSA", token.Header["alg"])
		require.NotEmpty(t, token.Header["kid"])
		now := b.clock.now()
		require.True(t, claims.IssuedAt.Equal(now))
		require.True(t, claims.NotBefore.Equal(now))
		require.True(t, claims.ExpiresAt.Equal(now.Add(time.Hour)))
		require.NotEmpty(t, claims.ID)
		require.Equal(t, "coffer", claims.Issuer)
		require.Equal(t, jwt.ClaimStrings{"coffer"}, claims.Audience)

		for _, secret := range []string{resp.GetRefreshToken(), resp.GetAccessToken()} {
			require.NotContains(t, b.state(t), secret)
		}
	})
	t.Run("returns the same error for a wrong password and an unknown e-mail", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.register(t, "ada@example.com")
		var answers []apierr.Error
		for _, req := range []*authv1.LoginRequest{
			{Email: "ada@example.com", Password: "wrong password"},
			{Email: "bob@example.com", Password: goodPassword},
		} {
			answers = append(answers, b.refuses(t, codes.Unauthenticated, "INVALID_CREDENTIALS", func() error {
				_, err := b.Login(t.Context(), req)
				return err
			}))
		}
		require.Equal(t, answers[0], answers[1])
	})
	t.Run("names the missing fields", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for _, c := range []struct {
			req    *authv1.LoginRequest
			fields []string
		}{
			{&authv1.LoginRequest{}, []string{"email", "password"}},
			{&authv1.LoginRequest{Email: "ada@example.com"}, []string{"password"}},
			{&authv1.LoginRequest{Email: "ada", Password: goodPassword}, []string{"email"}},
			{&authv1.LoginRequest{Email: "ada@example.com", Password: strings.Repeat("a", 129)}, []string{"password"}},
		} {
			e := b.refuses(t, codes.InvalidArgument, "VALIDATION_ERROR", func() error {
				_, err := b.Login(t.Context(), c.req)
				return err
			})
			require.Equal(t, c.fields, fieldNames(e))
		}
	})
	t.Run("starts one session for a repeated request", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.register(t, "ada@example.com")
		answers := make([]*authv1.LoginResponse, 6)
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() {
				// Headers may differ between attempts.
				req := &authv1.LoginRequest{Email: "ada@example.com", Password: goodPassword, IdempotencyKey: "k", UserAgent: strings.Repeat("x", i)}
				if resp, err := b.Login(t.Context(), req); err == nil {
					answers[i] = resp
				}
			})
		}
		all.Wait()
		for _, a := range answers {
			require.NotNil(t, a)
			require.Equal(t, answers[0].GetAccessToken(), a.GetAccessToken())
			require.Equal(t, answers[0].GetRefreshToken(), a.GetRefreshToken())
		}
		ctx := b.as(t, answers[0].GetAccessToken())
		list, err := b.ListSessions(ctx, &authv1.ListSessionsRequest{})
		require.NoError(t, err)
		require.Len(t, list.GetSessions(), 1)
	})
	t.Run("limits guesses with a known idempotency key", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.register(t, "ada@example.com")
		_, err := b.Login(t.Context(), &authv1.LoginRequest{Email: "ada@example.com", Password: goodPassword, IdempotencyKey: "k"})
		require.NoError(t, err)
		guess := func() error {
			_, err := b.Login(t.Context(), &authv1.LoginRequest{Email: "ada@example.com", Password: "a guess like any", IdempotencyKey: "k"})
			return err
		}
		for range failuresPerPair {
			b.refuses(t, codes.AlreadyExists, "IDEMPOTENCY_KEY_CONFLICT", guess)
		}
		b.refuses(t, codes.ResourceExhausted, "RATE_LIMITED", guess)
	})
	t.Run("rejects a password that was changed meanwhile", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		ctx, _ := b.member(t, "ada@example.com")
		verified, err := selectUserByEmail(t.Context(), b.db, "ada@example.com")
		require.NoError(t, err)
		_, err = b.ChangePassword(ctx, &authv1.ChangePasswordRequest{CurrentPassword: goodPassword, NewPassword: "another password"})
		require.NoError(t, err)
		tx, err := b.db.Begin(t.Context())
		require.NoError(t, err)
		defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
		_, _, err = b.startSession(t.Context(), tx, verified, client{}, netip.Prefix{})
		require.ErrorIs(t, err, errInvalidCredentials)
	})
}

func TestRefresh(t *testing.T) {
	t.Parallel()
	t.Run("returns a new pair in the same session", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		_, first := b.member(t, "ada@example.com")
		b.clock.advance(90 * time.Minute)
		_, err := b.verify(t, first.GetAccessToken())
		require.ErrorIs(t, err, apierr.TokenExpired)
		second, err := b.refresh(t.Context(), first.GetRefreshToken())
		require.NoError(t, err)
		require.Equal(t, second.GetAccessToken(), second.GetToken())
		require.Equal(t, "Bearer", second.GetTokenType())
		require.EqualValues(t, 3600, second.GetExpiresIn())
		require.True(t, proto.Equal(first.GetUser(), second.GetUser()))
		require.NotEqual(t, first.GetRefreshToken(), second.GetRefreshToken())
		ctx := b.as(t, second.GetAccessToken())
		list, err := b.ListSessions(ctx, &authv1.ListSessionsRequest{})
		require.NoError(t, err)
		require.Len(t, list.GetSessions(), 1)
		session := list.GetSessions()[0]
		require.Equal(t, "2026-03-15T12:00:00.000Z", session.GetCreatedAt())
		require.Equal(t, "2026-03-15T13:30:00.000Z", session.GetLastUsedAt())
		require.Equal(t, "2026-04-14T13:30:00.000Z", session.GetExpiresAt())
		_, err = b.refresh(t.Context(), second.GetRefreshToken())
		require.NoError(t, err)
	})
	t.Run("returns tokens for the user of the session", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for _, email := range []string{"ada@example.com", "bob@example.com", "eve@example.com"} {
			ctx, login := b.member(t, email)
			refreshed, err := b.refresh(t.Context(), login.GetRefreshToken())
			require.NoError(t, err)
			require.Equal(t, email, refreshed.GetUser().GetEmail())
			require.Equal(t, caller.ID(ctx), caller.ID(b.as(t, refreshed.GetAccessToken())))
		}
	})
	t.Run("ends only the session of a token that was used before", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		_, first := b.member(t, "ada@example.com")
		other := b.login(t, "ada@example.com")
		second, err := b.refresh(t.Context(), first.GetRefreshToken())
		require.NoError(t, err)

		_, err = b.refresh(t.Context(), first.GetRefreshToken())
		requireReason(t, codes.Unauthenticated, "INVALID_REFRESH_TOKEN", err)
		for _, token := range []string{first.GetAccessToken(), second.GetAccessToken()} {
			_, err = b.verify(t, token)
			require.ErrorIs(t, err, apierr.Unauthorized)
		}
		b.refuses(t, codes.Unauthenticated, "INVALID_REFRESH_TOKEN", func() error {
			_, err := b.refresh(t.Context(), second.GetRefreshToken())
			return err
		})
		_, err = b.verify(t, other.GetAccessToken())
		require.NoError(t, err)
		_, err = b.refresh(t.Context(), other.GetRefreshToken())
		require.NoError(t, err)
	})
	t.Run("accepts one of simultaneous requests and ends the session", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		_, first := b.member(t, "ada@example.com")
		answers := make([]*authv1.RefreshResponse, 8)
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() { answers[i], _ = b.refresh(t.Context(), first.GetRefreshToken()) })
		}
		all.Wait()
		var won []*authv1.RefreshResponse
		for _, a := range answers {
			if a != nil {
				won = append(won, a)
			}
		}
		require.Len(t, won, 1)
		_, err := b.verify(t, won[0].GetAccessToken())
		require.ErrorIs(t, err, apierr.Unauthorized)
	})
	t.Run("returns the first response to a repeated request", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		_, first := b.member(t, "ada@example.com")
		answers := make([]*authv1.RefreshResponse, 8)
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() {
				req := &authv1.RefreshRequest{RefreshToken: first.GetRefreshToken(), IdempotencyKey: "k"}
				if resp, err := b.Refresh(t.Context(), req); err == nil {
					answers[i] = resp
				}
			})
		}
		all.Wait()
		for _, a := range answers {
			require.NotNil(t, a)
			require.Equal(t, answers[0].GetRefreshToken(), a.GetRefreshToken())
		}
		_, err := b.verify(t, answers[0].GetAccessToken())
		require.NoError(t, err)
		_, err = b.refresh(t.Context(), answers[0].GetRefreshToken())
		require.NoError(t, err)
	})
	t.Run("rejects an invalid token", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		_, l := b.member(t, "ada@example.com")
		b.refuses(t, codes.InvalidArgument, "VALIDATION_ERROR", func() error {
			_, err := b.refresh(t.Context(), "")
			return err
		})
		for _, token := range []string{"x", l.GetRefreshToken() + "x", l.GetRefreshToken()[1:], strings.ToUpper(l.GetRefreshToken()), l.GetAccessToken()} {
			b.refuses(t, codes.Unauthenticated, "INVALID_REFRESH_TOKEN", func() error {
				_, err := b.refresh(t.Context(), token)
				return err
			})
		}
		b.clock.advance(testConfig.RefreshTTL)
		b.refuses(t, codes.Unauthenticated, "INVALID_REFRESH_TOKEN", func() error {
			_, err := b.refresh(t.Context(), l.GetRefreshToken())
			return err
		})
	})
}

func TestLogout(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, l := b.member(t, "ada@example.com")
	_, err := b.Logout(ctx, &authv1.LogoutRequest{})
	require.NoError(t, err)
	_, err = b.verify(t, l.GetAccessToken())
	require.ErrorIs(t, err, apierr.Unauthorized)
	b.refuses(t, codes.Unauthenticated, "INVALID_REFRESH_TOKEN", func() error {
		_, err := b.refresh(t.Context(), l.GetRefreshToken())
		return err
	})
	// A token that was verified just before the logout gets no data either.
	for name, call := range map[string]func() error{
		"me":       func() error { _, err := b.GetMe(ctx, &authv1.GetMeRequest{}); return err },
		"update":   func() error { _, err := b.UpdateMe(ctx, &authv1.UpdateMeRequest{Name: new("Eve")}); return err },
		"logout":   func() error { _, err := b.Logout(ctx, &authv1.LogoutRequest{}); return err },
		"sessions": func() error { _, err := b.ListSessions(ctx, &authv1.ListSessionsRequest{}); return err },
		"revoke": func() error {
			_, err := b.RevokeSession(ctx, &authv1.RevokeSessionRequest{Id: uuid.NewString()})
			return err
		},
		"password": func() error {
			_, err := b.ChangePassword(ctx, &authv1.ChangePasswordRequest{CurrentPassword: goodPassword, NewPassword: "another password"})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) { b.refuses(t, codes.Unauthenticated, "UNAUTHORIZED", call) })
	}
}

func TestListSessions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.register(t, "ada@example.com")
	b.register(t, "bob@example.com")
	b.login(t, "bob@example.com")
	var tokens []string
	for _, agent := range []string{"curl/8", "Fire\x00fox\n" + strings.Repeat("x", 300), ""} {
		req := &authv1.LoginRequest{Email: "ada@example.com", Password: goodPassword, UserAgent: agent}
		resp, err := b.Login(from(t.Context(), "6.6.6.6, 203.0.113.7"), req)
		require.NoError(t, err)
		tokens = append(tokens, resp.GetAccessToken())
	}
	ctx := b.as(t, tokens[1])
	var seen []*authv1.Session
	for cursor := ""; ; {
		resp, err := b.ListSessions(ctx, &authv1.ListSessionsRequest{Limit: new(int32(2)), Cursor: cursor})
		require.NoError(t, err)
		seen = append(seen, resp.GetSessions()...)
		cursor = resp.GetPagination().GetNextCursor()
		require.Equal(t, cursor != "", resp.GetPagination().GetHasMore())
		if cursor == "" {
			break
		}
	}
	require.Len(t, seen, 3)
	require.Equal(t, "Firefox"+strings.Repeat("x", maxUserAgent-7), seen[1].GetUserAgent())
	require.Equal(t, "curl/8", seen[2].GetUserAgent())
	require.Equal(t, []bool{false, true, false}, []bool{seen[0].GetCurrent(), seen[1].GetCurrent(), seen[2].GetCurrent()})
	for _, s := range seen {
		require.Equal(t, "203.0.113.7", s.GetIpAddress())
	}
	b.refuses(t, codes.InvalidArgument, "INVALID_CURSOR", func() error {
		_, err := b.ListSessions(ctx, &authv1.ListSessionsRequest{Cursor: "x"})
		return err
	})
	b.refuses(t, codes.InvalidArgument, "VALIDATION_ERROR", func() error {
		_, err := b.ListSessions(ctx, &authv1.ListSessionsRequest{Limit: new(int32(0))})
		return err
	})
}

func TestRevokeSession(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ada, _ := b.member(t, "ada@example.com")
	bob, bobs := b.member(t, "bob@example.com")
	id, _ := caller.From(bob)
	revoke := func(ctx context.Context, id string) error {
		_, err := b.RevokeSession(ctx, &authv1.RevokeSessionRequest{Id: id})
		return err
	}
	for _, bad := range []string{"", "x", "{" + uuid.NewString() + "}", strings.ReplaceAll(uuid.NewString(), "-", "")} {
		b.refuses(t, codes.InvalidArgument, "INVALID_SESSION_ID", func() error { return revoke(ada, bad) })
	}
	for _, unknown := range []string{uuid.NewString(), uuid.Nil.String(), id.SessionID.String()} {
		b.refuses(t, codes.NotFound, "SESSION_NOT_FOUND", func() error { return revoke(ada, unknown) })
	}
	second := b.login(t, "bob@example.com")
	resp, err := b.RevokeSession(b.as(t, second.GetAccessToken()), &authv1.RevokeSessionRequest{Id: strings.ToUpper(id.SessionID.String())})
	require.NoError(t, err)
	require.Equal(t, id.SessionID.String(), resp.GetId())
	_, err = b.verify(t, bobs.GetAccessToken())
	require.ErrorIs(t, err, apierr.Unauthorized)
	b.refuses(t, codes.NotFound, "SESSION_NOT_FOUND", func() error { return revoke(b.as(t, second.GetAccessToken()), id.SessionID.String()) })
}
