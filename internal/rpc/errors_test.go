package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/coffer-budget/coffer/internal/apierr"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

func TestPublicHidesUndeclaredErrors(t *testing.T) {
	t.Parallel()
	const secret = "row 42 of shard 7"
	// The kernel accepts connections to this address, but no server responds.
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = silent.Close() })
	_, unconnected := pgconn.Connect(t.Context(),
		"postgres://u@"+silent.Addr().String()+"/none?connect_timeout=1")
	taken := apierr.New(restv1.Reason_EMAIL_ALREADY_EXISTS).
		With("email", "is taken").After(time.Second)
	tests := map[string]struct {
		err    error
		reason string
		code   codes.Code
		// logged reports whether the log contains the text that is hidden from the caller.
		logged bool
	}{
		"declared": {
			fmt.Errorf("%s: %w", secret, taken), "EMAIL_ALREADY_EXISTS", codes.AlreadyExists, false,
		},
		"declared by another service": {
			fmt.Errorf("%s: %w", secret, taken.GRPCStatus().Err()), "EMAIL_ALREADY_EXISTS",
			codes.AlreadyExists, false,
		},
		"anything": {errors.New(secret), "INTERNAL", codes.Internal, true},
		"another server's status": {
			status.Error(codes.NotFound, secret), "INTERNAL", codes.Internal, true,
		},
		"an unavailable service": {
			status.Error(codes.Unavailable, secret), "SERVICE_UNAVAILABLE", codes.Unavailable, true,
		},
		"a slow service": {
			status.Error(codes.DeadlineExceeded, secret), "DEADLINE_EXCEEDED",
			codes.DeadlineExceeded, true,
		},
		"Postgres unavailable": {
			fmt.Errorf("%s: %w", secret, &net.OpError{Op: "dial", Err: io.EOF}),
			"SERVICE_UNAVAILABLE", codes.Unavailable, true,
		},
		"Postgres silent": {
			fmt.Errorf("%s: %w", secret, unconnected), "SERVICE_UNAVAILABLE", codes.Unavailable,
			true,
		},
		"Postgres shutting down": {
			&pgconn.PgError{Code: "57P01", Message: secret}, "SERVICE_UNAVAILABLE",
			codes.Unavailable, true,
		},
		"Postgres, deadlock": {
			&pgconn.PgError{Code: "40P01", Message: secret}, "SERVICE_UNAVAILABLE",
			codes.Unavailable, true,
		},
		"Postgres, a violation": {
			&pgconn.PgError{Code: "23505", Message: secret, Detail: secret}, "INTERNAL",
			codes.Internal, true,
		},
		"an expired deadline": {
			fmt.Errorf("%s: %w", secret, context.DeadlineExceeded), "DEADLINE_EXCEEDED",
			codes.DeadlineExceeded, true,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := start(t)
			srv.do = func(context.Context) error { return tt.err }
			_, err := srv.auth.Login(t.Context(), &authv1.LoginRequest{})
			require.Equal(t, tt.reason, reason(err))
			require.Equal(t, tt.code, status.Code(err))
			require.NotContains(t, err.Error(), secret)
			require.NotContains(t, fmt.Sprint(status.Convert(err).Details()...), secret)
			require.Equal(t, tt.logged, strings.Contains(srv.log.String(), secret),
				srv.log.String())
			if tt.reason == "EMAIL_ALREADY_EXISTS" {
				require.Equal(t, taken, apierr.From(err), "fields and Retry-After come along")
			}
		})
	}
}

func TestRecoverFromPanic(t *testing.T) {
	t.Parallel()
	srv := start(t)
	srv.do = func(context.Context) error { panic("no such row 42") }
	srv.stream = func(context.Context) error { panic("no such row 42") }
	_, err := srv.auth.Login(t.Context(), &authv1.LoginRequest{})
	require.Equal(t, "INTERNAL", reason(err))
	require.NotContains(t, err.Error(), "42")
	stream, err := srv.events.StreamEvents(as(t, "authorization", "Bearer "+srv.token),
		&budgetv1.StreamEventsRequest{})
	require.NoError(t, err)
	_, err = stream.Recv()
	require.NoError(t, err)
	_, err = stream.Recv()
	require.Equal(t, "INTERNAL", reason(err))
	require.Equal(t, 2, strings.Count(srv.log.String(), "TestRecoverFromPanic.func"),
		"the log says where: %s", srv.log)
	srv.do = func(context.Context) error { return nil }
	_, err = srv.auth.Login(t.Context(), &authv1.LoginRequest{})
	require.NoError(t, err)
}
