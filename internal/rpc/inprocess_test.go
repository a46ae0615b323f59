package rpc

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// direct returns a connection that calls the server in-process.
func direct(t testing.TB, s *setup, key string) *Conn {
	t.Helper()
	conn, err := Dial(InProcess+s.addr, authv1.AuthService_ServiceDesc.ServiceName, Config{ServiceKey: key})
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	// Once the server is registered, calls do not need the connection. It is closed, so that a call
	// through gRPC would fail.
	require.Eventually(t, func() bool { _, ok := localServers.Load(s.addr); return ok }, time.Minute, time.Millisecond)
	require.NoError(t, conn.Close())
	return conn
}

func TestInvokeInProcessEqualsGRPC(t *testing.T) {
	t.Parallel()
	taken := apierr.New(restv1.Reason_EMAIL_ALREADY_EXISTS).With("email", "is taken").After(time.Second)
	for name, outcome := range map[string]error{
		"success": nil, "declared": taken, "anything": errors.New("row 42"), "late": context.DeadlineExceeded, "panic": errPanic,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			s.do = func(context.Context) error {
				if errors.Is(outcome, errPanic) {
					panic("no")
				}
				return outcome
			}
			handed := authv1.NewAuthServiceClient(direct(t, s, serviceKey))
			user, service := as(t, "authorization", "Bearer "+s.token), as(t, "coffer-service-key", serviceKey)
			for _, way := range []struct {
				ctx  context.Context
				call func(ctx context.Context, auth authv1.AuthServiceClient) error
			}{
				{user, func(ctx context.Context, auth authv1.AuthServiceClient) error {
					_, err := auth.GetMe(ctx, &authv1.GetMeRequest{})
					return err
				}},
				{t.Context(), func(ctx context.Context, auth authv1.AuthServiceClient) error {
					_, err := auth.GetMe(ctx, &authv1.GetMeRequest{})
					return err
				}},
				{t.Context(), func(ctx context.Context, auth authv1.AuthServiceClient) error {
					_, err := auth.Login(ctx, &authv1.LoginRequest{})
					return err
				}},
				{t.Context(), func(ctx context.Context, auth authv1.AuthServiceClient) error {
					_, err := auth.Logout(ctx, &authv1.LogoutRequest{})
					return err
				}},
			} {
				want, got := status.Convert(way.call(way.ctx, s.auth)), status.Convert(way.call(way.ctx, handed))
				require.True(t, proto.Equal(want.Proto(), got.Proto()), "%v\n%v", want, got)
			}
			_, want := s.auth.FindUserByEmail(service, &authv1.FindUserByEmailRequest{})
			_, got := handed.FindUserByEmail(t.Context(), &authv1.FindUserByEmailRequest{})
			require.Equal(t, reason(want), reason(got), "the connection brings the key")
			_, got = authv1.NewAuthServiceClient(direct(t, s, "")).FindUserByEmail(t.Context(), &authv1.FindUserByEmailRequest{})
			require.Equal(t, apierr.ServiceOnly.Reason, reason(got))
		})
	}
}

var errPanic = errors.New("panic")

func TestInvokeInProcessPassesNoContextValues(t *testing.T) {
	t.Parallel()
	s := start(t)
	type key struct{}
	var seen context.Context //nolint:containedctx // The test checks the context of the handler.
	s.do = func(ctx context.Context) error { seen = ctx; return ctx.Err() }
	auth := authv1.NewAuthServiceClient(direct(t, s, ""))
	parent := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}})
	ctx := trace.ContextWithSpanContext(context.WithValue(WithRequestID(t.Context(), "r-1"), key{}, "the caller's"), parent)
	ctx = caller.With(ctx, caller.Identity{UserID: uuid.New()})
	ctx, cancel := context.WithTimeout(metadata.AppendToOutgoingContext(ctx, "x-forwarded-for", "192.0.2.1"), time.Minute)
	defer cancel()
	_, err := auth.Login(ctx, &authv1.LoginRequest{})
	require.NoError(t, err)
	require.Nil(t, seen.Value(key{}))
	_, known := caller.From(seen)
	require.False(t, known, "the caller's user is not the service's")
	require.Equal(t, "r-1", RequestID(seen))
	require.Equal(t, []string{"192.0.2.1"}, metadata.ValueFromIncomingContext(seen, "x-forwarded-for"))
	require.Equal(t, parent.TraceID(), trace.SpanContextFromContext(seen).TraceID())
	end, _ := ctx.Deadline()
	got, ok := seen.Deadline()
	require.True(t, ok)
	require.Equal(t, end.Add(-hopReserve), got)

	waiting := make(chan struct{})
	s.do = func(ctx context.Context) error { close(waiting); <-ctx.Done(); return ctx.Err() }
	canceled, cancel := context.WithCancel(t.Context())
	go func() { <-waiting; cancel() }()
	_, err = auth.Login(canceled, &authv1.LoginRequest{})
	require.Equal(t, "CANCELED", reason(err))
}

func TestServeDrainsInProcessCalls(t *testing.T) {
	t.Parallel()
	s := start(t)
	entered, leave := make(chan struct{}), make(chan struct{})
	s.do = func(context.Context) error { close(entered); <-leave; return nil }
	auth := authv1.NewAuthServiceClient(direct(t, s, ""))
	answered := make(chan error, 1)
	go func() { _, err := auth.Login(t.Context(), &authv1.LoginRequest{}); answered <- err }()
	select {
	case <-entered:
	case err := <-answered:
		require.FailNow(t, "the call was not executed", "%v", err)
	}
	s.stop()
	require.Eventually(t, func() bool { return !s.server.inProcess.TryRLock() || unlock(s) }, time.Minute, time.Millisecond)
	_, err := auth.Login(t.Context(), &authv1.LoginRequest{})
	require.Error(t, err)
	select {
	case err := <-s.ended:
		require.Fail(t, "the server ended before the call", "%v", err)
	default:
	}
	close(leave)
	require.NoError(t, <-answered)
	require.NoError(t, <-s.ended)
}

// unlock releases an acquired read lock and returns false.
func unlock(s *setup) bool { s.server.inProcess.RUnlock(); return false }

// BenchmarkInvoke compares a call in the same process with a call through gRPC over loopback.
func BenchmarkInvoke(b *testing.B) {
	s := start(b)
	ctx := as(b, "authorization", "Bearer "+s.token)
	for _, way := range []struct {
		name string
		auth authv1.AuthServiceClient
	}{
		{"in-process", authv1.NewAuthServiceClient(direct(b, s, ""))},
		{"gRPC", s.auth},
	} {
		b.Run(way.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := way.auth.GetMe(ctx, &authv1.GetMeRequest{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
