package rpc

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
)

func TestLimitDeadlineEndsCallWithoutMessage(t *testing.T) {
	t.Parallel()
	srv := start(t, func(s *setup) { s.server.maxTimeout = 200 * time.Millisecond })
	conn, err := grpc.NewClient("passthrough:///"+srv.addr,
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer conn.Close()
	for _, granted := range []time.Duration{0, time.Hour} {
		ctx := t.Context()
		if granted > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, granted)
			defer cancel()
		}
		stream, err := conn.NewStream(ctx, &grpc.StreamDesc{},
			authv1.AuthService_Login_FullMethodName)
		require.NoError(t, err)
		begin := time.Now()
		err = stream.RecvMsg(&authv1.LoginResponse{})
		require.Equal(t, codes.DeadlineExceeded, status.Code(err), "%v", err)
		require.Less(t, time.Since(begin), 20*time.Second)
	}
	_, err = srv.auth.Login(t.Context(), &authv1.LoginRequest{})
	require.NoError(t, err)
}

func TestLimitDeadlineExemptsStreams(t *testing.T) {
	t.Parallel()
	srv := start(t, func(s *setup) { s.server.maxTimeout = 50 * time.Millisecond })
	srv.stream = func(ctx context.Context) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(300 * time.Millisecond):
			return nil
		}
	}
	stream, err := srv.events.StreamEvents(as(t, "authorization", "Bearer "+srv.token),
		&budgetv1.StreamEventsRequest{})
	require.NoError(t, err)
	for err == nil {
		_, err = stream.Recv()
	}
	require.ErrorIs(t, err, io.EOF)
}

func TestDeadlineIsShorterThanCallers(t *testing.T) {
	t.Parallel()
	srv := start(t)
	var left time.Duration
	srv.do = func(ctx context.Context) error {
		end, ok := ctx.Deadline()
		require.True(t, ok)
		left = time.Until(end)
		return nil
	}
	begin := time.Now()
	_, err := srv.auth.Login(t.Context(), &authv1.LoginRequest{})
	require.NoError(t, err)
	require.LessOrEqual(t, left, defaultTimeout)
	// The message takes time to arrive, at most that of the call.
	require.GreaterOrEqual(t, left, defaultTimeout-hopReserve-time.Since(begin))

	begin = time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err = srv.auth.Login(ctx, &authv1.LoginRequest{})
	require.NoError(t, err)
	require.LessOrEqual(t, left, 10*time.Second-hopReserve)
	require.GreaterOrEqual(t, left, 10*time.Second-hopReserve-time.Since(begin))

	left = 0
	hopeless, cancel := context.WithTimeout(t.Context(), hopReserve/2)
	defer cancel()
	_, err = srv.auth.Login(hopeless, &authv1.LoginRequest{})
	require.Equal(t, codes.DeadlineExceeded, status.Code(err))
	require.Zero(t, left, "it was not begun")
}
