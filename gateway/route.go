package gateway

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/coffer-budget/coffer/gateway/internal/decode"
	"github.com/coffer-budget/coffer/internal/rpc"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// Deadlines of requests, which include reading the body and the call.
const (
	usualDeadline = 10 * time.Second
	// Recognition takes seconds, and the upload may use a slow mobile connection.
	multipartDeadline = time.Minute
)

// route is the REST operation of an RPC, as described by the method's options in the proto.
type route struct {
	verb string
	// template is the path, with the names of fields in braces.
	template string
	method   protoreflect.MethodDescriptor
	// success are the possible outcomes. The first one applies if the service does not choose another.
	success []*restv1.Success
	// access is unspecified if the RPC requires a user.
	access restv1.Access
	// weight is the number of requests that the rate limiter counts for one.
	weight int
	// multipart is set if the body is a form that is decoded as a whole. It has a longer deadline.
	multipart bool
	// conditional is set if responses have an ETag of their body, and requests may have If-None-Match.
	conditional bool
	// fullMethod is the name of the RPC in gRPC, such as "/coffer.auth.v1.AuthService/Login".
	fullMethod string
	// request decodes the HTTP request to the RPC's request message.
	request *decode.Plan
	// file is the field of the reply, or of each piece of a download, that is sent as the body. If
	// nil, the body is JSON.
	file protoreflect.FieldDescriptor
	// cookie is the field of the reply that changes the session cookie, or nil.
	cookie protoreflect.FieldDescriptor
	// upload and download are set if the RPC streams a file. The messages of a download have the
	// fields fileHeader and file.
	upload, download bool
	fileHeader       protoreflect.FieldDescriptor
	// location is the path of the resource that the RPC creates, or nil.
	location *location
}

// isEvents reports whether the RPC streams events.
func (r *route) isEvents() bool { return r.method.IsStreamingServer() && !r.download }

// isTransfer reports whether the RPC streams a file.
func (r *route) isTransfer() bool { return r.upload || r.download }

// withDeadline returns ctx with the deadline of the route. A stream of events has none; it ends
// when its token expires.
func (r *route) withDeadline(ctx context.Context, limits transferLimits) (context.Context, context.CancelFunc) {
	switch {
	case r.isEvents():
		return context.WithCancel(ctx)
	case r.upload:
		return context.WithTimeout(ctx, limits.upload)
	case r.download:
		return context.WithTimeout(ctx, limits.download)
	case r.multipart:
		return context.WithTimeout(ctx, multipartDeadline)
	}
	return context.WithTimeout(ctx, usualDeadline)
}

// rpcRoutes returns the routes of all services, read from their descriptors, in the order of the
// packages and of the names of the proto files. RPCs without a path are for services only.
func rpcRoutes() ([]*route, error) {
	var routes []*route
	for _, service := range []protoreflect.FileDescriptor{
		authv1.File_coffer_auth_v1_auth_proto, ledgerv1.File_coffer_ledger_v1_ledger_proto, budgetv1.File_coffer_budget_v1_budget_proto,
	} {
		var files []protoreflect.FileDescriptor
		protoregistry.GlobalFiles.RangeFilesByPackage(service.Package(), func(file protoreflect.FileDescriptor) bool {
			files = append(files, file)
			return true
		})
		slices.SortFunc(files, func(a, b protoreflect.FileDescriptor) int { return strings.Compare(a.Path(), b.Path()) })
		for _, file := range files {
			more, err := routesOf(file)
			if err != nil {
				return nil, err
			}
			routes = append(routes, more...)
		}
	}
	locate(routes)
	return routes, nil
}

// routesOf returns the routes of the services in a proto file.
func routesOf(file protoreflect.FileDescriptor) ([]*route, error) {
	var routes []*route
	for i := range file.Services().Len() {
		methods := file.Services().Get(i).Methods()
		for j := range methods.Len() {
			if !proto.HasExtension(methods.Get(j).Options(), annotations.E_Http) {
				continue
			}
			r, err := newRoute(methods.Get(j))
			if err != nil {
				return nil, err
			}
			routes = append(routes, r)
		}
	}
	return routes, nil
}

