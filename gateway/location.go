package gateway

import (
	"net/http"
	"net/url"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/coffer-budget/coffer/internal/restjson"
)

// location builds the path of a created resource, for the header Location.
type location struct {
	// resource is the field of the reply that has the created resource.
	resource protoreflect.FieldDescriptor
	// segments are the parts of the path between slashes.
	segments []segment
}

// segment is a part of a path: a text, or the value of a field of the resource.
type segment struct {
	text  string
	field protoreflect.FieldDescriptor
}

// locate sets the location of each POST whose resource a GET returns.
func locate(routes []*route) {
	for _, r := range routes {
		for _, get := range routes {
			if r.verb == http.MethodPost && get.verb == http.MethodGet && r.location == nil {
				r.location = newLocation(r, get)
			}
		}
	}
}

// newLocation returns the location of the resource that post creates, or nil unless get returns it:
// either in its reply, or as the download of the collection with the same name. The resource must
// have the fields in the path of get.
func newLocation(post, get *route) *location {
	fields := post.method.Output().Fields()
	for i := range fields.Len() {
		resource := fields.Get(i)
		if resource.Message() == nil || resource.IsList() || !get.returns(resource) && !get.downloads(post) {
			continue
		}
		l := &location{resource: resource}
		complete := true
		for text := range strings.SplitSeq(get.template, "/") {
			s := segment{text: text}
			if strings.HasPrefix(text, "{") {
				s.field = resource.Message().Fields().ByName(protoreflect.Name(strings.Trim(text, "{}")))
				complete = complete && s.field != nil
			}
			l.segments = append(l.segments, s)
		}
		if complete {
			return l
		}
	}
	return nil
}

// returns reports whether the reply of r has a message of the type of a resource.
func (r *route) returns(resource protoreflect.FieldDescriptor) bool {
	fields := r.method.Output().Fields()
	for i := range fields.Len() {
		if field := fields.Get(i); field.Message() == resource.Message() && !field.IsList() {
			return true
		}
	}
	return false
}

// downloads reports whether r downloads a file of the collection to which post adds one.
func (r *route) downloads(post *route) bool {
	collection := post.template[strings.LastIndex(post.template, "/"):]
	return r.download && strings.HasSuffix(r.template, collection+"/{id}")
}

// path returns the path of the resource in a reply, or "" if the reply has none.
func (l *location) path(reply []byte) string {
	resource := restjson.Value(reply, l.resource).Bytes()
	if len(resource) == 0 {
		return ""
	}
	parts := make([]string, len(l.segments))
	for i, s := range l.segments {
		parts[i] = s.text
		if s.field != nil {
			parts[i] = url.PathEscape(restjson.Value(resource, s.field).String())
		}
	}
	return strings.Join(parts, "/")
}
