package transcoding

import (
	"net/http"
	"slices"
	"strings"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// Routes returns the routes of all services, read from their descriptors, in the order of the
// packages and of the names of the proto files. RPCs without a path are for services only.
func Routes() ([]*Route, error) {
	var routes []*Route
	for _, service := range []protoreflect.FileDescriptor{
		authv1.File_coffer_auth_v1_auth_proto,
		ledgerv1.File_coffer_ledger_v1_ledger_proto,
		budgetv1.File_coffer_budget_v1_budget_proto,
	} {
		var files []protoreflect.FileDescriptor
		collect := func(file protoreflect.FileDescriptor) bool {
			files = append(files, file)
			return true
		}
		protoregistry.GlobalFiles.RangeFilesByPackage(service.Package(), collect)
		slices.SortFunc(files, func(a, b protoreflect.FileDescriptor) int {
			return strings.Compare(a.Path(), b.Path())
		})
		for _, file := range files {
			more, err := RoutesOf(file)
			if err != nil {
				return nil, err
			}
			routes = append(routes, more...)
		}
	}
	locate(routes)
	return routes, nil
}

// RoutesOf returns the routes of the services in a proto file.
func RoutesOf(file protoreflect.FileDescriptor) ([]*Route, error) {
	var routes []*Route
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

func locate(routes []*Route) {
	for _, r := range routes {
		for _, get := range routes {
			if r.Verb == http.MethodPost && get.Verb == http.MethodGet && r.location == nil {
				r.location = findLocation(r, get)
			}
		}
	}
}

// findLocation returns the location of the resource that post creates, or nil unless get returns
// it: either in its reply, or as the download of the collection with the same name. The resource
// must have the fields in the path of get.
func findLocation(post, get *Route) *location {
	fields := post.Method.Output().Fields()
	for i := range fields.Len() {
		resource := fields.Get(i)
		if resource.Message() == nil || resource.IsList() {
			continue
		}
		if get.returns(resource) || get.downloads(post) {
			if l := newLocation(resource, get.Template); l != nil {
				return l
			}
		}
	}
	return nil
}

func (r *Route) returns(resource protoreflect.FieldDescriptor) bool {
	fields := r.Method.Output().Fields()
	for i := range fields.Len() {
		if field := fields.Get(i); field.Message() == resource.Message() && !field.IsList() {
			return true
		}
	}
	return false
}

func (r *Route) downloads(post *Route) bool {
	collection := post.Template[strings.LastIndex(post.Template, "/"):]
	return r.Download && strings.HasSuffix(r.Template, collection+"/{id}")
}
