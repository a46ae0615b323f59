package gateway

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/restjson"
	"github.com/coffer-budget/coffer/internal/rpc"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// maxProblems limits the problems in an error response. A body of a megabyte can have very many.
const maxProblems = 50

// maxParameters limits the parameters of a query string, repeated ones included.
const maxParameters = 1000

// decoding is the connection that grpc-gateway calls. Its Invoke fills the request message from the HTTP request of the context.
// grpc-gateway has set the fields of the path by then, and decoding does not change those. The encoded reply is stored in the
// requestState for answer; the message that grpc-gateway has for it stays empty.
type decoding struct {
	grpc.ClientConnInterface
	// limiter is that service's. A call counts after its body has been read, so that slow clients do not use up the limit.
	limiter *limiter
}

// Invoke implements grpc.ClientConnInterface.
func (d decoding) Invoke(ctx context.Context, method string, args, _ any, opts ...grpc.CallOption) error {
	x := stateOf(ctx)
	if err := decode(x.request, x.route, args.(proto.Message).ProtoReflect()); err != nil {
		return err
	}
	if !d.limiter.Enter() {
		x.shed = true
		d.limiter.countShed(ctx)
		return apierr.Unavailable
	}
	defer d.limiter.Leave()
	x.reply = buffers.Get().(*rpc.Encoded)
	return rpc.InvokeEncoded(ctx, d.ClientConnInterface, method, args, x.reply, opts...)
}

// requestPlan maps the fields of a request message to the parts of the HTTP request.
type requestPlan struct {
	path    []protoreflect.FieldDescriptor
	headers []restjson.Header
	query   fields
	body    fields
}

// fields maps JSON names to fields.
type fields map[string]*field

// field is a field of a request with its options.
type field struct {
	protoreflect.FieldDescriptor
	// decimal is set for a string field that takes a JSON number and keeps its digits.
	decimal bool
	// nullEmpties is set for a string field that null sets to "".
	nullEmpties bool
	// forwardInvalid replaces an invalid value of a string by invalidText, so that the service reports it.
	forwardInvalid bool
	// fields are the fields of a message field.
	fields fields
	// values is the only field of a message that wraps a list. In JSON the message is the bare array. The message distinguishes an
	// empty list from an absent one.
	values *field
}

func newField(d protoreflect.FieldDescriptor) *field {
	f := &field{
		FieldDescriptor: d,
		decimal:         proto.GetExtension(d.Options(), restv1.E_Number).(bool),
		nullEmpties:     proto.GetExtension(d.Options(), restv1.E_NullEmpties).(bool),
		forwardInvalid:  proto.GetExtension(d.Options(), restv1.E_ForwardInvalid).(bool),
	}
	if d.Message() == nil {
		return f
	}
	f.fields = fieldsOf(d.Message())
	if values := f.fields["values"]; len(f.fields) == 1 && values != nil && values.IsList() {
		f.values = values
	}
	return f
}

func fieldsOf(d protoreflect.MessageDescriptor) fields {
	all := make(fields, d.Fields().Len())
	for i := range d.Fields().Len() {
		f := newField(d.Fields().Get(i))
		all[f.JSONName()] = f
	}
	return all
}

func newRequestPlan(d protoreflect.MessageDescriptor, r *route) *requestPlan {
	p := &requestPlan{query: fields{}, body: fields{}}
	for i := range d.Fields().Len() {
		field := d.Fields().Get(i)
		options := field.Options()
		header := proto.GetExtension(options, restv1.E_Header).(string)
		switch {
		case strings.Contains(r.template, "{"+string(field.Name())+"}"):
			p.path = append(p.path, field)
		case header != "":
			p.headers = append(p.headers, restjson.Header{Name: header, Field: field})
		case !r.body || proto.GetExtension(options, restv1.E_Query).(bool):
			p.query[field.JSONName()] = newField(field)
			if r.multipart {
				// Accept the parameter in the form, too: a client that asks for a preview there must not create transactions.
				p.body[field.JSONName()] = newField(field)
			}
		default:
			p.body[field.JSONName()] = newField(field)
		}
	}
	return p
}

// decode fills m from a request. It returns apierr values that name every bad field.
func decode(r *http.Request, route *route, m protoreflect.Message) error {
	for _, field := range route.request.path {
		// Protobuf cannot encode invalid UTF-8. The replacement is an invalid id, and each service has an error code for that.
		if s := m.Get(field).String(); !utf8.ValidString(s) {
			m.Set(field, protoreflect.ValueOfString(strings.ToValidUTF8(s, invalidText)))
		}
	}
	for _, h := range route.request.headers {
		if values := r.Header.Values(h.Name); len(values) > 0 {
			m.Set(h.Field, protoreflect.ValueOfString(strings.ToValidUTF8(strings.Join(values, ", "), "\uFFFD")))
		}
	}
	bad := &problems{}
	if err := decodeQuery(r.URL.RawQuery, route.request.query, m, bad); err != nil {
		return err
	}
	if err := decodeBody(r, route, m, bad); err != nil {
		return err
	}
	if invalid := apierr.Validation(bad.fields); invalid != nil {
		return invalid
	}
	return nil
}

func decodeBody(r *http.Request, route *route, m protoreflect.Message, bad *problems) error {
	switch {
	case !route.body:
		return nil
	case route.multipart:
		return decodeMultipart(r, route.request, m, bad)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return unread(err)
	}
	return decodeJSON(r.Context(), body, route.request.body, m, bad)
}

// unread returns the public error for a body that could not be read to its end.
func unread(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return apierr.PayloadTooLarge
	}
	if timeout, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err); ok && timeout.Timeout() {
		return apierr.DeadlineExceeded
	}
	return errBodyInterrupted
}

// decodeQuery sets the fields that are in the query. An unknown parameter is a problem: a client that misspells a filter must
// not get the unfiltered list.
func decodeQuery(raw string, fields fields, m protoreflect.Message, bad *problems) error {
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
	for name, field := range fields {
		given := values[name]
		switch {
		case len(given) == 0:
		case field.IsList():
			list := m.Mutable(field.FieldDescriptor).List()
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
			setText(m, field, name, given[0], bad)
		}
	}
	problem := fields.unknownParameter()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if fields[name] == nil {
			bad.add(name, problem)
		}
	}
	bad.sort()
	return nil
}

// unknownParameter returns the problem of a query parameter that is not one of these fields.
func (f fields) unknownParameter() string {
	if len(f) == 0 {
		return "is unknown: this operation has no query parameters"
	}
	return "is unknown: the query parameters of this operation are " + strings.Join(slices.Sorted(maps.Keys(f)), ", ")
}

func setText(m protoreflect.Message, field *field, name, text string, bad *problems) {
	v, problem := parseText(field, text)
	if problem != "" {
		bad.add(name, problem)
		return
	}
	m.Set(field.FieldDescriptor, v)
}

// parseText parses a scalar from a query parameter or a form field.
func parseText(field *field, text string) (v protoreflect.Value, problem string) {
	switch field.Kind() {
	case protoreflect.BoolKind:
		if text != "true" && text != "false" {
			return v, problemBool
		}
		return protoreflect.ValueOfBool(text == "true"), ""
	case protoreflect.StringKind:
		if field.decimal {
			if !restjson.IsNumber(text) {
				return v, problemNumber
			}
			return protoreflect.ValueOfString(text), ""
		}
		if problem := textProblem(text); problem != "" {
			return v, problem
		}
		return protoreflect.ValueOfString(text), ""
	}
	return parseNumber(field, text)
}
