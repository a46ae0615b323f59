package main

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// schemas is the place of the schemas in the document.
const schemas = "#/components/schemas/"

// reference returns a reference to a named schema. The schema may be defined later.
func reference(name string) object { return object{"$ref": schemas + name} }

// schemaName returns the name of a message's schema. The suffix Response is replaced, because
// oapi-codegen generates another type LoginResponse for the operation login.
func schemaName(m *protogen.Message) string {
	name := string(m.Desc.Name())
	if rest, ok := strings.CutSuffix(name, "Response"); ok {
		return rest + "Result"
	}
	return name
}

// message defines the schema of a message, and returns a reference to it. As the gateway writes
// them, fields of an answer are required unless they are optional, a message inside another
// message, or marked omit_empty or omit_with. Fields of a request inside another request, and of a
// message with a marked field, are required if they are marked so: clients send the message too.
func (g *generator) message(m *protogen.Message) object { return g.variant(m, false) }

// variant defines the schema of a message, or of its preview if the preview differs. A preview
// shows a resource before its creation and lacks the fields that are marked assigned. It has a
// separate schema with the suffix Preview, so that these fields can be required in the schema of
// the resource. variant panics if two messages would share a name, because one would be missing in
// the document.
func (g *generator) variant(m *protogen.Message, preview bool) object {
	preview = preview && hasAssigned(m)
	name := schemaName(m)
	if preview {
		name += "Preview"
	}
	if other, ok := g.defined[name]; ok {
		if other.Desc.FullName() != m.Desc.FullName() {
			panic(fmt.Sprintf("%s and %s would share a schema", other.Desc.FullName(),
				m.Desc.FullName()))
		}
		return reference(name)
	}
	g.defined[name] = m
	properties, required := object{}, []string{}
	for _, field := range m.Fields {
		if stringOption(field, restv1.E_Header) != "" || isCookie(field) ||
			preview && boolOption(field, restv1.E_Assigned) {
			continue
		}
		properties[field.Desc.JSONName()] = g.describedVariant(field, preview)
		if isRequired(m, field) {
			required = append(required, field.Desc.JSONName())
		}
	}
	schema := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	if text := comment(m.Comments.Leading); text != "" {
		schema["description"] = text
	}
	g.schemas[name] = schema
	return reference(name)
}

// isRequired reports whether a message always has a field, by the rules of message. An assigned
// field is marked omit_empty for the preview only, so it is required in the schema of the complete
// resource.
func isRequired(m *protogen.Message, field *protogen.Field) bool {
	name := string(m.Desc.Name())
	switch {
	case strings.HasSuffix(name, "Request"), hasRequired(m):
		return boolOption(field, restv1.E_Required)
	case field.Desc.HasPresence():
		return field.Message != nil && strings.HasSuffix(name, "Response") &&
			!boolOption(field, restv1.E_OmitEmpty)
	}
	return !boolOption(field, restv1.E_OmitEmpty) && stringOption(field, restv1.E_OmitWith) == "" ||
		boolOption(field, restv1.E_Assigned)
}

// hasRequired reports whether a field of a message is marked required, because requests contain the
// message too.
func hasRequired(m *protogen.Message) bool {
	return slices.ContainsFunc(m.Fields,
		func(field *protogen.Field) bool { return boolOption(field, restv1.E_Required) })
}

// hasAssigned reports whether the preview of a message differs from the message.
func hasAssigned(m *protogen.Message) bool {
	return slices.ContainsFunc(m.Fields, func(field *protogen.Field) bool {
		return boolOption(field, restv1.E_Assigned) ||
			field.Message != nil && !field.Desc.IsMap() && hasAssigned(field.Message)
	})
}

// envelope describes the fields that most responses have. The protos do not repeat these comments.
var envelope = map[string]string{
	"code":    "The result of the operation, for programs.",
	"message": "The result of the operation, in English for users.",
}

// described returns a field's schema with its comment.
func (g *generator) described(field *protogen.Field) object {
	return g.describedVariant(field, false)
}

// describedVariant returns a field's schema with its comment, in a preview or the complete message.
// Without a comment in the proto, a field of the envelope gets its description in envelope.
func (g *generator) describedVariant(field *protogen.Field, preview bool) object {
	schema, text := g.schema(field, preview), comment(field.Comments.Leading)
	if text == "" && strings.HasSuffix(string(field.Parent.Desc.Name()), "Response") {
		text = envelope[string(field.Desc.Name())]
	}
	if text == "" {
		return schema
	}
	if schema["$ref"] != nil {
		// OpenAPI 3.0 ignores the siblings of a reference.
		schema = object{"allOf": []any{schema}}
	}
	schema["description"] = text
	return schema
}

