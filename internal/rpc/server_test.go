package rpc

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"log/slog"
	"math"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/mtls"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
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

func (f *fake) UpdateMe(
	ctx context.Context, _ *authv1.UpdateMeRequest,
) (*authv1.UpdateMeResponse, error) {
	return &authv1.UpdateMeResponse{}, f.do(ctx)
}

func (f *fake) Login(ctx context.Context, _ *authv1.LoginRequest) (*authv1.LoginResponse, error) {
	return &authv1.LoginResponse{}, f.do(ctx)
}

func (f *fake) FindUserByEmail(
	ctx context.Context, _ *authv1.FindUserByEmailRequest,
) (*authv1.FindUserByEmailResponse, error) {
	return &authv1.FindUserByEmailResponse{}, f.do(ctx)
}

func (f *fake) StreamEvents(
	_ *budgetv1.StreamEventsRequest, ss grpc.ServerStreamingServer[budgetv1.StreamEventsResponse],
) error {
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
	private ed25519.PrivateKey
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
	srv := &setup{
		fake: &fake{do: func(context.Context) error { return nil }}, log: &logBook{},
		ended: make(chan error, 1),
	}
	srv.stream = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	public, private, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	srv.user = caller.Identity{
		UserID: uuid.Must(uuid.NewV7()), SessionID: uuid.Must(uuid.NewV7()),
		AuthTime: time.Now().UTC().Truncate(time.Second),
	}
	srv.private = private
	srv.token = srv.newToken(t, caller.Audience, "")
	log := slog.New(slog.NewTextHandler(srv.log, nil))
	verifier, err := caller.NewVerifier(caller.Trust{
		Keys: func(context.Context) (map[string]ed25519.PublicKey, error) {
			return map[string]ed25519.PublicKey{"k": public}, nil
		},
		Revoked: func(context.Context, string) (caller.Revoked, error) {
			ended := caller.Revoked{Sessions: map[uuid.UUID]uint32{}}
			srv.revoked.Range(func(id, _ any) bool {
				ended.Sessions[id.(uuid.UUID)] = math.MaxUint32
				return true
			})
			return ended, nil
		},
	}, time.Now, log)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	srv.stop = stop
	srv.server = NewServer(Config{ServiceKey: serviceKey}, verifier, log)
	authv1.RegisterAuthServiceServer(srv.server, srv)
	budgetv1.RegisterNotificationServiceServer(srv.server, srv)
	for _, c := range change {
		c(srv)
	}
	lis, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	srv.addr = lis.Addr().String()
	go func() {
		srv.ended <- srv.server.Serve(ctx, lis, func(context.Context) error { return nil })
	}()
	t.Cleanup(func() { stop(); srv.server.Stop() })
	// The connection does not use rpc.Dial, because Dial has separate tests.
	conn, err := grpc.NewClient("passthrough:///"+srv.addr,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallSendMsgSize(2*MaxMessage)))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	srv.conn, srv.auth = conn, authv1.NewAuthServiceClient(conn)
	srv.events = budgetv1.NewNotificationServiceClient(conn)
	return srv
}

// newToken returns an access token of the user, who has just signed in.
func (s *setup) newToken(t testing.TB, audience string, scope caller.Scope) string {
	t.Helper()
	return s.newTokenAt(t, audience, scope, s.user.AuthTime)
}

// newTokenAt returns an access token of the user, who signed in at a time.
func (s *setup) newTokenAt(
	t testing.TB, audience string, scope caller.Scope, auth time.Time,
) string {
	t.Helper()
	unsigned := jwt.NewWithClaims(jwt.SigningMethodEdDSA, caller.Claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: caller.Issuer, Audience: jwt.ClaimStrings{audience},
			Subject:   s.user.UserID.String(),
			ExpiresAt: jwt.NewNumericDate(time.Now().Add(time.Hour)),
		},
		SessionID: s.user.SessionID, Scope: scope, AuthTime: jwt.NewNumericDate(auth),
	})
	unsigned.Header["kid"] = "k"
	token, err := unsigned.SignedString(s.private)
	require.NoError(t, err)
	return token
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

func TestFinishLogsEachCallOnce(t *testing.T) {
	t.Parallel()
	srv := start(t)
	ctx := as(t, "authorization", "Bearer "+srv.token)
	_, err := srv.auth.GetMe(ctx, &authv1.GetMeRequest{})
	require.NoError(t, err)
	srv.do = func(context.Context) error { return apierr.EmptyUpdate }
	_, err = srv.auth.UpdateMe(ctx, &authv1.UpdateMeRequest{})
	require.Error(t, err)
	// The server logs after it has answered.
	require.Eventually(t, func() bool { return strings.Count(srv.log.String(), "msg=rpc") == 2 },
		time.Minute, time.Millisecond)
	first, second, _ := strings.Cut(srv.log.String(), "UpdateMe")
	require.Contains(t, first, "method=/coffer.auth.v1.AuthService/GetMe")
	require.Contains(t, first, "reason=OK")
	require.Contains(t, second, "reason=EMPTY_UPDATE")
	require.NotContains(t, srv.log.String(), srv.token)
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
	srv := start(t)
	begun, finish := make(chan struct{}), make(chan struct{})
	var first sync.Once
	srv.do = func(ctx context.Context) error {
		first.Do(func() {
			close(begun)
			<-finish
		})
		return ctx.Err()
	}
	done := make(chan error, 1)
	go func() {
		_, err := srv.auth.Login(context.WithoutCancel(t.Context()), &authv1.LoginRequest{})
		done <- err
	}()
	<-begun
	stream, err := srv.events.StreamEvents(as(t, "authorization", "Bearer "+srv.token),
		&budgetv1.StreamEventsRequest{})
	require.NoError(t, err)
	_, err = stream.Recv()
	require.NoError(t, err)
	srv.stop()
	_, err = stream.Recv()
	require.Equal(t, "SERVICE_UNAVAILABLE", reason(err),
		"its client comes back, to another replica")
	require.Eventually(t, func() bool {
		ctx, cancel := context.WithTimeout(as(t, "authorization", "Bearer "+srv.token),
			100*time.Millisecond)
		defer cancel()
		_, err := srv.auth.GetMe(ctx, &authv1.GetMeRequest{})
		return status.Code(err) == codes.Unavailable
	}, time.Minute, 5*time.Millisecond, "nothing new is begun")
	close(finish)
	require.NoError(t, <-done)
	require.NoError(t, <-srv.ended)
}

func TestServeRequiresItsCertificate(t *testing.T) {
	t.Parallel()
	lis, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer lis.Close()
	s := NewServer(Config{TLS: mtls.Config{Cert: "none.pem"}}, nil, slog.New(slog.DiscardHandler))
	require.ErrorContains(t, s.Serve(t.Context(), lis, nil), "must be set together")
}
