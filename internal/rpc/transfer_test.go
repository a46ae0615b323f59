package rpc

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/coffer-budget/coffer/internal/apierr"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// transferMethods are an upload and a download that only these tests have. Their messages are those
// of Login.
var transferMethods = sync.OnceValue(func() protoreflect.MethodDescriptors {
	method := func(
		name string, option protoreflect.ExtensionType,
	) *descriptorpb.MethodDescriptorProto {
		options := &descriptorpb.MethodOptions{}
		proto.SetExtension(options, option, true)
		return &descriptorpb.MethodDescriptorProto{
			Name: &name, InputType: new(".coffer.auth.v1.LoginRequest"),
			OutputType: new(".coffer.auth.v1.LoginResponse"), Options: options,
			ClientStreaming: new(option == restv1.E_Upload),
			ServerStreaming: new(option == restv1.E_Download),
		}
	}
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: new("coffer/rpctest/v1/files.proto"), Package: new("coffer.rpctest.v1"),
		Syntax:     new("proto3"),
		Dependency: []string{"coffer/auth/v1/auth.proto", "coffer/rest/v1/rest.proto"},
		Service: []*descriptorpb.ServiceDescriptorProto{{
			Name: new("FileService"), Method: []*descriptorpb.MethodDescriptorProto{
				method("Upload", restv1.E_Upload), method("Download", restv1.E_Download),
			},
		}},
	}, protoregistry.GlobalFiles)
	if err != nil {
		panic(err)
	}
	if err := protoregistry.GlobalFiles.RegisterFile(file); err != nil {
		panic(err)
	}
	return file.Services().Get(0).Methods()
})

// withTransfers registers the file service, whose RPCs are run.
func withTransfers(run func(ss grpc.ServerStream) error) func(*setup) {
	methods := transferMethods()
	return func(s *setup) {
		handler := func(_ any, ss grpc.ServerStream) error { return run(ss) }
		s.server.RegisterService(&grpc.ServiceDesc{
			ServiceName: string(methods.Get(0).Parent().FullName()), HandlerType: (*any)(nil),
			Streams: []grpc.StreamDesc{
				{StreamName: "Upload", ClientStreams: true, Handler: handler},
				{StreamName: "Download", ServerStreams: true, Handler: handler},
			},
		}, s)
	}
}

// transfer opens a stream of the file service with the user's token.
func (s *setup) transfer(
	t *testing.T, ctx context.Context, name protoreflect.Name,
) grpc.ClientStream {
	t.Helper()
	m := transferMethods().ByName(name)
	stream, err := NewEncodedStream(ctx, s.conn, m,
		"/"+string(m.Parent().FullName())+"/"+string(name))
	require.NoError(t, err)
	// A server that has already answered makes SendMsg return io.EOF. RecvMsg returns the answer.
	if err := stream.SendMsg(&authv1.LoginRequest{}); !errors.Is(err, io.EOF) {
		require.NoError(t, err)
	}
	return stream
}

// untilDone is an RPC that lasts until its context ends.
func untilDone(ss grpc.ServerStream) error {
	<-ss.Context().Done()
	return ss.Context().Err()
}

func TestTransferRequiresToken(t *testing.T) {
	t.Parallel()
	s := start(t, withTransfers(func(grpc.ServerStream) error { return errors.New("called") }))
	for _, name := range []protoreflect.Name{"Upload", "Download"} {
		for _, token := range []string{"", "Bearer x", "Basic " + s.token} {
			err := s.transfer(t, as(t, "authorization", token), name).RecvMsg(&Encoded{})
			require.Equal(t, "UNAUTHORIZED", reason(err))
		}
	}
}

func TestTransferRecoversFromPanicsAndLogs(t *testing.T) {
	t.Parallel()
	s := start(t, withTransfers(func(grpc.ServerStream) error { panic("no such row 42") }))
	err := s.transfer(t, as(t, "authorization", "Bearer "+s.token), "Upload").RecvMsg(&Encoded{})
	require.Equal(t, "INTERNAL", reason(err))
	require.NotContains(t, err.Error(), "42")
	require.Eventually(t, func() bool {
		return strings.Contains(s.log.String(), "TestTransferRecovers")
	}, time.Minute, time.Millisecond)
	require.Contains(t, s.log.String(), "method=/coffer.rpctest.v1.FileService/Upload")
}

func TestTransferDeadline(t *testing.T) {
	t.Parallel()
	left := make(chan time.Duration, 1)
	srv := start(t, withTransfers(func(ss grpc.ServerStream) error {
		end, ok := ss.Context().Deadline()
		require.True(t, ok)
		left <- time.Until(end)
		return apierr.EmptyUpdate
	}))
	ctx := as(t, "authorization", "Bearer "+srv.token)
	for name, want := range map[protoreflect.Name]time.Duration{
		"Upload": UploadTimeout, "Download": DownloadTimeout,
	} {
		_ = srv.transfer(t, ctx, name).RecvMsg(&Encoded{})
		require.InDelta(t, want+30*time.Second, <-left, float64(5*time.Second),
			"without a deadline of the caller")
		later, cancel := context.WithTimeout(ctx, time.Hour)
		_ = srv.transfer(t, later, name).RecvMsg(&Encoded{})
		require.InDelta(t, want+30*time.Second, <-left, float64(5*time.Second),
			"with a later deadline of the caller")
		cancel()
		sooner, cancel := context.WithTimeout(ctx, 10*time.Second)
		_ = srv.transfer(t, sooner, name).RecvMsg(&Encoded{})
		require.LessOrEqual(t, <-left, 10*time.Second-hopReserve)
		cancel()
	}
}

