package auth

import (
	"context"
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
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
)

func TestLogin(t *testing.T) {
	t.Parallel()
	t.Run("returns a token that every service accepts", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		user := env.register(t, "ada@example.com")
		resp := env.login(t, " ADA@example.com")
		require.Equal(t, resp.GetAccessToken(), resp.GetToken())
		require.Equal(t, "Bearer", resp.GetTokenType())
		require.EqualValues(t, 3600, resp.GetExpiresIn())
		require.True(t, proto.Equal(user, resp.GetUser()))
		require.Len(t, resp.GetRefreshToken(), 43)

		id, err := env.verify(t, resp.GetAccessToken())
		require.NoError(t, err)
		require.Equal(t, user.GetId(), id.UserID.String())

		var claims caller.Claims
		token, _, err := jwt.NewParser().ParseUnverified(resp.GetAccessToken(), &claims)
		require.NoError(t, err)
		require.Equal(t, "EdDSA", token.Header["alg"])
		require.NotEmpty(t, token.Header["kid"])
		now := env.clock.now()
		require.True(t, claims.IssuedAt.Equal(now))
		require.True(t, claims.NotBefore.Equal(now))
		require.True(t, claims.ExpiresAt.Equal(now.Add(time.Hour)))
		require.NotEmpty(t, claims.ID)
		require.Equal(t, "coffer", claims.Issuer)
		require.Equal(t, jwt.ClaimStrings{"coffer"}, claims.Audience)

		for _, secret := range []string{resp.GetRefreshToken(), resp.GetAccessToken()} {
			require.NotContains(t, env.state(t), secret)
		}
	})
	t.Run("returns the same error for a wrong password and an unknown e-mail", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		env.register(t, "ada@example.com")
		var answers []apierr.Error
		for _, req := range []*authv1.LoginRequest{
			{Email: "ada@example.com", Password: "wrong password"},
			{Email: "bob@example.com", Password: goodPassword},
		} {
			answers = append(answers, env.refuses(t, codes.Unauthenticated, "INVALID_CREDENTIALS",
				pgtest.Call(t.Context(), env.Login, req)))
		}
		require.Equal(t, answers[0], answers[1])
	})
	t.Run("names the missing fields", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		for _, tc := range []struct {
			req    *authv1.LoginRequest
			fields []string
		}{
			{&authv1.LoginRequest{}, []string{"email", "password"}},
			{&authv1.LoginRequest{Email: "ada@example.com"}, []string{"password"}},
			{&authv1.LoginRequest{Email: "ada", Password: goodPassword}, []string{"email"}},
			{&authv1.LoginRequest{
				Email: "ada@example.com", Password: strings.Repeat("a", 129),
			}, []string{"password"}},
		} {
			e := env.refuses(t, codes.InvalidArgument, "VALIDATION_ERROR",
				pgtest.Call(t.Context(), env.Login, tc.req))
			require.Equal(t, tc.fields, fieldNames(e))
		}
	})
	t.Run("starts one session for a repeated request", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		env.register(t, "ada@example.com")
		answers := make([]*authv1.LoginResponse, 6)
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() {
				// Headers may differ between attempts.
				req := &authv1.LoginRequest{
					Email: "ada@example.com", Password: goodPassword, IdempotencyKey: "k",
					UserAgent: strings.Repeat("x", i),
				}
				if resp, err := env.Login(t.Context(), req); err == nil {
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
		ctx := env.as(t, answers[0].GetAccessToken())
		list, err := env.ListSessions(ctx, &authv1.ListSessionsRequest{})
		require.NoError(t, err)
		require.Len(t, list.GetSessions(), 1)
	})
	t.Run("limits guesses with a known idempotency key", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		env.register(t, "ada@example.com")
		_, err := env.Login(t.Context(), &authv1.LoginRequest{
			Email: "ada@example.com", Password: goodPassword, IdempotencyKey: "k",
		})
		require.NoError(t, err)
		guess := pgtest.Call(t.Context(), env.Login, &authv1.LoginRequest{
			Email: "ada@example.com", Password: "a guess like any", IdempotencyKey: "k",
		})
		for range failuresPerPair {
			env.refuses(t, codes.AlreadyExists, "IDEMPOTENCY_KEY_CONFLICT", guess)
		}
		env.refuses(t, codes.ResourceExhausted, "RATE_LIMITED", guess)
	})
	t.Run("rejects a password that was changed meanwhile", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		ctx, _ := env.member(t, "ada@example.com")
		verified, err := selectUserByEmail(t.Context(), env.db, "ada@example.com")
		require.NoError(t, err)
		_, err = env.ChangePassword(ctx, &authv1.ChangePasswordRequest{
			CurrentPassword: goodPassword, NewPassword: "another password",
		})
		require.NoError(t, err)
		tx, err := env.db.Begin(t.Context())
		require.NoError(t, err)
		defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
		_, _, err = env.startSession(t.Context(), tx, proven{user: verified})
		require.ErrorIs(t, err, errInvalidCredentials)
	})
}

