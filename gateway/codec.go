package gateway

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/restjson"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// maxDepth is far more than any request needs.
const maxDepth = 64

// What can be wrong with a field.
const (
	problemString  = "must be a string"
	problemNumber  = "must be a number"
	problemInteger = "must be an integer"
	problemRange   = "is out of range"
	problemBool    = "must be true or false"
	problemList    = "must be an array"
	problemObject  = "must be an object"
	problemTwice   = "must be given only once"
	problemUTF8    = "must be valid UTF-8"
	problemNUL     = "must not contain NUL"
)

// problems collects what is wrong with a request's fields.
type problems struct{ fields []apierr.Field }

func (p *problems) add(field, message string) {
	if len(p.fields) < maxProblems {
		p.fields = append(p.fields, apierr.Field{Name: field, Message: message})
	}
}

func (p *problems) sort() {
	slices.SortFunc(p.fields, func(a, b apierr.Field) int { return cmp.Compare(a.Name, b.Name) })
}

// decodeJSON fills m from a JSON object by the fields' types: a decimal takes a JSON number and keeps its digits, a
// string takes nothing but a string. null is as good as absent, unless an option says otherwise. Unknown names are skipped. An empty body is {}.
func decodeJSON(body []byte, fields map[string]protoreflect.FieldDescriptor, m protoreflect.Message, bad *problems) error {
	trimmed := bytes.TrimLeft(body, " \t\r\n")
	switch {
	case len(trimmed) == 0:
		return nil
	case !utf8.Valid(body):
		return errInvalidUTF8
	case !json.Valid(body):
		return errInvalidJSON
	case trimmed[0] != '{':
		return errNotAnObject
	}
	d := &jsonDecoder{Decoder: json.NewDecoder(bytes.NewReader(body)), body: body, bad: bad}
	d.UseNumber()
	d.next()
	d.object(fields, m, "")
	if d.tooDeep {
		return errTooDeep
	}
	return nil
}

// jsonDecoder walks over a body that is known to be valid JSON. Every method that takes a token has had it read by the
// caller, and reads on to the end of the value that it begins.
type jsonDecoder struct {
	*json.Decoder
	body []byte
	bad  *problems
	// raw is the last token as it was written.
	raw     []byte
	depth   int
	tooDeep bool
}

// next reads a token. It is nil for null, and from there on for a body that is nested too deeply.
func (d *jsonDecoder) next() json.Token {
	before := d.InputOffset()
	token, err := d.Token()
	if err != nil {
		return nil
	}
	d.raw = bytes.TrimLeft(d.body[before:d.InputOffset()], " \t\r\n,:")
	switch token {
	case json.Delim('{'), json.Delim('['):
		d.depth++
		d.tooDeep = d.tooDeep || d.depth > maxDepth
	case json.Delim('}'), json.Delim(']'):
		d.depth--
	}
	return token
}

// more tells whether the object or array goes on, and reads its closing delimiter when it does not.
func (d *jsonDecoder) more() bool {
	if d.tooDeep {
		return false
	}
	if d.More() {
		return true
	}
	d.next()
	return false
}

// object reads the fields of an object whose brace was read. Without fields and message it skips it, names and all.
func (d *jsonDecoder) object(fields map[string]protoreflect.FieldDescriptor, m protoreflect.Message, path string) {
	seen := map[string]bool{}
	for d.more() {
		name, _ := d.next().(string)
		at := name
		if path != "" {
			at = path + "." + name
		}
		if seen[name] {
			d.bad.add(shorten(at), problemTwice)
			d.skip(d.next(), at)
			continue
		}
		seen[name] = true
		field := fields[name]
		token := d.next()
		switch {
		case field == nil:
			d.skip(token, at)
		case token == nil && proto.GetExtension(field.Options(), restv1.E_NullEmpties).(bool):
			m.Set(field, protoreflect.ValueOfString(""))
		case token == nil:
		case field.IsList():
			d.list(token, m.Mutable(field).List(), field, at)
		case field.Kind() == protoreflect.MessageKind:
			d.message(token, m, field, at)
		default:
			if v, problem := d.scalar(token, field, at); problem != "" {
				d.bad.add(at, problem)
			} else {
				m.Set(field, v)
			}
		}
	}
}

// message reads a message field. One that only wraps a repeated field `values` is a bare array in JSON: that is how an
// empty list differs from an absent one.
func (d *jsonDecoder) message(token json.Token, m protoreflect.Message, field protoreflect.FieldDescriptor, at string) {
	if values := wrapped(field.Message()); values != nil {
		d.list(token, m.Mutable(field).Message().Mutable(values).List(), values, at)
		return
	}
	if token != json.Delim('{') {
		d.bad.add(at, problemObject)
		d.skip(token, at)
		return
	}
	d.object(byJSONName(field.Message()), m.Mutable(field).Message(), at)
}

