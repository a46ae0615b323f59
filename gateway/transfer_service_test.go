package gateway

import (
	"net"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/coffer-budget/coffer/gateway/internal/admission"
	"github.com/coffer-budget/coffer/gateway/internal/transcoding"
	"github.com/coffer-budget/coffer/internal/apierr"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// fileService describes a service with an upload and a download, which only these tests have. It
// shows that the options suffice, and that the gateway has no code for a resource.
var fileService = sync.OnceValue(func() protoreflect.ServiceDescriptor {
	const path = "/api/v1/files/{id}"
	post := &annotations.HttpRule{Pattern: &annotations.HttpRule_Post{Post: path}, Body: "*"}
	get := &annotations.HttpRule{Pattern: &annotations.HttpRule_Get{Get: path}}
	upload := &descriptorpb.MethodDescriptorProto{
		Name: new("Upload"), InputType: new(".coffer.transfertest.v1.UploadRequest"),
		OutputType: new(".coffer.transfertest.v1.UploadResponse"), ClientStreaming: new(true),
		Options: methodOptions(restv1.E_Upload, "FILE_CREATED", 201, post),
	}
	download := &descriptorpb.MethodDescriptorProto{
		Name: new("Download"), InputType: new(".coffer.transfertest.v1.DownloadRequest"),
		OutputType: new(".coffer.transfertest.v1.DownloadResponse"), ServerStreaming: new(true),
		Options: methodOptions(restv1.E_Download, "", 200, get),
	}
	file := &descriptorpb.FileDescriptorProto{
		Name: new("coffer/transfertest/v1/files.proto"), Package: new("coffer.transfertest.v1"),
		Syntax:     new("proto3"),
		Dependency: []string{"coffer/rest/v1/rest.proto", "google/api/annotations.proto"},
		MessageType: []*descriptorpb.DescriptorProto{
			message("UploadRequest",
				aField("id", 1, descriptorpb.FieldDescriptorProto_TYPE_STRING, nil),
				aField("idempotency_key", 2, descriptorpb.FieldDescriptorProto_TYPE_STRING,
					func(o *descriptorpb.FieldOptions) {
						proto.SetExtension(o, restv1.E_Header, "Idempotency-Key")
					}),
				aField("format", 3, descriptorpb.FieldDescriptorProto_TYPE_STRING, nil),
				aField("count", 4, descriptorpb.FieldDescriptorProto_TYPE_INT32, nil),
				headerField(5),
				aField("file", 6, descriptorpb.FieldDescriptorProto_TYPE_BYTES, nil)),
			message("UploadResponse",
				aField("code", 1, descriptorpb.FieldDescriptorProto_TYPE_STRING, nil),
				aField("message", 2, descriptorpb.FieldDescriptorProto_TYPE_STRING, nil),
				aField("size", 3, descriptorpb.FieldDescriptorProto_TYPE_INT64, nil)),
			message("DownloadRequest",
				aField("id", 1, descriptorpb.FieldDescriptorProto_TYPE_STRING, nil)),
			message("DownloadResponse", headerField(1),
				aField("content", 2, descriptorpb.FieldDescriptorProto_TYPE_BYTES, nil)),
		},
		Service: []*descriptorpb.ServiceDescriptorProto{{
			Name:   new("FileService"),
			Method: []*descriptorpb.MethodDescriptorProto{upload, download},
		}},
	}
	descriptor, err := protodesc.NewFile(file, protoregistry.GlobalFiles)
	if err != nil {
		panic(err)
	}
	for i := range descriptor.Messages().Len() {
		if err := protoregistry.GlobalTypes.RegisterMessage(
			dynamicpb.NewMessageType(descriptor.Messages().Get(i)),
		); err != nil {
			panic(err)
		}
	}
	return descriptor.Services().Get(0)
})

func message(
	name string, fields ...*descriptorpb.FieldDescriptorProto,
) *descriptorpb.DescriptorProto {
	return &descriptorpb.DescriptorProto{Name: &name, Field: fields}
}

func aField(
	name string, number int32, kind descriptorpb.FieldDescriptorProto_Type,
	configure func(*descriptorpb.FieldOptions),
) *descriptorpb.FieldDescriptorProto {
	options := &descriptorpb.FieldOptions{}
	if configure != nil {
		configure(options)
	}
	return &descriptorpb.FieldDescriptorProto{
		Name: &name, Number: &number, Type: &kind,
		Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(), Options: options,
	}
}

func headerField(number int32) *descriptorpb.FieldDescriptorProto {
	f := aField("header", number, descriptorpb.FieldDescriptorProto_TYPE_MESSAGE, nil)
	f.TypeName = new(".coffer.rest.v1.FileHeader")
	return f
}

func methodOptions(
	option protoreflect.ExtensionType, code string, status int32, rule *annotations.HttpRule,
) *descriptorpb.MethodOptions {
	o := &descriptorpb.MethodOptions{}
	proto.SetExtension(o, option, true)
	proto.SetExtension(o, annotations.E_Http, rule)
	proto.SetExtension(o, restv1.E_Success,
		[]*restv1.Success{{Code: code, Message: "Done", HttpStatus: status}})
	return o
}

// fileBackend is a gateway in front of the file service, whose RPCs are the functions that the test
// declares.
type fileBackend struct {
	*api
	upload   func(stream *fileStream) error
	download func(stream *fileStream) error
	// ended receives the results of the RPCs.
	ended chan error
	// received counts the bytes of files that the service has received, and sent those that it has
	// sent.
	received, sent atomic.Int64
}

// fileStream is a stream of the file service.
type fileStream struct {
	grpc.ServerStream
	b *fileBackend
}

// receive returns the next message of an upload.
func (s *fileStream) receive() (*dynamicpb.Message, error) {
	m := dynamicpb.NewMessage(fileService().Methods().ByName("Upload").Input())
	if err := s.RecvMsg(m); err != nil {
		return nil, err
	}
	s.b.received.Add(int64(len(m.Get(m.Descriptor().Fields().ByName("file")).Bytes())))
	return m, nil
}

// reply answers an upload.
func (s *fileStream) reply(size int64) error {
	m := dynamicpb.NewMessage(fileService().Methods().ByName("Upload").Output())
	m.Set(m.Descriptor().Fields().ByName("size"), protoreflect.ValueOfInt64(size))
	return s.SendMsg(m)
}

// sendHeader sends the first message of a download.
func (s *fileStream) sendHeader(mediaType, name string, size int64) error {
	m := dynamicpb.NewMessage(fileService().Methods().ByName("Download").Output())
	header := &restv1.FileHeader{MediaType: mediaType, FileName: name, Size: size}
	m.Set(m.Descriptor().Fields().ByName("header"),
		protoreflect.ValueOfMessage(header.ProtoReflect()))
	return s.SendMsg(m)
}

// send sends a piece of a download.
func (s *fileStream) send(piece []byte) error {
	m := dynamicpb.NewMessage(fileService().Methods().ByName("Download").Output())
	m.Set(m.Descriptor().Fields().ByName("content"), protoreflect.ValueOfBytes(piece))
	if err := s.SendMsg(m); err != nil {
		return err
	}
	s.b.sent.Add(int64(len(piece)))
	return nil
}

// newFiles starts a gateway with the file service behind it.
func newFiles(t *testing.T, limits admission.TransferLimits) *fileBackend {
	t.Helper()
	files := &fileBackend{
		api:   &api{T: t, backend: newBackend(t, nil), logs: &syncBuffer{}, ahead: &atomic.Int64{}},
		ended: make(chan error, 100),
	}
	files.token = files.newToken(t, time.Hour)
	handle := func(run func() func(*fileStream) error) grpc.StreamHandler {
		return func(_ any, ss grpc.ServerStream) error {
			err := run()(&fileStream{ss, files})
			files.ended <- err
			if e := apierr.From(err); e != nil {
				return e.GRPCStatus().Err()
			}
			return err
		}
	}
	server := grpc.NewServer(grpc.StaticStreamWindowSize(256<<10),
		grpc.StaticConnWindowSize(256<<10))
	streams := []grpc.StreamDesc{
		{
			StreamName: "Upload", ClientStreams: true,
			Handler: handle(func() func(*fileStream) error { return files.upload }),
		},
		{
			StreamName: "Download", ServerStreams: true,
			Handler: handle(func() func(*fileStream) error { return files.download }),
		},
	}
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: string(fileService().FullName()), HandlerType: (*any)(nil), Streams: streams,
	}, files)
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = server.Serve(lis) }()
	t.Cleanup(server.Stop)
	conn, err := grpc.NewClient(lis.Addr().String(),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })

	routes, err := transcoding.RoutesOf(fileService().ParentFile())
	require.NoError(t, err)
	s := files.server(Config{}, connections{auth: files.conn, ledger: files.conn, budget: conn})
	s.transfers = limits
	handler, err := s.handler(t.Context(), routes)
	require.NoError(t, err)
	rest := httptest.NewUnstartedServer(handler)
	// As in Run, but shorter: transfers must not end with the deadlines of other requests.
	rest.Config.ReadTimeout, rest.Config.WriteTimeout = 2*time.Second, 2*time.Second
	rest.Start()
	t.Cleanup(rest.Close)
	files.url = rest.URL
	return files
}
