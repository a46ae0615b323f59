package rpc

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/mtls"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

const serviceKey = "the installation's"

// fake serves one RPC of each access: GetMe requires a user, Login is public, FindUserByEmail
// requires a service, and StreamEvents is a stream that requires a user.
type fake struct {
	authv1.UnimplementedAuthServiceServer
	budgetv1.UnimplementedNotificationServiceServer
	do     func(ctx context.Context) error
	stream func(ctx context.Context) error
}

func (f *fake) GetMe(ctx context.Context, _ *authv1.GetMeRequest) (*authv1.GetMeResponse, error) {
	return &authv1.GetMeResponse{}, f.do(ctx)
}

func (f *fake) UpdateMe(ctx context.Context, _ *authv1.UpdateMeRequest) (*authv1.UpdateMeResponse, error) {
	return &authv1.UpdateMeResponse{}, f.do(ctx)
}

func (f *fake) Login(ctx context.Context, _ *authv1.LoginRequest) (*authv1.LoginResponse, error) {
	return &authv1.LoginResponse{}, f.do(ctx)
}

func (f *fake) FindUserByEmail(ctx context.Context, _ *authv1.FindUserByEmailRequest) (*authv1.FindUserByEmailResponse, error) {
	return &authv1.FindUserByEmailResponse{}, f.do(ctx)
}

func (f *fake) StreamEvents(_ *budgetv1.StreamEventsRequest, ss grpc.ServerStreamingServer[budgetv1.StreamEventsResponse]) error {
	if err := ss.Send(&budgetv1.StreamEventsResponse{}); err != nil {
		return err
	}
	return f.stream(ss.Context())
}

// setup is a running server with its fake, a connection, and a user.
type setup struct {
	*fake
	server  *Server
	addr    string
	conn    *grpc.ClientConn
	auth    authv1.AuthServiceClient
	events  budgetv1.NotificationServiceClient
	user    caller.Identity
	token   string
	log     *logBook
	revoked sync.Map
	stop    context.CancelFunc
	ended   chan error
}

// logBook records log lines.
type logBook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBook) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBook) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func start(t testing.TB, change ...func(*setup)) *setup {
	t.Helper()
	s := &setup{fake: &fake{do: func(context.Context) error { return nil }}, log: &logBook{}, ended: make(chan error, 1)}
	s.stream = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	public, private, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	s.user = caller.Identity{UserID: uuid.Must(uuid.NewV7()), SessionID: uuid.Must(uuid.NewV7())}
	unsigned := jwt.NewWithClaims(jwt.SigningMethodEdDSA, caller.Claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: caller.Issuer, Audience: jwt.ClaimStrings{caller.Audience}, Subject: s.user.UserID.String(), ExpiresAt: jwt.NewNumericDate(time.Now().Add(time.Hour)),
		},
		SessionID: s.user.SessionID,
	})
	unsigned.Header["kid"] = "k"
	s.token, err = unsigned.SignedString(private)
	require.NoError(t, err)
	log := slog.New(slog.NewTextHandler(s.log, nil))
	verifier, err := caller.NewVerifier(caller.Trust{
		Keys: func(context.Context) (map[string]ed25519.PublicKey, error) {
			return map[string]ed25519.PublicKey{"k": public}, nil
		},
		Revoked: func(context.Context, string) (caller.Revoked, error) {
			ended := caller.Revoked{Sessions: map[uuid.UUID]uint32{}}
			s.revoked.Range(func(id, _ any) bool { ended.Sessions[id.(uuid.UUID)] = math.MaxUint32; return true })
			return ended, nil
		},
	}, time.Now, log)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.server = NewServer(Config{ServiceKey: serviceKey}, verifier, log)
	authv1.RegisterAuthServiceServer(s.server, s)
	budgetv1.RegisterNotificationServiceServer(s.server, s)
	for _, c := range change {
		c(s)
	}
	lis, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s.addr = lis.Addr().String()
	go func() { s.ended <- s.server.Serve(ctx, lis, func(context.Context) error { return nil }) }()
	t.Cleanup(func() { stop(); s.server.Stop() })
	// The connection does not use rpc.Dial, because Dial has separate tests.
	conn, err := grpc.NewClient("passthrough:///"+s.addr, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallSendMsgSize(2*MaxMessage)))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	s.conn, s.auth, s.events = conn, authv1.NewAuthServiceClient(conn), budgetv1.NewNotificationServiceClient(conn)
	return s
}