func (d *jsonDecoder) list(token json.Token, list protoreflect.List, field protoreflect.FieldDescriptor, at string) {
	if token != json.Delim('[') {
		d.bad.add(at, problemList)
		d.skip(token, at)
		return
	}
	for i := 0; d.more(); i++ {
		item := at + "[" + strconv.Itoa(i) + "]"
		token := d.next()
		if field.Kind() == protoreflect.MessageKind {
			if token != json.Delim('{') {
				d.bad.add(item, problemObject)
				d.skip(token, item)
				continue
			}
			d.object(byJSONName(field.Message()), list.AppendMutable().Message(), item)
			continue
		}
		if v, problem := d.scalar(token, field, item); problem != "" {
			d.bad.add(item, problem)
		} else {
			list.Append(v)
		}
	}
}

// scalar reads a single value, and skips over an object or array in its place.
func (d *jsonDecoder) scalar(token json.Token, field protoreflect.FieldDescriptor, at string) (v protoreflect.Value, problem string) {
	raw := d.raw
	d.skip(token, at)
	switch field.Kind() {
	case protoreflect.StringKind:
		if isDecimal(field) {
			number, ok := token.(json.Number)
			if !ok {
				return v, problemNumber
			}
			return protoreflect.ValueOfString(number.String()), ""
		}
		text, ok := token.(string)
		if !ok {
			return v, problemString
		}
		if loneSurrogate(raw) {
			return v, problemUTF8
		}
		return protoreflect.ValueOfString(text), textProblem(text)
	case protoreflect.BoolKind:
		b, ok := token.(bool)
		if !ok {
			return v, problemBool
		}
		return protoreflect.ValueOfBool(b), ""
	}
	number, ok := token.(json.Number)
	if !ok {
		return v, problemNumber
	}
	return parseNumber(field, number.String())
}

// skip reads to the end of the value that token begins. Names may not repeat in what is ignored either.
func (d *jsonDecoder) skip(token json.Token, at string) {
	switch token {
	case json.Delim('{'):
		d.object(nil, nil, at)
	case json.Delim('['):
		for d.more() {
			d.skip(d.next(), at)
		}
	}
}

// wrapped is the field `values` of a message that has no other, or nil.
func wrapped(d protoreflect.MessageDescriptor) protoreflect.FieldDescriptor {
	if d.Fields().Len() != 1 || !d.Fields().Get(0).IsList() {
		return nil
	}
	return d.Fields().ByName("values")
}

func byJSONName(d protoreflect.MessageDescriptor) map[string]protoreflect.FieldDescriptor {
	fields := make(map[string]protoreflect.FieldDescriptor, d.Fields().Len())
	for i := range d.Fields().Len() {
		fields[d.Fields().Get(i).JSONName()] = d.Fields().Get(i)
	}
	return fields
}

// parseNumber reads an integer or a double, written as in JSON.
func parseNumber(field protoreflect.FieldDescriptor, text string) (v protoreflect.Value, problem string) {
	switch field.Kind() {
	case protoreflect.Int32Kind, protoreflect.Int64Kind:
		bits := 64
		if field.Kind() == protoreflect.Int32Kind {
			bits = 32
		}
		if !restjson.IsNumber(text) || strings.ContainsAny(text, ".eE") {
			return v, problemInteger
		}
		// Of what is beyond the type it returns the nearest, and every field has narrower bounds of its own.
		n, _ := strconv.ParseInt(text, 10, bits)
		if bits == 32 {
			return protoreflect.ValueOfInt32(int32(n)), ""
		}
		return protoreflect.ValueOfInt64(n), ""
	case protoreflect.DoubleKind:
		if !restjson.IsNumber(text) {
			return v, problemNumber
		}
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsInf(f, 0) {
			return v, problemRange
		}
		return protoreflect.ValueOfFloat64(f), ""
	}
	return v, "cannot be given here"
}

func textProblem(text string) string {
	switch {
	case !utf8.ValidString(text):
		return problemUTF8
	case strings.IndexByte(text, 0) >= 0:
		return problemNUL
	}
	return ""
}

// loneSurrogate tells whether a JSON string escapes half of a surrogate pair, which encoding/json would quietly turn
// into U+FFFD.
func loneSurrogate(raw []byte) bool {
	for i := 0; i+1 < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		i++
		if raw[i] != 'u' {
			continue
		}
		unit := codeUnit(raw[i+1:])
		i += 4
		switch {
		case unit < 0xd800 || unit > 0xdfff:
		case unit >= 0xdc00 || !bytes.HasPrefix(raw[i+1:], []byte(`\u`)):
			return true
		default:
			if low := codeUnit(raw[i+3:]); low < 0xdc00 || low > 0xdfff {
				return true
			}
			i += 6
		}
	}
	return false
}

// codeUnit reads the four hexadecimal digits of an escape; the body was found to be valid JSON.
func codeUnit(hex []byte) uint64 {
	unit, _ := strconv.ParseUint(string(hex[:min(4, len(hex))]), 16, 16)
	return unit
}

// shorten keeps names that the caller made up from filling the answer.
func shorten(name string) string {
	const most = 100
	if len(name) <= most {
		return name
	}
	return strings.ToValidUTF8(name[:most], "") + "..."
}
