package decode

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// Limits of a JSON body, far above every legitimate request. They keep the cost of decoding a
// hostile body close to the cost of checking its syntax.
const (
	// maxDepth limits the depth of the recursion that a body causes.
	maxDepth = 64
	// maxValues limits members and elements together. The largest request, 500 transactions, has
	// about 5,000.
	maxValues = 20_000
	// maxNameLength limits the name of a member, in bytes as written, including the quotes.
	maxNameLength = 256
	// interruptEvery is the number of values between two checks of the request's context.
	interruptEvery = 256
)

// decodeJSON fills message from a JSON object by the types of the fields: a decimal takes a JSON
// number and keeps its digits, a string takes only a string. null empties a field with the option
// null_empties. For other fields it means absent, and is invalid in a change, see jsonDecoder.null.
// An empty body means {}.
//
// Unknown names are skipped, so clients may send back a resource as they read it. Repeated names
// are rejected, because parsers disagree about which value counts. Decoding stops with the error of
// ctx when ctx ends.
func (p *Plan) decodeJSON(
	ctx context.Context, body []byte, message protoreflect.Message, bad *problems,
) error {
	trimmed := bytes.TrimLeft(body, " \t\r\n")
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case len(trimmed) == 0:
		return nil
	case !utf8.Valid(body):
		return errInvalidUTF8
	case !json.Valid(body):
		return errInvalidJSON
	case trimmed[0] != '{':
		return errNotAnObject
	}
	d := &jsonDecoder{rest: trimmed, bad: bad, change: p.isChange, interrupted: ctx.Err}
	d.object(p.body, message)
	return d.err
}

// jsonDecoder reads a body that is known to be valid JSON. encoding/json cannot report the problem
// of each value or keep the digits of numbers, and its token API takes longer than the rest of a
// request's decoding. Every method except next starts at the first byte of a value and stops behind
// its last one.
type jsonDecoder struct {
	rest []byte
	bad  *problems
	// change is set for a PATCH.
	change bool
	// path leads to the current value. It becomes text only for a problem that is reported.
	path   []segment
	depth  int
	values int
	// interrupted returns the error of a request that has ended.
	interrupted func() error
	// err is the reason why decoding stopped before the end of the body.
	err error
}

// segment is a step from a value into one of its members or elements. A member has the index -1,
// and an element an empty name.
type segment struct {
	name  string
	index int
}

func (d *jsonDecoder) problem(message string) {
	if d.bad.full() {
		return
	}
	var at []byte
	for i, segment := range d.path {
		switch {
		case len(at) > maxFieldLength:
			// The rest would be cut off.
		case segment.name == "" && segment.index >= 0:
			at = append(strconv.AppendInt(append(at, '['), int64(segment.index), 10), ']')
		case i == 0:
			at = append(at, segment.name...)
		default:
			at = append(append(at, '.'), segment.name...)
		}
	}
	d.bad.add(string(at), message)
}

// next skips separators, and returns the first byte of the next value or the closing delimiter. The
// body is valid JSON, so there is one.
func (d *jsonDecoder) next() byte {
	i := 0
	for d.rest[i] <= ' ' || d.rest[i] == ',' || d.rest[i] == ':' {
		i++
	}
	d.rest = d.rest[i:]
	return d.rest[0]
}

func (d *jsonDecoder) enter() {
	d.rest = d.rest[1:]
	d.depth++
	if d.depth > maxDepth {
		d.err = errTooDeep
	}
}

// more reports whether another member or element follows. If not, it consumes the closing
// delimiter. It also ends every loop after decoding has stopped.
func (d *jsonDecoder) more() bool {
	if d.err != nil {
		return false
	}
	if c := d.next(); c == '}' || c == ']' {
		d.rest = d.rest[1:]
		d.depth--
		return false
	}
	d.values++
	switch {
	case d.values > maxValues:
		d.err = errTooManyValues
	case d.values%interruptEvery == 0:
		d.err = d.interrupted()
	}
	return d.err == nil
}

func (d *jsonDecoder) name() (name string, ok bool) {
	raw := d.literal()
	if len(raw) > maxNameLength {
		d.err = errNameTooLong
		return "", false
	}
	d.next()
	return unquote(raw), true
}

