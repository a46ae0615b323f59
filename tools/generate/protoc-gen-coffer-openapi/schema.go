package main

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

func reference(name string) object { return object{"$ref": "#/components/schemas/" + name} }

// message defines the schema of a message, and refers to it. As the gateway writes them, fields are there unless they are
// optional, a message inside another, or marked omit_empty; of a request inside another, those marked required are asked for.
func (g *generator) message(m *protogen.Message) object {
	name := string(m.Desc.Name())
	if other, ok := g.defined[name]; ok {
		if other.Desc.FullName() != m.Desc.FullName() {
			panic(fmt.Sprintf("%s and %s would share a schema", other.Desc.FullName(), m.Desc.FullName()))
		}
		return reference(name)
	}
	g.defined[name] = m
	isAnswer, isRequest := strings.HasSuffix(name, "Response"), strings.HasSuffix(name, "Request")
	properties, required := object{}, []string{}
	for _, field := range m.Fields {
		if stringOption(field, restv1.E_Header) != "" {
			continue
		}
		properties[field.Desc.JSONName()] = g.described(field)
		there := !field.Desc.HasPresence() || field.Message != nil && isAnswer
		if isRequest && boolOption(field, restv1.E_Required) || !isRequest && there && !boolOption(field, restv1.E_OmitEmpty) {
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

// described is a field's schema with its comment.
func (g *generator) described(field *protogen.Field) object {
	schema, text := g.schema(field), comment(field.Comments.Leading)
	if text == "" {
		return schema
	}
	if schema["$ref"] != nil {
		// OpenAPI 3.0 ignores what stands beside a reference.
		schema = object{"allOf": []any{schema}}
	}
	schema["description"] = text
	return schema
}

func (g *generator) schema(field *protogen.Field) object {
	switch {
	case field.Desc.IsMap():
		return object{"type": "object", "additionalProperties": g.scalar(field.Message.Fields[1])}
	case field.Desc.IsList():
		return object{"type": "array", "items": g.scalar(field)}
	}
	return g.scalar(field)
}

func (g *generator) scalar(field *protogen.Field) object {
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
	case protoreflect.MessageKind:
		if field.Message.Desc.FullName() == "google.protobuf.Any" {
			return object{"type": "object"}
		}
		if values := field.Message.Fields; len(values) == 1 && values[0].Desc.IsList() && values[0].Desc.Name() == "values" {
			return g.schema(values[0])
		}
		return g.message(field.Message)
	}
	switch {
	case boolOption(field, restv1.E_Number):
		return object{"type": "number"}
	case boolOption(field, restv1.E_NullEmpties):
		return object{"type": "string", "nullable": true}
	}
	return object{"type": "string"}
}

func boolOption(field *protogen.Field, option protoreflect.ExtensionType) bool {
	return proto.GetExtension(field.Desc.Options(), option).(bool)
}

func stringOption(field *protogen.Field, option protoreflect.ExtensionType) string {
	return proto.GetExtension(field.Desc.Options(), option).(string)
}

// comment is a comment as one paragraph.
func comment(c protogen.Comments) string {
	return strings.Join(strings.Fields(string(c)), " ")
}