// as returns a context with metadata, given as alternating names and values.
func as(t testing.TB, pairs ...string) context.Context {
	t.Helper()
	return metadata.AppendToOutgoingContext(t.Context(), pairs...)
}

func reason(err error) string {
	if e := apierr.From(err); e != nil {
		return e.Reason
	}
	return status.Code(err).String()
}

func TestPublicHidesUndeclaredErrors(t *testing.T) {
	t.Parallel()
	const secret = "row 42 of shard 7"
	// The kernel accepts connections to this address, but no server responds.
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = silent.Close() })
	_, unconnected := pgconn.Connect(t.Context(), "postgres://u@"+silent.Addr().String()+"/none?connect_timeout=1")
	taken := apierr.New(restv1.Reason_EMAIL_ALREADY_EXISTS).With("email", "is taken").After(time.Second)
	tests := map[string]struct {
		err    error
		reason string
		code   codes.Code
		// logged reports whether the log contains the text that is hidden from the caller.
		logged bool
	}{
		"declared":                    {fmt.Errorf("%s: %w", secret, taken), "EMAIL_ALREADY_EXISTS", codes.AlreadyExists, false},
		"declared by another service": {fmt.Errorf("%s: %w", secret, taken.GRPCStatus().Err()), "EMAIL_ALREADY_EXISTS", codes.AlreadyExists, false},
		"anything":                    {errors.New(secret), "INTERNAL", codes.Internal, true},
		"another server's status":     {status.Error(codes.NotFound, secret), "INTERNAL", codes.Internal, true},
		"an unavailable service":      {status.Error(codes.Unavailable, secret), "SERVICE_UNAVAILABLE", codes.Unavailable, true},
		"a slow service":              {status.Error(codes.DeadlineExceeded, secret), "DEADLINE_EXCEEDED", codes.DeadlineExceeded, true},
		"Postgres unavailable":        {fmt.Errorf("%s: %w", secret, &net.OpError{Op: "dial", Err: io.EOF}), "SERVICE_UNAVAILABLE", codes.Unavailable, true},
		"Postgres silent":             {fmt.Errorf("%s: %w", secret, unconnected), "SERVICE_UNAVAILABLE", codes.Unavailable, true},
		"Postgres shutting down":      {&pgconn.PgError{Code: "57P01", Message: secret}, "SERVICE_UNAVAILABLE", codes.Unavailable, true},
		"Postgres, deadlock":          {&pgconn.PgError{Code: "40P01", Message: secret}, "SERVICE_UNAVAILABLE", codes.Unavailable, true},
		"Postgres, a violation":       {&pgconn.PgError{Code: "23505", Message: secret, Detail: secret}, "INTERNAL", codes.Internal, true},
		"an expired deadline":         {fmt.Errorf("%s: %w", secret, context.DeadlineExceeded), "DEADLINE_EXCEEDED", codes.DeadlineExceeded, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			s.do = func(context.Context) error { return tt.err }
			_, err := s.auth.Login(t.Context(), &authv1.LoginRequest{})
			require.Equal(t, tt.reason, reason(err))
			require.Equal(t, tt.code, status.Code(err))
			require.NotContains(t, err.Error(), secret)
			require.NotContains(t, fmt.Sprint(status.Convert(err).Details()...), secret)
			require.Equal(t, tt.logged, strings.Contains(s.log.String(), secret), s.log.String())
			if tt.reason == "EMAIL_ALREADY_EXISTS" {
				require.Equal(t, taken, apierr.From(err), "fields and Retry-After come along")
			}
		})
	}
}

