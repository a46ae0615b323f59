package gateway

import (
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/anypb"

	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// requireDescribed checks that a response has only fields of its schema.
func requireDescribed(
	t *testing.T, doc *openapi3.T, body map[string]any, descriptor protoreflect.MessageDescriptor,
) {
	t.Helper()
	if body == nil || body["error"] != nil {
		return
	}
	schema := doc.Components.Schemas[schemaName(descriptor)].Value
	for name := range body {
		require.Contains(t, schema.Properties, name)
	}
}

// filled returns a message with a value in every field. Lists have one element.
func filled(
	t *testing.T, doc *openapi3.T, descriptor protoreflect.MessageDescriptor, depth int,
) proto.Message {
	t.Helper()
	require.Less(t, depth, 10, "messages do not contain themselves")
	msg := newMessage(t, descriptor)
	for i := range descriptor.Fields().Len() {
		field := descriptor.Fields().Get(i)
		switch {
		case field.Name() == "code" && strings.HasSuffix(string(descriptor.Name()), "Response"):
		case field.IsMap():
			value := protoreflect.ValueOfFloat64(0.5)
			if field.MapValue().Kind() == protoreflect.StringKind {
				value = protoreflect.ValueOfString("7")
			}
			msg.Mutable(field).Map().Set(protoreflect.ValueOfString("total").MapKey(), value)
		case field.IsList():
			msg.Mutable(field).List().Append(filledValue(t, doc, field, depth))
		default:
			msg.Set(field, filledValue(t, doc, field, depth))
		}
	}
	return msg.Interface()
}

func filledValue(
	t *testing.T, doc *openapi3.T, field protoreflect.FieldDescriptor, depth int,
) protoreflect.Value {
	t.Helper()
	switch field.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(true)
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(7)
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(7)
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(12.5)
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte("a file"))
	case protoreflect.MessageKind:
		if field.Message().FullName() == "google.protobuf.Any" {
			packed, err := anypb.New(aWallet())
			require.NoError(t, err)
			return protoreflect.ValueOfMessage(packed.ProtoReflect())
		}
		return protoreflect.ValueOfMessage(filled(t, doc, field.Message(), depth+1).ProtoReflect())
	}
	return protoreflect.ValueOfString(filledString(doc, field))
}

// filledString returns a string that the field's schema allows. Every string is a number too,
// unless it has a format.
func filledString(doc *openapi3.T, field protoreflect.FieldDescriptor) string {
	message := doc.Components.Schemas[schemaName(field.ContainingMessage())]
	if message == nil || message.Value.Properties[field.JSONName()] == nil {
		return "12.30"
	}
	schema := message.Value.Properties[field.JSONName()].Value
	if field.IsList() {
		schema = schema.Items.Value
	}
	switch {
	case len(schema.Enum) > 0:
		return schema.Enum[0].(string)
	case strings.HasPrefix(schema.Pattern, "^("):
		// The first alternative is a plain word.
		first, _, _ := strings.Cut(strings.TrimPrefix(schema.Pattern, "^("), "|")
		return first
	case schema.Format == "uuid":
		return anID
	case schema.Format == "date":
		return "2026-11-20"
	case schema.Format == "date-time":
		return "2026-11-20T10:15:00.000Z"
	}
	return "12.30"
}

func schemaName(d protoreflect.MessageDescriptor) string {
	return strings.Replace(string(d.Name()), "Response", "Result", 1)
}

// sparse returns the smallest valid answer: the resource with only its numbers, its assigned
// fields, and the strings with a format.
func sparse(
	t *testing.T, doc *openapi3.T, descriptor protoreflect.MessageDescriptor,
) proto.Message {
	t.Helper()
	msg := newMessage(t, descriptor)
	for i := range descriptor.Fields().Len() {
		field := descriptor.Fields().Get(i)
		number := proto.GetExtension(field.Options(), restv1.E_Number).(bool) &&
			!proto.GetExtension(field.Options(), restv1.E_OmitEmpty).(bool)
		assigned := proto.GetExtension(field.Options(), restv1.E_Assigned).(bool)
		isMessage := field.Kind() == protoreflect.MessageKind && !field.IsList() && !field.IsMap()
		switch {
		case number && !field.HasPresence():
			msg.Set(field, protoreflect.ValueOfString("0"))
		case (assigned || isFormatted(doc, field)) && !field.HasPresence():
			msg.Set(field, filledValue(t, doc, field, 0))
		case isMessage && strings.HasSuffix(string(descriptor.Name()), "Response"):
			msg.Set(field,
				protoreflect.ValueOfMessage(sparse(t, doc, field.Message()).ProtoReflect()))
		}
	}
	return msg.Interface()
}

// isFormatted reports whether a string that is always present must not be empty.
func isFormatted(doc *openapi3.T, field protoreflect.FieldDescriptor) bool {
	omitted := proto.GetExtension(field.Options(), restv1.E_OmitEmpty).(bool)
	return field.Kind() == protoreflect.StringKind && !field.IsList() &&
		field.Name() != "code" && !omitted && filledString(doc, field) != "12.30"
}

func newMessage(t *testing.T, d protoreflect.MessageDescriptor) protoreflect.Message {
	t.Helper()
	messageType, err := protoregistry.GlobalTypes.FindMessageByName(d.FullName())
	require.NoError(t, err)
	return messageType.New()
}
