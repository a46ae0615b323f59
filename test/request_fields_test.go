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
	var b strings.Builder
	for i, step := range f.path {
		name, isMember := step.(string)
		switch {
		case !isMember:
			b.WriteString("[0]")
		case i > 0:
			b.WriteString("." + name)
		default:
			b.WriteString(name)
		}
	}
	return strings.TrimSuffix(b.String(), "[0]")
}

// limitedFields returns the limited values of a schema and of the schemas inside it.
func limitedFields(ref *openapi3.SchemaRef, path []any) []limitedField {
	s := ref.Value
	var found []limitedField
	if s.MaxLength != nil || s.MinLength > 0 || s.Pattern != "" || len(s.Enum) > 0 ||
		s.Max != nil || s.Min != nil || s.MaxItems != nil || s.MinItems > 0 {
		found = append(found, limitedField{path, s})
	}
	below := func(ref *openapi3.SchemaRef, step any) {
		found = append(found, limitedFields(ref, append(slices.Clone(path), step))...)
	}
	for _, part := range s.AllOf {
		found = append(found, limitedFields(part, path)...)
	}
	if s.Items != nil {
		below(s.Items, element{s})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		below(s.Properties[name], name)
	}
	return found
}

// beyond returns values that the limits exclude, each nearest to a limit.
func (f limitedField) beyond() []any {
	s := f.schema
	var values []any
	if s.MaxLength != nil {
		values = append(values, strings.Repeat("a", int(*s.MaxLength)+1))
	}
	if s.MinLength > 0 {
		values = append(values, strings.Repeat("a", int(s.MinLength)-1))
	}
	if s.Pattern != "" || len(s.Enum) > 0 {
		values = append(values, "!")
	}
	if s.Max != nil {
		values = append(values, number(*s.Max+1))
	}
	switch {
	case s.Min != nil && isExclusive(s):
		values = append(values, number(*s.Min))
	case s.Min != nil:
		values = append(values, number(*s.Min-1))
	}
	if s.MaxItems != nil {
		values = append(values, elements(s.Items, int(*s.MaxItems)+1))
	}
	if s.MinItems > 0 {
		values = append(values, elements(s.Items, int(s.MinItems)-1))
	}
	return values
}

// isExclusive reports whether a number must be more than its minimum.
func isExclusive(s *openapi3.Schema) bool { return s.Extensions["x-exclusive-minimum"] == true }

// atLimit returns values at the limits. before is the value of the field in a valid request, nil
// without one.
func (f limitedField) atLimit(before any) []any {
	s := f.schema
	var values []any
	if s.MaxLength != nil {
		text, _ := before.(string)
		padding := strings.Repeat("a", int(*s.MaxLength)-len(text))
		// An address, an emoji and a language tag are not any text.
		if !slices.Contains([]string{"email", "icon", "locale"}, f.name()) {
			values = append(values, text+padding)
		}
	}
	if s.Max != nil {
		values = append(values, number(*s.Max))
	}
	if s.Min != nil && !isExclusive(s) {
		values = append(values, number(*s.Min))
	}
	if s.MaxItems != nil {
		values = append(values, elements(s.Items, int(*s.MaxItems)))
	}
	if f.path[len(f.path)-1] != "op" { // Each field has its own operators.
		values = append(values, s.Enum...)
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
func sample(s *openapi3.Schema, i int) any {
	switch {
	case len(s.Enum) > 0:
		return s.Enum[i%len(s.Enum)]
	case s.Type.Is("integer"), s.Type.Is("number"):
		return i + 1
	case s.Format == "uuid":
		return uuid.NewString()
	case s.Type.Is("string"):
		return fmt.Sprintf("x%d", i)
	}
	if s.Items != nil {
		return elements(s.Items, max(1, int(s.MinItems)))
	}
	value := object{}
	for _, name := range s.Required {
		value[name] = sample(s.Properties[name].Value, i)
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
