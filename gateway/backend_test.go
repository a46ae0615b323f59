package gateway

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/rpc"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// backend fakes the three services. It records requests and returns the answers that the test
// declares.
type backend struct {
	authv1.UnimplementedAuthServiceServer
	authv1.UnimplementedTokenServiceServer
	authv1.UnimplementedOidcServiceServer
	ledgerv1.UnimplementedLedgerServiceServer
	ledgerv1.UnimplementedAttachmentServiceServer
	ledgerv1.UnimplementedSettingsServiceServer
	ledgerv1.UnimplementedTransferServiceServer
	ledgerv1.UnimplementedImportServiceServer
	ledgerv1.UnimplementedRuleServiceServer
	budgetv1.UnimplementedBudgetServiceServer
	budgetv1.UnimplementedNotificationServiceServer
	budgetv1.UnimplementedWebhookServiceServer

	health *health.Server
	key    ed25519.PrivateKey
	conn   *grpc.ClientConn

	mu       sync.Mutex
	requests []proto.Message
	metadata metadata.MD
	// answers holds a message or an error by the name of the method.
	answers map[string]any
}

func newBackend(t *testing.T, answers map[string]any) *backend {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	backend := &backend{health: health.NewServer(), key: key, answers: answers}
	lis := bufconn.Listen(1 << 20)
	server := grpc.NewServer(grpc.MaxRecvMsgSize(12<<20), grpc.UnaryInterceptor(backend.answer),
		grpc.StreamInterceptor(backend.answerStream),
		grpc.UnknownServiceHandler(backend.answerOther))
	authv1.RegisterAuthServiceServer(server, backend)
	authv1.RegisterTokenServiceServer(server, backend)
	authv1.RegisterOidcServiceServer(server, backend)
	ledgerv1.RegisterLedgerServiceServer(server, backend)
	ledgerv1.RegisterAttachmentServiceServer(server, backend)
	ledgerv1.RegisterSettingsServiceServer(server, backend)
	ledgerv1.RegisterTransferServiceServer(server, backend)
	ledgerv1.RegisterImportServiceServer(server, backend)
	ledgerv1.RegisterRuleServiceServer(server, backend)
	budgetv1.RegisterBudgetServiceServer(server, backend)
	budgetv1.RegisterNotificationServiceServer(server, backend)
	budgetv1.RegisterWebhookServiceServer(server, backend)
	healthpb.RegisterHealthServer(server, backend.health)
	go func() { _ = server.Serve(lis) }()
	t.Cleanup(server.Stop)
	backend.conn, err = grpc.NewClient("passthrough:///backend",
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallSendMsgSize(12<<20)),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return lis.DialContext(ctx)
		}))
	require.NoError(t, err)
	t.Cleanup(func() { _ = backend.conn.Close() })
	return backend
}

func (b *backend) answer(
	ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler,
) (any, error) {
	if strings.HasPrefix(info.FullMethod, "/grpc.health.") {
		return next(ctx, req)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.requests = append(b.requests, req.(proto.Message))
	b.metadata, _ = metadata.FromIncomingContext(ctx)
	switch a := b.answers[info.FullMethod[strings.LastIndexByte(info.FullMethod, '/')+1:]].(type) {
	case chan struct{}: // it hangs until this is closed
		b.mu.Unlock()
		<-a
		b.mu.Lock()
	case *apierr.Error:
		return nil, a.GRPCStatus().Err()
	case error:
		return nil, a
	case proto.Message:
		return proto.Clone(a), nil
	}
	return next(ctx, req)
}

// answerOther answers the calls of services that are not registered.
func (b *backend) answerOther(srv any, ss grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(ss)
	return b.answerStream(srv, ss, &grpc.StreamServerInfo{FullMethod: method}, nil)
}

// answerStream answers uploads and downloads. Events have functions as answers.
func (b *backend) answerStream(
	srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler,
) error {
	method := rpc.Method(info.FullMethod)
	if next != nil && !rpc.IsUpload(method) && !rpc.IsDownload(method) {
		return next(srv, ss)
	}
	for {
		req := dynamicpb.NewMessage(method.Input())
		if err := ss.RecvMsg(req); err != nil {
			break
		}
		b.mu.Lock()
		b.requests = append(b.requests, req)
		b.mu.Unlock()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch a := b.answers[string(method.Name())].(type) {
	case *apierr.Error:
		return a.GRPCStatus().Err()
	case proto.Message:
		if rpc.IsDownload(method) {
			return sendShortFile(ss, method.Output())
		}
		return ss.SendMsg(a)
	}
	return ss.SendMsg(dynamicpb.NewMessage(method.Output()))
}

// sendShortFile sends a file in the messages of a download.
func sendShortFile(ss grpc.ServerStream, d protoreflect.MessageDescriptor) error {
	header, content := dynamicpb.NewMessage(d), dynamicpb.NewMessage(d)
	for i := range d.Fields().Len() {
		if field := d.Fields().Get(i); field.Kind() == protoreflect.BytesKind {
			content.Set(field, protoreflect.ValueOfBytes([]byte("text")))
		} else {
			header.Set(field, protoreflect.ValueOfMessage(
				(&restv1.FileHeader{MediaType: "text/plain", FileName: "a.txt"}).ProtoReflect(),
			))
		}
	}
	return errors.Join(ss.SendMsg(header), ss.SendMsg(content))
}

// received returns the only request that reached the backend.
func received[M proto.Message](a *api) M {
	a.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	require.Len(a, a.requests, 1)
	return a.requests[0].(M)
}

func (b *backend) calls() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.requests)
}

func (b *backend) newToken(t *testing.T, life time.Duration) string {
	t.Helper()
	return newToken(t, b.key, life)
}

// newToken returns a token of a new user that key signs.
func newToken(t testing.TB, key ed25519.PrivateKey, life time.Duration) string {
	t.Helper()
	token := jwt.NewWithClaims(jwt.SigningMethodEdDSA, caller.Claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: caller.Issuer, Audience: jwt.ClaimStrings{caller.Audience},
			Subject:   uuid.NewString(),
			ExpiresAt: jwt.NewNumericDate(time.Now().Add(life)),
		},
		SessionID: uuid.New(),
	})
	token.Header["kid"] = "k1"
	signed, err := token.SignedString(key)
	require.NoError(t, err)
	return signed
}
