package rpc

import (
	"context"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/tap"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// InProcess in front of an address has calls handed over without gRPC while the server there is one of this process.
const InProcess = "inprocess:"

// here has the servers of this process by their addresses.
var here sync.Map

// Conn is a connection to a service.
type Conn struct {
	*grpc.ClientConn
	// direct is the address to look for in this process; empty: nowhere.
	direct, serviceKey string
}

// Invoke implements grpc.ClientConnInterface.
func (c *Conn) Invoke(ctx context.Context, method string, req, reply any, opts ...grpc.CallOption) error {
	if found, ok := here.Load(c.direct); ok {
		s := found.(*Server)
		// Who stops holds the lock for good.
		if m, ok := s.methods[method]; ok && s.direct.TryRLock() {
			defer s.direct.RUnlock()
			return s.call(identify(ctx, c.serviceKey), m, req.(proto.Message), reply)
		}
	}
	return c.ClientConn.Invoke(ctx, method, req, reply, opts...)
}

// registered is a method as its service has registered it.
type registered struct {
	name    string
	service any
	handler grpc.MethodHandler
}

// RegisterService implements grpc.ServiceRegistrar.
func (s *Server) RegisterService(desc *grpc.ServiceDesc, service any) {
	s.Server.RegisterService(desc, service)
	s.services = append(s.services, desc.ServiceName)
	s.health.SetServingStatus(desc.ServiceName, healthpb.HealthCheckResponse_NOT_SERVING)
	for _, m := range desc.Methods {
		name := "/" + desc.ServiceName + "/" + m.MethodName
		s.methods[name] = registered{name, service, m.Handler}
	}
}

// call is one from this process. It passes what one over gRPC passes: limit, log, recovery, deadline, who may call, spans
// and metrics. What the messages hold is shared, so neither side may change it afterwards.
func (s *Server) call(ctx context.Context, m registered, req proto.Message, reply any) error {
	ctx, cancel := received(ctx)
	defer cancel()
	ctx, err := s.patient(ctx, &tap.Info{FullMethodName: m.name})
	if err != nil {
		return err
	}
	begin := &stats.Begin{BeginTime: time.Now()}
	ctx = s.stats.TagRPC(ctx, &stats.RPCTagInfo{FullMethodName: m.name})
	s.stats.HandleRPC(ctx, begin)
	answer, err := m.handler(m.service, ctx, func(into any) error { return hand(req, into) }, s.intercept)
	s.stats.HandleRPC(ctx, &stats.End{BeginTime: begin.BeginTime, EndTime: time.Now(), Error: err})
	if err != nil {
		return err
	}
	return hand(answer, reply)
}

// received is what the service sees of its caller's context.
func received(ctx context.Context) (context.Context, context.CancelFunc) {
	sent, _ := metadata.FromOutgoingContext(ctx)
	inner, cancel := context.WithCancel(apart{ctx})
	return metadata.NewIncomingContext(trace.ContextWithSpan(inner, trace.SpanFromContext(ctx)), sent), cancel
}

// hand gives the fields of one message to another of its type, or encodes it for a caller who wants that.
func hand(from, to any) error {
	if encoded, ok := to.(*Encoded); ok {
		var err error
		*encoded, err = proto.MarshalOptions{}.MarshalAppend((*encoded)[:0], from.(proto.Message))
		return err
	}
	into := to.(proto.Message).ProtoReflect()
	from.(proto.Message).ProtoReflect().Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		into.Set(field, v)
		return true
	})
	return nil
}

// intercept is what every call goes through on its way to next.
func (s *Server) intercept(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	for _, step := range slices.Backward([]grpc.UnaryServerInterceptor{s.limited, s.finish, s.recover, s.deadline, s.authorize}) {
		after := next
		next = func(ctx context.Context, req any) (any, error) { return step(ctx, req, info, after) }
	}
	return next(ctx, req)
}

// apart is a context's end without its values, which stay with the caller as they would over gRPC: above all for whom it acts.
type apart struct{ context.Context } //nolint:containedctx // It is one.

// Value implements context.Context.
func (apart) Value(any) any { return nil }

// AfterFunc spares the contexts below a goroutine each.
func (a apart) AfterFunc(f func()) (stop func() bool) { return context.AfterFunc(a.Context, f) }