func TestLogout(t *testing.T) {
	t.Parallel()
	env := setup(t)
	ctx, loginResponse := env.member(t, "ada@example.com")
	_, err := env.Logout(ctx, &authv1.LogoutRequest{})
	require.NoError(t, err)
	_, err = env.verify(t, loginResponse.GetAccessToken())
	require.ErrorIs(t, err, apierr.Unauthorized)
	env.refuses(t, codes.Unauthenticated, "INVALID_REFRESH_TOKEN",
		pgtest.Call(t.Context(), env.refresh, loginResponse.GetRefreshToken()))
	// A token that was verified just before the logout gets no data either.
	for name, call := range map[string]func() error{
		"me":       pgtest.Call(ctx, env.GetMe, &authv1.GetMeRequest{}),
		"update":   pgtest.Call(ctx, env.UpdateMe, &authv1.UpdateMeRequest{Name: new("Eve")}),
		"logout":   pgtest.Call(ctx, env.Logout, &authv1.LogoutRequest{}),
		"sessions": pgtest.Call(ctx, env.ListSessions, &authv1.ListSessionsRequest{}),
		"revoke": pgtest.Call(ctx, env.RevokeSession,
			&authv1.RevokeSessionRequest{Id: uuid.NewString()}),
		"password": pgtest.Call(ctx, env.ChangePassword, &authv1.ChangePasswordRequest{
			CurrentPassword: goodPassword, NewPassword: "another password",
		}),
	} {
		t.Run(name,
			func(t *testing.T) { env.refuses(t, codes.Unauthenticated, "UNAUTHORIZED", call) })
	}
}

func TestListSessions(t *testing.T) {
	t.Parallel()
	env := setup(t)
	env.register(t, "ada@example.com")
	env.register(t, "bob@example.com")
	env.login(t, "bob@example.com")
	var tokens []string
	for _, agent := range []string{"curl/8", "Fire\x00fox\n" + strings.Repeat("x", 300), ""} {
		req := &authv1.LoginRequest{
			Email: "ada@example.com", Password: goodPassword, UserAgent: agent,
		}
		resp, err := env.Login(from(t.Context(), "6.6.6.6, 203.0.113.7"), req)
		require.NoError(t, err)
		tokens = append(tokens, resp.GetAccessToken())
	}
	ctx := env.as(t, tokens[1])
	var seen []*authv1.Session
	for cursor := ""; ; {
		resp, err := env.ListSessions(ctx,
			&authv1.ListSessionsRequest{Limit: new(int32(2)), Cursor: cursor})
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
	require.Equal(t, []bool{false, true, false},
		[]bool{seen[0].GetCurrent(), seen[1].GetCurrent(), seen[2].GetCurrent()})
	for _, s := range seen {
		require.Equal(t, "203.0.113.7", s.GetIpAddress())
	}
	env.refuses(t, codes.InvalidArgument, "INVALID_CURSOR",
		pgtest.Call(ctx, env.ListSessions, &authv1.ListSessionsRequest{Cursor: "x"}))
	env.refuses(t, codes.InvalidArgument, "VALIDATION_ERROR",
		pgtest.Call(ctx, env.ListSessions, &authv1.ListSessionsRequest{Limit: new(int32(0))}))
}

func TestRevokeSession(t *testing.T) {
	t.Parallel()
	env := setup(t)
	ada, _ := env.member(t, "ada@example.com")
	bob, bobs := env.member(t, "bob@example.com")
	id, _ := caller.From(bob)
	revoke := func(ctx context.Context, id string) error {
		_, err := env.RevokeSession(ctx, &authv1.RevokeSessionRequest{Id: id})
		return err
	}
	id32 := strings.ReplaceAll(uuid.NewString(), "-", "")
	for _, bad := range []string{"", "x", "{" + uuid.NewString() + "}", id32} {
		env.refuses(t, codes.InvalidArgument, "INVALID_SESSION_ID",
			func() error { return revoke(ada, bad) })
	}
	for _, unknown := range []string{uuid.NewString(), uuid.Nil.String(), id.SessionID.String()} {
		env.refuses(t, codes.NotFound, "SESSION_NOT_FOUND",
			func() error { return revoke(ada, unknown) })
	}
	second := env.login(t, "bob@example.com")
	resp, err := env.RevokeSession(env.as(t, second.GetAccessToken()),
		&authv1.RevokeSessionRequest{Id: strings.ToUpper(id.SessionID.String())})
	require.NoError(t, err)
	require.Equal(t, id.SessionID.String(), resp.GetId())
	_, err = env.verify(t, bobs.GetAccessToken())
	require.ErrorIs(t, err, apierr.Unauthorized)
	env.refuses(t, codes.NotFound, "SESSION_NOT_FOUND",
		func() error { return revoke(env.as(t, second.GetAccessToken()), id.SessionID.String()) })
}
