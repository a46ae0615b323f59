package auth

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
)

func TestRefresh(t *testing.T) {
	t.Parallel()
	t.Run("returns a new pair in the same session", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		_, first := env.member(t, "ada@example.com")
		env.clock.advance(90 * time.Minute)
		_, err := env.verify(t, first.GetAccessToken())
		require.ErrorIs(t, err, apierr.TokenExpired)
		second, err := env.refresh(t.Context(), first.GetRefreshToken())
		require.NoError(t, err)
		require.Equal(t, second.GetAccessToken(), second.GetToken())
		require.Equal(t, "Bearer", second.GetTokenType())
		require.EqualValues(t, 3600, second.GetExpiresIn())
		require.True(t, proto.Equal(first.GetUser(), second.GetUser()))
		require.NotEqual(t, first.GetRefreshToken(), second.GetRefreshToken())
		ctx := env.as(t, second.GetAccessToken())
		list, err := env.ListSessions(ctx, &authv1.ListSessionsRequest{})
		require.NoError(t, err)
		require.Len(t, list.GetSessions(), 1)
		session := list.GetSessions()[0]
		require.Equal(t, "2026-03-15T12:00:00.000Z", session.GetCreatedAt())
		require.Equal(t, "2026-03-15T13:30:00.000Z", session.GetLastUsedAt())
		require.Equal(t, "2026-04-14T13:30:00.000Z", session.GetExpiresAt())
		_, err = env.refresh(t.Context(), second.GetRefreshToken())
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
		env := setup(t)
		_, first := env.member(t, "ada@example.com")
		other := env.login(t, "ada@example.com")
		second, err := env.refresh(t.Context(), first.GetRefreshToken())
		require.NoError(t, err)

		_, err = env.refresh(t.Context(), first.GetRefreshToken())
		requireReason(t, codes.Unauthenticated, "INVALID_REFRESH_TOKEN", err)
		for _, token := range []string{first.GetAccessToken(), second.GetAccessToken()} {
			_, err = env.verify(t, token)
			require.ErrorIs(t, err, apierr.Unauthorized)
		}
		env.refuses(t, codes.Unauthenticated, "INVALID_REFRESH_TOKEN",
			pgtest.Call(t.Context(), env.refresh, second.GetRefreshToken()))
		_, err = env.verify(t, other.GetAccessToken())
		require.NoError(t, err)
		_, err = env.refresh(t.Context(), other.GetRefreshToken())
		require.NoError(t, err)
	})
	t.Run("accepts one of simultaneous requests and ends the session", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		_, first := env.member(t, "ada@example.com")
		answers := make([]*authv1.RefreshResponse, 8)
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() { answers[i], _ = env.refresh(t.Context(), first.GetRefreshToken()) })
		}
		all.Wait()
		var won []*authv1.RefreshResponse
		for _, a := range answers {
			if a != nil {
				won = append(won, a)
			}
		}
		require.Len(t, won, 1)
		_, err := env.verify(t, won[0].GetAccessToken())
		require.ErrorIs(t, err, apierr.Unauthorized)
	})
	t.Run("returns the first response to a repeated request", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		_, first := env.member(t, "ada@example.com")
		answers := make([]*authv1.RefreshResponse, 8)
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() {
				req := &authv1.RefreshRequest{
					RefreshToken: first.GetRefreshToken(), IdempotencyKey: "k",
				}
				if resp, err := env.Refresh(t.Context(), req); err == nil {
					answers[i] = resp
				}
			})
		}
		all.Wait()
		for _, a := range answers {
			require.NotNil(t, a)
			require.Equal(t, answers[0].GetRefreshToken(), a.GetRefreshToken())
		}
		_, err := env.verify(t, answers[0].GetAccessToken())
		require.NoError(t, err)
		_, err = env.refresh(t.Context(), answers[0].GetRefreshToken())
		require.NoError(t, err)
	})
	t.Run("rejects an invalid token", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		_, loginResponse := env.member(t, "ada@example.com")
		env.refuses(t, codes.InvalidArgument, "VALIDATION_ERROR",
			pgtest.Call(t.Context(), env.refresh, ""))
		valid := loginResponse.GetRefreshToken()
		for _, token := range []string{
			"x", valid + "x", valid[1:], strings.ToUpper(valid), loginResponse.GetAccessToken(),
		} {
			env.refuses(t, codes.Unauthenticated, "INVALID_REFRESH_TOKEN",
				pgtest.Call(t.Context(), env.refresh, token))
		}
		env.clock.advance(testConfig.RefreshTTL)
		env.refuses(t, codes.Unauthenticated, "INVALID_REFRESH_TOKEN",
			pgtest.Call(t.Context(), env.refresh, loginResponse.GetRefreshToken()))
	})
}
