package rpc

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/coffer-budget/coffer/internal/caller"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
)

func TestAuthorizeByMethodOptions(t *testing.T) {
	t.Parallel()
	srv := start(t)
	user := []string{"authorization", "Bearer " + srv.token}
	key := []string{"coffer-service-key", serviceKey}
	tests := map[string]struct {
		metadata            []string
		user, nobody, other string
	}{
		"nothing": {nil, "UNAUTHORIZED", "OK", "INSUFFICIENT_PERMISSIONS"},
		"a token": {user, "OK", "OK", "INSUFFICIENT_PERMISSIONS"},
		"a token, in other letters": {
			[]string{"Authorization", "bEARER " + srv.token},
			"OK", "OK",
			"INSUFFICIENT_PERMISSIONS",
		},
		"the same token twice": {
			append(user, user...), "UNAUTHORIZED", "OK", "INSUFFICIENT_PERMISSIONS",
		},
		"another scheme": {
			[]string{"authorization", "Basic " + srv.token},
			"UNAUTHORIZED", "OK",
			"INSUFFICIENT_PERMISSIONS",
		},
		"no scheme": {
			[]string{"authorization", srv.token}, "UNAUTHORIZED", "OK", "INSUFFICIENT_PERMISSIONS",
		},
		"an empty token": {
			[]string{"authorization", "Bearer "}, "UNAUTHORIZED", "OK", "INSUFFICIENT_PERMISSIONS",
		},
		"a cut token": {
			[]string{"authorization", "Bearer " + srv.token[:len(srv.token)-4]},
			"UNAUTHORIZED", "OK",
			"INSUFFICIENT_PERMISSIONS",
		},
		"the service key": {key, "UNAUTHORIZED", "OK", "OK"},
		"the gateway's key": {
			[]string{"coffer-service-key", GatewayKey(serviceKey)},
			"UNAUTHORIZED", "OK",
			"INSUFFICIENT_PERMISSIONS",
		},
		"another key": {
			[]string{"coffer-service-key", serviceKey + "x"},
			"UNAUTHORIZED", "OK",
			"INSUFFICIENT_PERMISSIONS",
		},
		"an empty key": {
			[]string{"coffer-service-key", ""}, "UNAUTHORIZED", "OK", "INSUFFICIENT_PERMISSIONS",
		},
		"the right key and another": {
			append(key, "coffer-service-key", "x"), "UNAUTHORIZED", "OK",
			"INSUFFICIENT_PERMISSIONS",
		},
		"what only a proxy may claim": {
			[]string{
				"x-user-id", srv.user.UserID.String(), "grpc-metadata-authorization",
				"Bearer " + srv.token,
			},
			"UNAUTHORIZED", "OK", "INSUFFICIENT_PERMISSIONS",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := srv.auth.GetMe(as(t, tt.metadata...), &authv1.GetMeRequest{})
			require.Equal(t, tt.user, reason(err), "a user's RPC")
			_, err = srv.auth.Login(as(t, tt.metadata...), &authv1.LoginRequest{})
			require.Equal(t, tt.nobody, reason(err), "a public RPC")
			_, err = srv.auth.FindUserByEmail(as(t, tt.metadata...),
				&authv1.FindUserByEmailRequest{})
			require.Equal(t, tt.other, reason(err), "a service's RPC")
			stream, err := srv.events.StreamEvents(as(t, tt.metadata...),
				&budgetv1.StreamEventsRequest{})
			require.NoError(t, err)
			_, err = stream.Recv()
			require.Equal(t, tt.user, reason(err), "a user's stream")
		})
	}
}

func TestAuthorizeSetsCallerOfToken(t *testing.T) {
	t.Parallel()
	srv := start(t)
	var acting caller.Identity
	var known bool
	srv.do = func(ctx context.Context) error {
		acting, known = caller.From(ctx)
		return nil
	}
	_, err := srv.auth.GetMe(as(t, "authorization", "Bearer "+srv.token), &authv1.GetMeRequest{})
	require.NoError(t, err)
	require.True(t, known)
	require.Equal(t, srv.user, acting)
	_, err = srv.auth.Login(as(t, "authorization", "Bearer "+srv.token), &authv1.LoginRequest{})
	require.NoError(t, err)
	require.False(t, known, "a public RPC acts for nobody, whatever comes along")
}

func TestStreamEndsWithItsSession(t *testing.T) {
	t.Parallel()
	srv := start(t, func(s *setup) { s.server.streams.verifyInterval = 10 * time.Millisecond })
	background, stop := context.WithCancel(t.Context())
	defer stop()
	stream, err := srv.events.StreamEvents(as(t, "authorization", "Bearer "+srv.token),
		&budgetv1.StreamEventsRequest{})
	require.NoError(t, err)
	_, err = stream.Recv()
	require.NoError(t, err)
	srv.revoked.Store(srv.user.SessionID, true)
	go srv.server.verifier.Run(background)
	_, err = stream.Recv()
	require.Equal(t, "UNAUTHORIZED", reason(err))
	require.Eventually(t, func() bool { return srv.server.streams.open.Load() == 0 },
		time.Minute, time.Millisecond)
}

func TestStreamLimit(t *testing.T) {
	t.Parallel()
	s := start(t, func(s *setup) { s.server.streams.open.Store(maxStreams) })
	stream, err := s.events.StreamEvents(as(t, "authorization", "Bearer "+s.token),
		&budgetv1.StreamEventsRequest{})
	require.NoError(t, err)
	_, err = stream.Recv()
	require.Equal(t, "SERVICE_UNAVAILABLE", reason(err))
	require.Equal(t, int64(maxStreams), s.server.streams.open.Load())
	_, err = s.auth.GetMe(as(t, "authorization", "Bearer "+s.token), &authv1.GetMeRequest{})
	require.NoError(t, err)
}

func TestAuthorizeUnknownMethod(t *testing.T) {
	t.Parallel()
	s := start(t)
	_, err := s.auth.Logout(as(t, "authorization", "Bearer "+s.token), &authv1.LogoutRequest{})
	require.Equal(t, "SERVICE_UNAVAILABLE", reason(err),
		"an instance of the next release has the method")
	require.Equal(t, codes.Unavailable, status.Code(err))
	require.Equal(t, "UNSPECIFIED",
		ruleOf("/coffer.auth.v1.AuthService/NoSuchMethod").access.String()[len("ACCESS_"):])
	require.Equal(t, []string{"gateway"},
		ruleOf("/coffer.auth.v1.AuthService/NoSuchMethod").callers)
}
