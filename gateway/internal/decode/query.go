package decode

import (
	"net/url"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/coffer-budget/coffer/internal/restjson"
)

// maxParameters limits the parameters of a query string, repeated ones included.
const maxParameters = 1000

// decodeQuery sets the fields that are in the query. An unknown parameter is a problem: a client
// that misspells a filter must not get the unfiltered list. The option any_query permits it.
func (p *Plan) decodeQuery(raw string, message protoreflect.Message, bad *problems) error {
	if raw == "" {
		return nil
	}
	if strings.Count(raw, "&") >= maxParameters {
		return errTooManyParameters
	}
	values, err := url.ParseQuery(raw)
	if err != nil {
		return errInvalidQuery
	}
	var unknown []string
	for name, given := range values {
		if field := p.query[name]; field != nil {
			setParameter(message, field, name, given, bad)
		} else if !p.anyQuery {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		problem := p.query.unknownParameter()
		for _, name := range unknown {
			bad.add(name, problem)
		}
	}
	bad.sort()
	return nil
}

// setParameter sets a field to the values that the query has for it. Only a list may have more than
// one.
func setParameter(
	message protoreflect.Message, field *field, name string, given []string, bad *problems,
) {
	switch {
	case field.IsList():
		list := message.Mutable(field.FieldDescriptor).List()
		for _, text := range given {
			if v, problem := parseText(field, text); problem != "" {
				bad.add(name, problem)
			} else {
				list.Append(v)
			}
		}
	case len(given) > 1:
		bad.add(name, problemTwice)
	default:
		setText(message, field, name, given[0], bad)
	}
}

func (f fields) unknownParameter() string {
	if len(f) == 0 {
		return "is unknown: this operation has no query parameters"
	}
	return "is unknown: the query parameters of this operation are " + strings.Join(f.names(), ", ")
}

// setText sets a field that is not a list to its value as text.
func setText(m protoreflect.Message, field *field, name, text string, bad *problems) {
	v, problem := parseText(field, text)
	if problem != "" {
		bad.add(name, problem)
		return
	}
	m.Set(field.FieldDescriptor, v)
}

// parseText parses a scalar from a query parameter or a form field. Numbers have the syntax of
// JSON.
func parseText(field *field, text string) (value protoreflect.Value, problem string) {
	switch field.Kind() {
	case protoreflect.BoolKind:
		if text != "true" && text != "false" {
			return value, problemBool
		}
		return protoreflect.ValueOfBool(text == "true"), ""
	case protoreflect.StringKind:
		if field.decimal {
			if !restjson.IsNumber(text) {
				return value, problemNumber
			}
			return protoreflect.ValueOfString(text), ""
		}
		if problem := textProblem(text); problem != "" {
			return value, problem
		}
		return protoreflect.ValueOfString(text), ""
	}
	return parseNumber(field, text)
}
