package test

import (
	"io"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/coffer-budget/coffer/internal/rpc"
)

// TestRPCMessageLimit sends each RPC a message above the limit, and one RPC a frame that only
// announces such a message.
func TestRPCMessageLimit(t *testing.T) {
	t.Parallel()
	own := ownStack(t, os.Getenv("TEST_DATABASE_URL"), map[string]string{"RATE_LIMIT": "0"})
	me := newUserAt(t, own.URL, "Ada")
	conns := map[string]*grpc.ClientConn{}
	for service, addr := range own.GRPC {
		conn, err := grpc.NewClient("passthrough:///"+addr,
			grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithDefaultCallOptions(grpc.MaxCallSendMsgSize(2*rpc.MaxMessage)))
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		conns[service] = conn
	}
	large := protowire.AppendBytes(protowire.AppendTag(nil, 1000, protowire.BytesType),
		make([]byte, rpc.MaxMessage+1))
	heap := heapInUse()
	eachRPC(func(service string, method protoreflect.MethodDescriptor) {
		t.Run(string(method.Name()), func(t *testing.T) {
			t.Parallel()
			stream, err := conns[service].NewStream(t.Context(), &grpc.StreamDesc{
				ServerStreams: method.IsStreamingServer(),
			}, "/"+string(method.Parent().FullName())+"/"+string(method.Name()))
			require.NoError(t, err)
			req := dynamicpb.NewMessage(method.Input())
			req.SetUnknown(large)
			//nolint:errorlint // SendMsg documents this very value
			if err := stream.SendMsg(req); err != io.EOF {
				require.NoError(t, err)
			}
			err = stream.RecvMsg(dynamicpb.NewMessage(method.Output()))
			want := []codes.Code{codes.ResourceExhausted}
			if method.IsStreamingServer() || method.IsStreamingClient() {
				// A stream checks the token or the calling service before it reads a message.
				want = []codes.Code{codes.Unauthenticated, codes.PermissionDenied}
			}
			require.Contains(t, want, status.Code(err), "%v", err)
		})
	})
	t.Run("announced message", func(t *testing.T) {
		t.Parallel()
		client := newHTTP2Client(t, own.GRPC["auth"], time.Minute, false)
		require.NoError(t, client.begin())
		require.NoError(t,
			client.framer.WriteData(client.stream, false, []byte{0, 0xff, 0xff, 0xff, 0xff}))
		client.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
		for answered := false; !answered; {
			frame, err := client.framer.ReadFrame()
			require.NoError(t, err)
			if headers, ok := frame.(*http2.MetaHeadersFrame); ok {
				require.Contains(t, headers.Fields,
					hpack.HeaderField{Name: "grpc-status", Value: "8"})
				answered = true
			}
		}
	})
	t.Cleanup(func() {
		me.get("/api/v1/wallet").ok("WALLETS_FETCHED")
		requireHeapBelow(t, heap+maxGrowth)
	})
}
