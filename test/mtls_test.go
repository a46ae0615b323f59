package test

import (
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/mtls"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// eachRPC visits every RPC with the name of its service.
func eachRPC(visit func(service string, m protoreflect.MethodDescriptor)) {
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		if !strings.HasPrefix(string(file.Package()), "coffer.") {
			return true
		}
		for i := range file.Services().Len() {
			for j := range file.Services().Get(i).Methods().Len() {
				visit(string(file.Package().Parent().Name()),
					file.Services().Get(i).Methods().Get(j))
			}
		}
		return true
	})
}

// invoke calls a unary or streaming RPC with an empty request.
func invoke(t *testing.T, conn *grpc.ClientConn, method protoreflect.MethodDescriptor) error {
	t.Helper()
	name := "/" + string(method.Parent().FullName()) + "/" + string(method.Name())
	stream, err := conn.NewStream(t.Context(),
		&grpc.StreamDesc{ServerStreams: method.IsStreamingServer()}, name)
	if err == nil {
		err = stream.SendMsg(dynamicpb.NewMessage(method.Input()))
	}
	// RecvMsg returns the RPC's error, also if SendMsg failed with EOF.
	if err == nil || err == io.EOF { //nolint:errorlint // SendMsg documents this very value
		err = stream.RecvMsg(dynamicpb.NewMessage(method.Output()))
	}
	return err
}

// TestRPCCallers calls each RPC with the certificate of each service, without a certificate and
// without TLS.
func TestRPCCallers(t *testing.T) {
	t.Parallel()
	own := ownStack(t, os.Getenv("TEST_DATABASE_URL"),
		map[string]string{"RATE_LIMIT": "0", "MTLS": "true"})
	connect := func(
		t *testing.T, service string, creds credentials.TransportCredentials,
	) *grpc.ClientConn {
		t.Helper()
		conn, err := grpc.NewClient("passthrough:///"+own.GRPC[service],
			grpc.WithTransportCredentials(creds))
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	t.Run("requests through all services succeed", func(t *testing.T) {
		me, friend := newUserAt(t, own.URL, "Ada"), newUserAt(t, own.URL, "Grace")
		wallet, category := me.wallet("EUR", "100"), me.category("Food")
		me.upload("", []byte("CORNER BAKERY\n21/11/2026\nBread  5.60\nTotal EUR  5.60\n"),
			"walletId", wallet, "categoryId", category).created("RECEIPT_TRANSACTIONS_CREATED")
		budget := me.budget(wallet, category)
		require.NotNil(t, me.get("/api/v1/budgets/"+budget).ok("BUDGET_FETCHED").
			at("budget.progress"))
		me.post("/api/v1/budgets/"+budget+"/share", object{"email": friend.email}).
			created("BUDGET_SHARED")
		require.Equal(t, "Grace", me.get("/api/v1/budgets/" + budget + "/members").
			ok("BUDGET_MEMBERS_FETCHED").list("members")[0].(object)["name"])
	})
	tried := 0
	for _, caller := range []string{"gateway", "auth", "ledger", "budget", "ocr"} {
		conns := map[string]*grpc.ClientConn{}
		for service := range own.GRPC {
			conns[service] = connect(t, service, mtls.Client(own.Certificates[caller], service))
		}
		eachRPC(func(service string, m protoreflect.MethodDescriptor) {
			tried++
			listed := proto.GetExtension(m.Options(), restv1.E_Callers).([]string)
			may := slices.Contains(listed, caller) || len(listed) == 0 && caller == "gateway"
			err := invoke(t, conns[service], m)
			rejected := apierr.From(err) != nil && apierr.From(err).Is(apierr.ServiceOnly)
			require.Equal(t, may, !rejected, "%s calls %s: %v", caller, m.FullName(), err)
		})
	}
	trusting, err := credentials.NewClientTLSFromFile(own.Certificates["gateway"].CA, "")
	require.NoError(t, err)
	for service := range own.GRPC {
		bare := trusting.Clone()
		//nolint:staticcheck // No other way checks the service's name at a local address.
		require.NoError(t, bare.OverrideServerName(service))
		for _, creds := range []credentials.TransportCredentials{bare, insecure.NewCredentials()} {
			conn := connect(t, service, creds)
			eachRPC(func(of string, m protoreflect.MethodDescriptor) {
				if of == service {
					tried++
					require.Equal(t, codes.Unavailable, status.Code(invoke(t, conn, m)),
						"%s", m.FullName())
				}
			})
		}
	}
	t.Logf("%d calls tried", tried)
}
