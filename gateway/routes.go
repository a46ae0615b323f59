package gateway

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

const (
	usualDeadline = 10 * time.Second
	// Recognition takes seconds, and the upload may use a slow mobile connection.
	multipartDeadline = time.Minute

	jsonLimit = 1 << 20
	fileLimit = 10 << 20
	// multipartSlack is the size of boundaries, part headers and text fields around the file, in bytes.
	multipartSlack = 64 << 10
)

// route is the REST operation of an RPC, as described by the method's options in the proto.
type route struct {
	verb     string
	template string
	method   protoreflect.MethodDescriptor
	success  []*restv1.Success
	access   restv1.Access
	// weight is the number of requests that the rate limiter counts for one.
	weight int
	// body is set if requests have a body. Otherwise all fields except those in the path and headers are in the query.
	body      bool
	multipart bool
	request   *requestPlan
	// file is the field of the reply that is sent as the body. If nil, the body is JSON.
	file protoreflect.FieldDescriptor
}

// within returns ctx with the deadline of the route. A stream has none; it ends when its token expires.
func (r *route) within(ctx context.Context) (context.Context, context.CancelFunc) {
	switch {
	case r.method.IsStreamingServer():
		return context.WithCancel(ctx)
	case r.multipart:
		return context.WithTimeout(ctx, multipartDeadline)
	}
	return context.WithTimeout(ctx, usualDeadline)
}

func (r *route) bodyLimit() int64 {
	if r.multipart {
		return fileLimit + multipartSlack
	}
	return jsonLimit
}

// rpcRoutes returns the routes of all services, read from their descriptors.
func rpcRoutes() ([]*route, error) {
	var routes []*route
	for _, file := range []protoreflect.FileDescriptor{
		authv1.File_coffer_auth_v1_auth_proto, ledgerv1.File_coffer_ledger_v1_ledger_proto, budgetv1.File_coffer_budget_v1_budget_proto,
		budgetv1.File_coffer_budget_v1_notifications_proto, budgetv1.File_coffer_budget_v1_webhooks_proto,
	} {
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
	}
	return routes, nil
}

func newRoute(method protoreflect.MethodDescriptor) (*route, error) {
	options := method.Options()
	rule := proto.GetExtension(options, annotations.E_Http).(*annotations.HttpRule)
	r := &route{
		method:    method,
		success:   proto.GetExtension(options, restv1.E_Success).([]*restv1.Success),
		access:    proto.GetExtension(options, restv1.E_Access).(restv1.Access),
		weight:    max(1, int(proto.GetExtension(options, restv1.E_Weight).(int32))),
		multipart: proto.GetExtension(options, restv1.E_Multipart).(bool),
		body:      rule.GetBody() == "*",
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
	r.request = newRequestPlan(method.Input(), r)
	r.file = fileField(method.Output())
	return r, nil
}

func fileField(d protoreflect.MessageDescriptor) protoreflect.FieldDescriptor {
	for i := range d.Fields().Len() {
		if field := d.Fields().Get(i); proto.GetExtension(field.Options(), restv1.E_File).(string) != "" {
			return field
		}
	}
	return nil
}

// table finds routes by the pattern that the mux matched, and methods by path.
type table struct {
	byPattern map[string]*route
	entries   []entry
}

type entry struct {
	verb     string
	segments []string
}

func newTable(routes []*route, own []string) *table {
	t := &table{byPattern: map[string]*route{}}
	for _, r := range routes {
		t.byPattern[r.verb+" "+muxPattern(r.template)] = r
		t.entries = append(t.entries, entry{r.verb, strings.Split(r.template, "/")})
	}
	for _, path := range own {
		t.entries = append(t.entries, entry{http.MethodGet, strings.Split(path, "/")})
	}
	return t
}

// muxPattern formats a template like runtime.Pattern.String: {id} becomes {id=*}.
func muxPattern(template string) string { return strings.ReplaceAll(template, "}", "=*}") }

func (t *table) find(r *http.Request) *route {
	pattern, ok := runtime.HTTPPattern(r.Context())
	if !ok {
		return nil
	}
	return t.byPattern[r.Method+" "+pattern.String()]
}

// allow returns the methods that a path supports, for the Allow header. It is empty if the path does not exist.
func (t *table) allow(path string) string {
	var verbs []string
	segments := strings.Split(path, "/")
	for _, e := range t.entries {
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

func (e entry) matches(segments []string) bool {
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
