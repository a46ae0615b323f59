package transcoding

import (
	"net/url"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/coffer-budget/coffer/internal/restjson"
)

type location struct {
	resource protoreflect.FieldDescriptor
	segments []segment
}

type segment struct {
	text  string
	field protoreflect.FieldDescriptor
}

// newLocation returns the location of a resource with a path, or nil if the resource lacks a field
// of the path.
func newLocation(resource protoreflect.FieldDescriptor, path string) *location {
	location := &location{resource: resource}
	for text := range strings.SplitSeq(path, "/") {
		s := segment{text: text}
		if strings.HasPrefix(text, "{") {
			name := protoreflect.Name(strings.Trim(text, "{}"))
			if s.field = resource.Message().Fields().ByName(name); s.field == nil {
				return nil
			}
		}
		location.segments = append(location.segments, s)
	}
	return location
}

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