// schema returns the schema of a field without its comment. Map keys are always strings in JSON.
func (g *generator) schema(field *protogen.Field, preview bool) object {
	switch {
	case field.Desc.IsMap():
		values := g.element(field.Message.Fields[1], false)
		return object{"type": "object", "additionalProperties": values}
	case field.Desc.IsList():
		list := object{"type": "array", "items": g.element(field, preview)}
		return nullable(field, limitItems(field, list))
	}
	return nullable(field, g.element(field, preview))
}

// element returns the schema of a field without its cardinality.
func (g *generator) element(field *protogen.Field, preview bool) object {
	if field.Message == nil {
		return limitValues(field, scalar(field))
	}
	// The content of an event depends on its type.
	if field.Message.Desc.FullName() == "google.protobuf.Any" {
		return object{"type": "object"}
	}
	// Wrappers such as CategoryIds distinguish an empty list from an absent one. In JSON they are
	// the array itself.
	if values := field.Message.Fields; len(values) == 1 && values[0].Desc.IsList() &&
		values[0].Desc.Name() == "values" {
		return g.schema(values[0], false)
	}
	return g.variant(field.Message, preview)
}

// scalar returns the schema of a field that is not a message. Decimals are strings in the protos
// and numbers in JSON (option number), and strings with fixed values become an enum (option
// one_of).
func scalar(field *protogen.Field) object {
	switch field.Desc.Kind() {
	case protoreflect.BoolKind:
		return object{"type": "boolean"}
	case protoreflect.Int32Kind:
		return object{"type": "integer", "format": "int32"}
	case protoreflect.Int64Kind:
		return object{"type": "integer", "format": "int64"}
	case protoreflect.DoubleKind:
		return object{"type": "number", "format": "double"}
	case protoreflect.BytesKind:
		return object{"type": "string", "format": "binary"}
	}
	switch {
	case !boolOption(field, restv1.E_Number):
		return text(field)
	case stringOption(field, restv1.E_Format) == "int32":
		return object{"type": "integer", "format": "int32"}
	}
	// Without a format, client generators choose 32 bits, which lose cents.
	return object{"type": "number", "format": "double"}
}

// nullable adds to a schema that null empties the field, if it does. OpenAPI 3.0 ignores the
// siblings of a reference, and nullable without a type.
func nullable(field *protogen.Field, schema object) object {
	if !boolOption(field, restv1.E_NullEmpties) {
		return schema
	}
	if schema["$ref"] != nil {
		schema = object{"type": "object", "allOf": []any{schema}}
	}
	schema["nullable"] = true
	return schema
}

// text returns the schema of a field that is a string in JSON, too.
func text(field *protogen.Field) object {
	schema := object{"type": "string"}
	if values := strings.Fields(stringOption(field, restv1.E_OneOf)); len(values) > 0 {
		schema["enum"] = values
	}
	if format := format(field); format != "" {
		schema["format"] = format
	}
	return schema
}

// format returns the format of a string: the option format, or the one that follows from the
// field's name.
func format(field *protogen.Field) string {
	name := string(field.Desc.Name())
	switch declared := stringOption(field, restv1.E_Format); {
	case declared == "none":
		return ""
	case declared != "":
		return declared
	case name == "id", strings.HasSuffix(name, "_id"), strings.HasSuffix(name, "_ids"):
		return "uuid"
	case strings.HasSuffix(name, "_at"):
		return "date-time"
	}
	return ""
}

// boolOption returns the value of a field's option, false if it is not set.
func boolOption(field *protogen.Field, option protoreflect.ExtensionType) bool {
	return proto.GetExtension(field.Desc.Options(), option).(bool)
}

// stringOption returns the value of a field's option, "" if it is not set.
func stringOption(field *protogen.Field, option protoreflect.ExtensionType) string {
	return proto.GetExtension(field.Desc.Options(), option).(string)
}

// comment returns a comment as one paragraph, because line breaks only limit the width of the proto
// files.
func comment(c protogen.Comments) string {
	return strings.Join(strings.Fields(string(c)), " ")
}