func TestRecoverFromPanic(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.do = func(context.Context) error { panic("no such row 42") }
	s.stream = func(context.Context) error { panic("no such row 42") }
	_, err := s.auth.Login(t.Context(), &authv1.LoginRequest{})
	require.Equal(t, "INTERNAL", reason(err))
	require.NotContains(t, err.Error(), "42")
	stream, err := s.events.StreamEvents(as(t, "authorization", "Bearer "+s.token), &budgetv1.StreamEventsRequest{})
	require.NoError(t, err)
	_, err = stream.Recv()
	require.NoError(t, err)
	_, err = stream.Recv()
	require.Equal(t, "INTERNAL", reason(err))
	require.Equal(t, 2, strings.Count(s.log.String(), "TestRecoverFromPanic.func"), "the log says where: %s", s.log)
	s.do = func(context.Context) error { return nil }
	_, err = s.auth.Login(t.Context(), &authv1.LoginRequest{})
	require.NoError(t, err)
}

func TestDeadlineIsShorterThanCallers(t *testing.T) {
	t.Parallel()
	s := start(t)
	var left time.Duration
	s.do = func(ctx context.Context) error {
		end, ok := ctx.Deadline()
		require.True(t, ok)
		left = time.Until(end)
		return nil
	}
	begin := time.Now()
	_, err := s.auth.Login(t.Context(), &authv1.LoginRequest{})
	require.NoError(t, err)
	require.LessOrEqual(t, left, defaultTimeout)
	// The message takes time to arrive, at most that of the call.
	require.GreaterOrEqual(t, left, defaultTimeout-hopReserve-time.Since(begin))

	begin = time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err = s.auth.Login(ctx, &authv1.LoginRequest{})
	require.NoError(t, err)
	require.LessOrEqual(t, left, 10*time.Second-hopReserve)
	require.GreaterOrEqual(t, left, 10*time.Second-hopReserve-time.Since(begin))

	left = 0
	hopeless, cancel := context.WithTimeout(t.Context(), hopReserve/2)
	defer cancel()
	_, err = s.auth.Login(hopeless, &authv1.LoginRequest{})
	require.Equal(t, codes.DeadlineExceeded, status.Code(err))
	require.Zero(t, left, "it was not begun")
}

func TestFinishLogsEachCallOnce(t *testing.T) {
	t.Parallel()
	s := start(t)
	ctx := as(t, "authorization", "Bearer "+s.token)
	_, err := s.auth.GetMe(ctx, &authv1.GetMeRequest{})
	require.NoError(t, err)
	s.do = func(context.Context) error { return apierr.EmptyUpdate }
	_, err = s.auth.UpdateMe(ctx, &authv1.UpdateMeRequest{})
	require.Error(t, err)
	// The server logs after it has answered.
	require.Eventually(t, func() bool { return strings.Count(s.log.String(), "msg=rpc") == 2 }, time.Minute, time.Millisecond)
	first, second, _ := strings.Cut(s.log.String(), "UpdateMe")
	require.Contains(t, first, "method=/coffer.auth.v1.AuthService/GetMe")
	require.Contains(t, first, "reason=OK")
	require.Contains(t, second, "reason=EMPTY_UPDATE")
	require.NotContains(t, s.log.String(), s.token)
}

func TestMaxMessageFitsReceipt(t *testing.T) {
	t.Parallel()
	s := start(t)
	_, err := s.auth.Login(t.Context(), &authv1.LoginRequest{Email: strings.Repeat("x", 10<<20)})
	require.NoError(t, err)
	_, err = s.auth.Login(t.Context(), &authv1.LoginRequest{Email: strings.Repeat("x", MaxMessage)})
	require.Equal(t, codes.ResourceExhausted, status.Code(err))
}

