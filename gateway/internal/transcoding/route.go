package transcoding

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/coffer-budget/coffer/gateway/internal/admission"
	"github.com/coffer-budget/coffer/gateway/internal/cookie"
	"github.com/coffer-budget/coffer/gateway/internal/decode"
	"github.com/coffer-budget/coffer/internal/rpc"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// Deadlines of requests, which include reading the body and the call.
const (
	usualDeadline = 10 * time.Second
	// Recognition takes seconds, and the upload may use a slow mobile connection.
	multipartDeadline = time.Minute
	// readReserve is added to the deadline of a request for the time to read it.
	readReserve = 5 * time.Second

	// ReadTimeout and WriteTimeout are those of the server. ReadTimeout is longer than the
	// deadline, because net/http cancels a request after it even if all of it has been read. Forms
	// and uploads extend it.
	ReadTimeout  = usualDeadline + readReserve
	WriteTimeout = multipartDeadline + 30*time.Second
)

// Route is the REST operation of an RPC, as described by the method's options in the proto.
type Route struct {
	Verb string
	// Template is the path, with the names of fields in braces.
	Template string
	Method   protoreflect.MethodDescriptor
	// success are the possible outcomes. The first one applies if the service does not choose
	// another.
	success []*restv1.Success
	// access is unspecified if the RPC requires a user.
	access restv1.Access
	// weight is the number of requests that the rate limiter counts for one.
	weight int
	// Multipart is set if the body is a form that is decoded as a whole. It has a longer deadline.
	Multipart bool
	// conditional is set if responses have an ETag of their body, and requests may have
	// If-None-Match.
	conditional bool
	// fullMethod is the name of the RPC in gRPC, such as "/coffer.auth.v1.AuthService/Login".
	fullMethod string
	request    *decode.Plan
	// file is the field of the reply, or of each piece of a download, that is sent as the body. If
	// nil, the body is JSON.
	file protoreflect.FieldDescriptor
	// cookies are the fields of the reply that change cookies.
	cookies []protoreflect.FieldDescriptor
	// Upload and Download are set if the RPC streams a file. The messages of a download have the
	// fields fileHeader and file.
	Upload, Download bool
	fileHeader       protoreflect.FieldDescriptor
	// location is the path of the resource that the RPC creates, or nil.
	location *location
}

// Service returns the proto package of the RPC's service.
func (r *Route) Service() protoreflect.FullName { return r.Method.ParentFile().Package() }

// IsEvents reports whether the RPC streams events.
func (r *Route) IsEvents() bool { return r.Method.IsStreamingServer() && !r.Download }

func (r *Route) isTransfer() bool { return r.Upload || r.Download }

// withDeadline returns ctx with the deadline of the route. A stream of events has none; it ends
// when its token expires.
func (r *Route) withDeadline(
	ctx context.Context, limits *admission.TransferLimits,
) (context.Context, context.CancelFunc) {
	switch {
	case r.IsEvents():
		return context.WithCancel(ctx)
	case r.Upload:
		return context.WithTimeout(ctx, limits.Upload)
	case r.Download:
		return context.WithTimeout(ctx, limits.Download)
	case r.Multipart:
		return context.WithTimeout(ctx, multipartDeadline)
	}
	return context.WithTimeout(ctx, usualDeadline)
}

// newRoute reads the options of a method. It returns an error if they do not describe a complete
// REST operation, so a gateway with such a proto does not start.
func newRoute(method protoreflect.MethodDescriptor) (*Route, error) {
	options := method.Options()
	rule := proto.GetExtension(options, annotations.E_Http).(*annotations.HttpRule)
	served := &Route{
		Method:      method,
		success:     proto.GetExtension(options, restv1.E_Success).([]*restv1.Success),
		access:      proto.GetExtension(options, restv1.E_Access).(restv1.Access),
		weight:      max(1, int(proto.GetExtension(options, restv1.E_Weight).(int32))),
		Multipart:   proto.GetExtension(options, restv1.E_Multipart).(bool),
		conditional: proto.GetExtension(options, restv1.E_Conditional).(bool),
	}
	switch p := rule.GetPattern().(type) {
	case *annotations.HttpRule_Get:
		served.Verb, served.Template = http.MethodGet, p.Get
	case *annotations.HttpRule_Post:
		served.Verb, served.Template = http.MethodPost, p.Post
	case *annotations.HttpRule_Patch:
		served.Verb, served.Template = http.MethodPatch, p.Patch
	case *annotations.HttpRule_Delete:
		served.Verb, served.Template = http.MethodDelete, p.Delete
	default:
		return nil, fmt.Errorf("%s has a route of an unknown kind", method.FullName())
	}
	if len(served.success) == 0 {
		return nil, fmt.Errorf("%s has a route and no success option", method.FullName())
	}
	served.fullMethod = fmt.Sprintf("/%s/%s", method.Parent().FullName(), method.Name())
	served.file = findField(method.Output(), restv1.E_File)
	for i := range method.Output().Fields().Len() {
		if f := method.Output().Fields().Get(i); cookie.KindOf(f) != cookie.None {
			served.cookies = append(served.cookies, f)
		}
	}
	if err := served.setTransfer(); err != nil {
		return nil, err
	}
	var err error
	served.request, err = decode.NewPlan(method, served.Template)
	return served, err
}

func (r *Route) setTransfer() error {
	r.Upload, r.Download = rpc.IsUpload(r.Method), rpc.IsDownload(r.Method)
	receives, sends := r.Method.IsStreamingClient(), r.Method.IsStreamingServer()
	if r.Upload != receives || r.Download && !sends || r.Upload && sends {
		return fmt.Errorf("%s has a stream that does not fit its options upload and download",
			r.Method.FullName())
	}
	if !r.Download {
		return nil
	}
	header := (&restv1.FileHeader{}).ProtoReflect().Descriptor().FullName()
	for i := range r.Method.Output().Fields().Len() {
		switch field := r.Method.Output().Fields().Get(i); {
		case field.Kind() == protoreflect.BytesKind:
			r.file = field
		case field.Message() != nil && field.Message().FullName() == header:
			r.fileHeader = field
		}
	}
	if r.file == nil || r.fileHeader == nil {
		return fmt.Errorf("%s is a download without FileHeader or bytes", r.Method.FullName())
	}
	return nil
}

func findField(
	d protoreflect.MessageDescriptor, option protoreflect.ExtensionType,
) protoreflect.FieldDescriptor {
	for i := range d.Fields().Len() {
		if field := d.Fields().Get(i); proto.HasExtension(field.Options(), option) {
			return field
		}
	}
	return nil
}
