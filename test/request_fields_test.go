package test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"
)

// limitedField is a value in a request that the document limits.
type limitedField struct {
	// path has the names of members, and an element for the first element of a list.
	path   []any
	schema *openapi3.Schema
}

// element is a step from a list to its first element.
type element struct{ list *openapi3.Schema }

// name returns the field as details name it, for example conditions[0].values. A problem of an
// element of a simple list may name the list.
func (f limitedField) name() string {
	var builder strings.Builder
	for i, step := range f.path {
		name, isMember := step.(string)
		switch {
		case !isMember:
			builder.WriteString("[0]")
		case i > 0:
			builder.WriteString("." + name)
		default:
			builder.WriteString(name)
		}
	}
	return strings.TrimSuffix(builder.String(), "[0]")
}

// limitedFields returns the limited values of a schema and of the schemas inside it.
func limitedFields(ref *openapi3.SchemaRef, path []any) []limitedField {
	schema := ref.Value
	var found []limitedField
	if schema.MaxLength != nil || schema.MinLength > 0 || schema.Pattern != "" ||
		len(schema.Enum) > 0 ||
		schema.Max != nil || schema.Min != nil || schema.MaxItems != nil || schema.MinItems > 0 {
		found = append(found, limitedField{path, schema})
	}
	below := func(ref *openapi3.SchemaRef, step any) {
		found = append(found, limitedFields(ref, append(slices.Clone(path), step))...)
	}
	for _, part := range schema.AllOf {
		found = append(found, limitedFields(part, path)...)
	}
	if schema.Items != nil {
		below(schema.Items, element{schema})
	}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		below(schema.Properties[name], name)
	}
	return found
}

// beyond returns values that the limits exclude, each nearest to a limit.
func (f limitedField) beyond() []any {
	schema := f.schema
	var values []any
	if schema.MaxLength != nil {
		values = append(values, strings.Repeat("a", int(*schema.MaxLength)+1))
	}
	if schema.MinLength > 0 {
		values = append(values, strings.Repeat("a", int(schema.MinLength)-1))
	}
	if schema.Pattern != "" || len(schema.Enum) > 0 {
		values = append(values, "!")
	}
	if schema.Max != nil {
		values = append(values, number(*schema.Max+1))
	}
	switch {
	case schema.Min != nil && isExclusive(schema):
		values = append(values, number(*schema.Min))
	case schema.Min != nil:
		values = append(values, number(*schema.Min-1))
	}
	if schema.MaxItems != nil {
		values = append(values, elements(schema.Items, int(*schema.MaxItems)+1))
	}
	if schema.MinItems > 0 {
		values = append(values, elements(schema.Items, int(schema.MinItems)-1))
	}
	return values
}

// isExclusive reports whether a number must be more than its minimum.
func isExclusive(s *openapi3.Schema) bool { return s.Extensions["x-exclusive-minimum"] == true }

// atLimit returns values at the limits. before is the value of the field in a valid request, nil
// without one.
func (f limitedField) atLimit(before any) []any {
	schema := f.schema
	var values []any
	if schema.MaxLength != nil {
		text, _ := before.(string)
		padding := strings.Repeat("a", int(*schema.MaxLength)-len(text))
		// An address, an emoji and a language tag are not any text.
		if !slices.Contains([]string{"email", "icon", "locale"}, f.name()) {
			values = append(values, text+padding)
		}
	}
	if schema.Max != nil {
		values = append(values, number(*schema.Max))
	}
	if schema.Min != nil && !isExclusive(schema) {
		values = append(values, number(*schema.Min))
	}
	if schema.MaxItems != nil {
		values = append(values, elements(schema.Items, int(*schema.MaxItems)))
	}
	if f.path[len(f.path)-1] != "op" { // Each field has its own operators.
		values = append(values, schema.Enum...)
	}
	return values
}

func number(n float64) json.Number { return json.Number(strconv.FormatFloat(n, 'f', -1, 64)) }

// elements returns a list of n different elements.
func elements(items *openapi3.SchemaRef, n int) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = sample(items.Value, i)
	}
	return list
}

// sample returns the i-th value that a schema allows.
func sample(schema *openapi3.Schema, index int) any {
	switch {
	case len(schema.Enum) > 0:
		return schema.Enum[index%len(schema.Enum)]
	case schema.Type.Is("integer"), schema.Type.Is("number"):
		return index + 1
	case schema.Format == "uuid":
		return uuid.NewString()
	case schema.Type.Is("string"):
		return fmt.Sprintf("x%d", index)
	}
	if schema.Items != nil {
		return elements(schema.Items, max(1, int(schema.MinItems)))
	}
	value := object{}
	for _, name := range schema.Required {
		value[name] = sample(schema.Properties[name].Value, index)
	}
	return value
}

// placed returns a copy of a request's value in which the value at a path is replaced. It adds
// missing objects and lists.
func placed(root any, path []any, value any) any {
	if len(path) == 0 {
		return value
	}
	if step, ok := path[0].(element); ok {
		list := items(root)
		for len(list) < 2 { // A split has at least two parts.
			list = append(list, sample(step.list.Items.Value, len(list)))
		}
		list[0] = placed(list[0], path[1:], value)
		return list
	}
	name := path[0].(string)
	members, _ := root.(object)
	return with(members, object{name: placed(members[name], path[1:], value)})
}

// items returns the elements of a list that a test wrote, nil for another value.
func items(value any) []any {
	text, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	var list []any
	if json.Unmarshal(text, &list) != nil {
		return nil
	}
	return list
}