// object reads the fields of an object. Without fields and a message it skips the object. A
// repeated name is a problem even in a part that is skipped.
func (d *jsonDecoder) object(fields fields, message protoreflect.Message) {
	d.enter()
	var seen map[string]bool
	for d.more() {
		name, ok := d.name()
		if !ok {
			return
		}
		if seen == nil {
			seen = make(map[string]bool, len(fields))
		}
		d.path = append(d.path, segment{name: name, index: -1})
		switch f := fields[name]; {
		case seen[name]:
			d.problem(problemTwice)
			d.skip()
		case f != nil:
			d.field(f, message)
		default:
			d.skip()
		}
		d.path = d.path[:len(d.path)-1]
		seen[name] = true
	}
}

func (d *jsonDecoder) field(field *field, message protoreflect.Message) {
	switch {
	case d.rest[0] == 'n':
		d.literal()
		d.null(field, message)
	case field.IsList():
		d.list(field, message.Mutable(field.FieldDescriptor).List())
	case field.values != nil:
		wrapper := message.Mutable(field.FieldDescriptor).Message()
		d.list(field.values, wrapper.Mutable(field.values.FieldDescriptor).List())
	case field.Kind() == protoreflect.MessageKind && d.rest[0] == '{':
		d.object(field.fields, message.Mutable(field.FieldDescriptor).Message())
	case field.Kind() == protoreflect.MessageKind:
		d.problem(problemObject)
		d.skip()
	default:
		if v, ok := d.scalar(field); ok {
			message.Set(field.FieldDescriptor, v)
		}
	}
}

// null sets a field that null empties to its empty value, which the service cannot confuse with an
// absent field. Otherwise null means absent, but not in a change: there a client could expect that
// it removes the value. The element of a list is written as a whole, so its fields without presence
// have no value that null could keep.
func (d *jsonDecoder) null(f *field, m protoreflect.Message) {
	switch {
	case f.nullEmpties && f.Kind() == protoreflect.StringKind && !f.IsList():
		m.Set(f.FieldDescriptor, protoreflect.ValueOfString(""))
	case f.nullEmpties:
		m.Mutable(f.FieldDescriptor)
	case d.change && (f.HasPresence() || len(d.path) == 1):
		d.problem(problemNull)
	}
}

// list reads an array into a list. An invalid element is left out of the list. That has no effect,
// because the request is rejected.
func (d *jsonDecoder) list(field *field, list protoreflect.List) {
	if d.rest[0] != '[' {
		d.problem(problemList)
		d.skip()
		return
	}
	d.enter()
	for i := 0; d.more(); i++ {
		d.path = append(d.path, segment{index: i})
		switch {
		case field.Kind() == protoreflect.MessageKind && d.rest[0] == '{':
			d.object(field.fields, list.AppendMutable().Message())
		case field.Kind() == protoreflect.MessageKind:
			d.problem(problemObject)
			d.skip()
		default:
			if v, ok := d.scalar(field); ok {
				list.Append(v)
			}
		}
		d.path = d.path[:len(d.path)-1]
	}
}

// scalar reads a single value, and skips an object or array in its place. A value that the service
// must reject is replaced by invalidText.
func (d *jsonDecoder) scalar(field *field) (value protoreflect.Value, ok bool) {
	var raw []byte
	if c := d.rest[0]; c == '{' || c == '[' {
		d.skip()
	} else {
		raw = d.literal()
	}
	value, problem := parseLiteral(field, raw)
	if field.forwardInvalid && (problem != "" || !field.HasPresence() && value.String() == "") {
		return protoreflect.ValueOfString(invalidText), true
	}
	if problem != "" {
		d.problem(problem)
	}
	return value, problem == ""
}

// skip reads to the end of a value. Repeated names are reported in ignored objects, too.
func (d *jsonDecoder) skip() {
	switch d.rest[0] {
	case '{':
		d.object(nil, nil)
	case '[':
		d.enter()
		for d.more() {
			d.skip()
		}
	default:
		d.literal()
	}
}