// TestTransferDeadlineEndsReceiving has a client that sends nothing: the RPC waits for a message.
func TestTransferDeadlineEndsReceiving(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	srv := start(t, withTransfers(func(ss grpc.ServerStream) error {
		for {
			if err := ss.RecvMsg(&authv1.LoginRequest{}); err != nil {
				ended <- err
				return err
			}
		}
	}), func(s *setup) { s.server.maxTransfer = 100 * time.Millisecond })
	err := srv.transfer(t, as(t, "authorization", "Bearer "+srv.token),
		"Upload").RecvMsg(&Encoded{})
	require.Equal(t, codes.DeadlineExceeded, status.Code(err))
	require.Error(t, <-ended)
	require.Eventually(t, func() bool { return srv.server.streams.transfers.Load() == 0 },
		time.Minute, time.Millisecond)
}

func TestTransferEndsWithItsSession(t *testing.T) {
	t.Parallel()
	s := start(t, withTransfers(untilDone),
		func(s *setup) { s.server.streams.verifyInterval = 10 * time.Millisecond })
	background, stop := context.WithCancel(t.Context())
	defer stop()
	stream := s.transfer(t, as(t, "authorization", "Bearer "+s.token), "Upload")
	s.revoked.Store(s.user.SessionID, true)
	go s.server.verifier.Run(background)
	require.Equal(t, "UNAUTHORIZED", reason(stream.RecvMsg(&Encoded{})))
}

func TestTransferLimit(t *testing.T) {
	t.Parallel()
	s := start(t, withTransfers(untilDone),
		func(s *setup) { s.server.streams.transfers.Store(maxTransfers) })
	ctx := as(t, "authorization", "Bearer "+s.token)
	require.Equal(t, "SERVICE_UNAVAILABLE",
		reason(s.transfer(t, ctx, "Upload").RecvMsg(&Encoded{})))
	require.Equal(t, int64(maxTransfers), s.server.streams.transfers.Load())
	_, err := s.auth.GetMe(ctx, &authv1.GetMeRequest{})
	require.NoError(t, err)
}

// TestServeDrainsTransfers checks that a stopping server completes an upload, unlike a stream of
// events.
func TestServeDrainsTransfers(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{})
	srv := start(t, withTransfers(func(ss grpc.ServerStream) error {
		close(begun)
		for {
			switch err := ss.RecvMsg(&authv1.LoginRequest{}); {
			case errors.Is(err, io.EOF):
				return ss.SendMsg(&authv1.LoginResponse{})
			case err != nil:
				return err
			}
		}
	}))
	stream := srv.transfer(t, as(t, "authorization", "Bearer "+srv.token), "Upload")
	<-begun
	srv.stop()
	require.Eventually(t, func() bool {
		_, err := srv.auth.GetMe(as(t, "authorization", "Bearer "+srv.token),
			&authv1.GetMeRequest{})
		return status.Code(err) == codes.Unavailable
	}, time.Minute, 5*time.Millisecond)
	require.NoError(t, stream.SendMsg(&authv1.LoginRequest{}))
	require.NoError(t, stream.CloseSend())
	require.NoError(t, stream.RecvMsg(&Encoded{}))
	require.NoError(t, <-srv.ended)
}

func TestFileReader(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int64]error{9: apierr.PayloadTooLarge, 10: nil, 11: nil} {
		pieces := [][]byte{[]byte("0123"), {}, []byte("456789")}
		content, err := io.ReadAll(NewFileReader(limit, func() ([]byte, error) {
			if len(pieces) == 0 {
				return nil, io.EOF
			}
			piece := pieces[0]
			pieces = pieces[1:]
			return piece, nil
		}))
		require.ErrorIs(t, err, want)
		if want == nil {
			require.Equal(t, "0123456789", string(content))
		}
	}
}

func TestFileWriter(t *testing.T) {
	t.Parallel()
	var pieces [][]byte
	writer := NewFileWriter(func(piece []byte) error { pieces = append(pieces, piece); return nil })
	content := bytes.Repeat([]byte("0123456789"), 20_000)
	for rest := content; len(rest) > 0; {
		n := min(len(rest), 70_001)
		_, err := writer.Write(rest[:n])
		require.NoError(t, err)
		rest = rest[n:]
	}
	require.NoError(t, writer.Flush())
	require.NoError(t, writer.Flush())
	require.Len(t, pieces, 4)
	require.Len(t, pieces[0], MaxPiece)
	require.Equal(t, content, bytes.Join(pieces, nil))
	failing := NewFileWriter(func([]byte) error { return io.ErrClosedPipe })
	_, err := failing.Write(content)
	require.ErrorIs(t, err, io.ErrClosedPipe)
}