// newRoute reads the options of a method. It returns an error if they do not describe a complete
// REST operation. Run fails then, so a proto with incomplete options never serves requests.
func newRoute(method protoreflect.MethodDescriptor) (*route, error) {
	options := method.Options()
	rule := proto.GetExtension(options, annotations.E_Http).(*annotations.HttpRule)
	r := &route{
		method:      method,
		success:     proto.GetExtension(options, restv1.E_Success).([]*restv1.Success),
		access:      proto.GetExtension(options, restv1.E_Access).(restv1.Access),
		weight:      max(1, int(proto.GetExtension(options, restv1.E_Weight).(int32))),
		multipart:   proto.GetExtension(options, restv1.E_Multipart).(bool),
		conditional: proto.GetExtension(options, restv1.E_Conditional).(bool),
	}
	switch p := rule.GetPattern().(type) {
	case *annotations.HttpRule_Get:
		r.verb, r.template = http.MethodGet, p.Get
	case *annotations.HttpRule_Post:
		r.verb, r.template = http.MethodPost, p.Post
	case *annotations.HttpRule_Patch:
		r.verb, r.template = http.MethodPatch, p.Patch
	case *annotations.HttpRule_Delete:
		r.verb, r.template = http.MethodDelete, p.Delete
	default:
		return nil, fmt.Errorf("%s has a kind of route that the gateway does not know", method.FullName())
	}
	if len(r.success) == 0 {
		return nil, fmt.Errorf("%s has a route and no success option", method.FullName())
	}
	r.fullMethod = fmt.Sprintf("/%s/%s", method.Parent().FullName(), method.Name())
	r.file = findField(method.Output(), func(o proto.Message) bool { return proto.GetExtension(o, restv1.E_File).(string) != "" })
	r.cookie = findField(method.Output(), func(o proto.Message) bool { return proto.GetExtension(o, restv1.E_Cookie).(bool) })
	if err := r.setTransfer(); err != nil {
		return nil, err
	}
	var err error
	r.request, err = decode.NewPlan(method, r.template)
	return r, err
}

// setTransfer reads the options upload and download, and the fields of a download.
func (r *route) setTransfer() error {
	r.upload, r.download = rpc.IsUpload(r.method), rpc.IsDownload(r.method)
	if r.upload != r.method.IsStreamingClient() || r.download && !r.method.IsStreamingServer() || r.upload && r.method.IsStreamingServer() {
		return fmt.Errorf("%s has a stream that does not fit its options upload and download", r.method.FullName())
	}
	if !r.download {
		return nil
	}
	for i := range r.method.Output().Fields().Len() {
		switch field := r.method.Output().Fields().Get(i); {
		case field.Kind() == protoreflect.BytesKind:
			r.file = field
		case field.Message() != nil && field.Message().FullName() == (&restv1.FileHeader{}).ProtoReflect().Descriptor().FullName():
			r.fileHeader = field
		}
	}
	if r.file == nil || r.fileHeader == nil {
		return fmt.Errorf("%s is a download without FileHeader or bytes", r.method.FullName())
	}
	return nil
}

// findField returns the first field whose options match, or nil.
func findField(d protoreflect.MessageDescriptor, match func(options proto.Message) bool) protoreflect.FieldDescriptor {
	for i := range d.Fields().Len() {
		if field := d.Fields().Get(i); match(field.Options()) {
			return field
		}
	}
	return nil
}

// pathTable lists the methods and templates of all paths. The header Allow is made from it, because
// the mux does not report which methods a path has. It is searched only for requests that no
// handler matches.
type pathTable []pathEntry

// pathEntry is a method and the segments of a template. A segment in braces matches any text, and
// ** the rest of the path.
type pathEntry struct {
	verb     string
	segments []string
}

// newPathTable returns the table for the paths of the RPCs and the endpoints.
func newPathTable(routes []*route, own []endpoint) pathTable {
	var t pathTable
	for _, r := range routes {
		t = append(t, pathEntry{r.verb, strings.Split(r.template, "/")})
	}
	for _, e := range own {
		t = append(t, pathEntry{http.MethodGet, strings.Split(e.path, "/")})
	}
	return t
}

// allow returns the value of the header Allow: the methods that a path supports. It is empty if the
// path does not exist. HEAD and OPTIONS are possible without a route of their own.
func (t pathTable) allow(path string) string {
	var verbs []string
	segments := strings.Split(path, "/")
	for _, e := range t {
		if e.matches(segments) && !slices.Contains(verbs, e.verb) {
			verbs = append(verbs, e.verb)
		}
	}
	if len(verbs) == 0 {
		return ""
	}
	if slices.Contains(verbs, http.MethodGet) {
		verbs = append(verbs, http.MethodHead)
	}
	verbs = append(verbs, http.MethodOptions)
	slices.Sort(verbs)
	return strings.Join(verbs, ", ")
}

// matches reports whether the segments of a path match the template.
func (e pathEntry) matches(segments []string) bool {
	for i, want := range e.segments {
		if want == "**" {
			return true
		}
		if i >= len(segments) || want != segments[i] && !strings.HasPrefix(want, "{") {
			return false
		}
	}
	return len(segments) == len(e.segments)
}
