package main

import (
	"encoding/json"

	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"

	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// limitsOf returns the option limits of a field. Without the option, all limits are zero.
func limitsOf(field *protogen.Field) *restv1.Limits {
	return proto.GetExtension(field.Desc.Options(), restv1.E_Limits).(*restv1.Limits)
}

// exclusive is an extension for a number that must be more than its minimum.
const exclusive = "x-exclusive-minimum"

// limitItems adds the limits of a list to its schema.
func limitItems(field *protogen.Field, schema object) object {
	limits := limitsOf(field)
	setCount(schema, "minItems", limits.GetMinItems())
	setCount(schema, "maxItems", limits.GetMaxItems())
	return schema
}

// limitValues adds the limits of a scalar to its schema. Those of decimals are numbers with the
// digits in the proto.
func limitValues(field *protogen.Field, schema object) object {
	limits := limitsOf(field)
	setCount(schema, "minLength", limits.GetMinLength())
	setCount(schema, "maxLength", limits.GetMaxLength())
	if pattern := limits.GetPattern(); pattern != "" {
		schema["pattern"] = pattern
	}
	if number := limits.GetMinimum(); number != "" {
		schema["minimum"] = json.Number(number)
	}
	if number := limits.GetMaximum(); number != "" {
		schema["maximum"] = json.Number(number)
	}
	// exclusiveMinimum is a boolean in OpenAPI 3.0 and a number in 3.1. openapi-typescript rejects
	// the boolean.
	if number := limits.GetMoreThan(); number != "" {
		schema["minimum"] = json.Number(number)
		schema[exclusive] = true
	}
	return schema
}

// setCount sets a limit of a length. 0 means that there is none.
func setCount(schema object, name string, n int32) {
	if n > 0 {
		schema[name] = n
	}
}