func TestServeDrainsCallsAndEndsStreams(t *testing.T) {
	t.Parallel()
	s := start(t)
	begun, finish := make(chan struct{}), make(chan struct{})
	var first sync.Once
	s.do = func(ctx context.Context) error {
		first.Do(func() {
			close(begun)
			<-finish
		})
		return ctx.Err()
	}
	done := make(chan error, 1)
	go func() {
		_, err := s.auth.Login(context.WithoutCancel(t.Context()), &authv1.LoginRequest{})
		done <- err
	}()
	<-begun
	stream, err := s.events.StreamEvents(as(t, "authorization", "Bearer "+s.token), &budgetv1.StreamEventsRequest{})
	require.NoError(t, err)
	_, err = stream.Recv()
	require.NoError(t, err)
	s.stop()
	_, err = stream.Recv()
	require.Equal(t, "SERVICE_UNAVAILABLE", reason(err), "its client comes back, to another replica")
	require.Eventually(t, func() bool {
		ctx, cancel := context.WithTimeout(as(t, "authorization", "Bearer "+s.token), 100*time.Millisecond)
		defer cancel()
		_, err := s.auth.GetMe(ctx, &authv1.GetMeRequest{})
		return status.Code(err) == codes.Unavailable
	}, time.Minute, 5*time.Millisecond, "nothing new is begun")
	close(finish)
	require.NoError(t, <-done)
	require.NoError(t, <-s.ended)
}

func TestHealthFollowsReadinessAndLiveOnlyProcess(t *testing.T) {
	t.Parallel()
	authority, err := mtls.NewAuthority(time.Now)
	require.NoError(t, err)
	certificate, err := authority.Issue(t.TempDir(), "auth", time.Hour)
	require.NoError(t, err)
	free, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := free.Addr().String()
	require.NoError(t, free.Close())
	lis, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	s := NewServer(Config{ServiceKey: serviceKey, TLS: certificate, HealthAddr: addr}, nil, slog.New(slog.DiscardHandler))
	authv1.RegisterAuthServiceServer(s, &fake{do: func(context.Context) error { return nil }})
	budgetv1.RegisterNotificationServiceServer(s, &fake{})
	var ready sync.Map
	ended := make(chan error, 1)
	go func() {
		ended <- s.Serve(ctx, lis, func(context.Context) error {
			if _, ok := ready.Load("now"); !ok {
				return errors.New("Postgres is away")
			}
			return nil
		})
	}()
	conn, err := grpc.NewClient("passthrough:///"+addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer conn.Close()
	says := func(service string) string {
		resp, err := healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{Service: service}, grpc.WaitForReady(true))
		require.NoError(t, err)
		return resp.GetStatus().String()
	}
	names := []string{"", "coffer.auth.v1.AuthService", "coffer.budget.v1.NotificationService"}
	for _, name := range names {
		require.Equal(t, "NOT_SERVING", says(name), name)
	}
	require.Equal(t, "SERVING", says(live))
	_, err = healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{Service: "coffer.ledger.v1.LedgerService"})
	require.Equal(t, codes.NotFound, status.Code(err), "a service that is served elsewhere")
	ready.Store("now", true)
	for _, name := range names {
		require.Eventually(t, func() bool { return says(name) == "SERVING" }, time.Minute, 10*time.Millisecond, name)
	}
	_, err = authv1.NewAuthServiceClient(conn).Login(t.Context(), &authv1.LoginRequest{})
	require.Equal(t, codes.Unimplemented, status.Code(err), "without a certificate there is health and nothing else")
	stop()
	require.NoError(t, <-ended)
}

func TestServeRequiresItsCertificate(t *testing.T) {
	t.Parallel()
	lis, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer lis.Close()
	s := NewServer(Config{TLS: mtls.Config{Cert: "none.pem"}}, nil, slog.New(slog.DiscardHandler))
	require.ErrorContains(t, s.Serve(t.Context(), lis, nil), "must be set together")
}
