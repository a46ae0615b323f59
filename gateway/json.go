package gateway

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/coffer-budget/coffer/internal/restjson"
)

const (
	// maxDepth is far more than any request needs.
	maxDepth = 64
	// invalidText stands for a value that the service must reject. It is not a valid date, number, id, code or enumeration value.
	invalidText = "\uFFFD"
)

// decodeJSON fills m from a JSON object by the fields' types: a decimal takes a JSON number and keeps its digits, a
// string takes nothing but a string. null is as good as absent, unless an option says otherwise. Unknown names are skipped. An empty body is {}.
func decodeJSON(body []byte, fields fields, m protoreflect.Message, bad *problems) error {
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
	w := &walker{rest: trimmed, bad: bad}
	w.object(fields, m, "")
	if w.tooDeep {
		return errTooDeep
	}
	return nil
}

// walker walks over a body that is known to be valid JSON: what is to be told of each value, and the digits of numbers, is
// more than encoding/json keeps, and its tokens take longer than all the rest of a request's decoding. Every method but next
// begins where a value does, and ends behind it.
type walker struct {
	rest    []byte
	bad     *problems
	depth   int
	tooDeep bool
}

// next is the first byte of the next value, or of the closing delimiter.
func (w *walker) next() byte {
	i := 0
	for w.rest[i] <= ' ' || w.rest[i] == ',' || w.rest[i] == ':' {
		i++
	}
	w.rest = w.rest[i:]
	return w.rest[0]
}

// enter reads an opening delimiter.
func (w *walker) enter() {
	w.rest = w.rest[1:]
	w.depth++
	w.tooDeep = w.tooDeep || w.depth > maxDepth
}

// more tells whether the object or array goes on, and reads its closing delimiter when it does not. A body that is nested too
// deeply is not read any further.
func (w *walker) more() bool {
	if w.tooDeep {
		return false
	}
	if c := w.next(); c != '}' && c != ']' {
		return true
	}
	w.rest = w.rest[1:]
	w.depth--
	return false
}

// literal reads a value that is neither object nor array, as it is written.
func (w *walker) literal() []byte {
	n := 1
	if w.rest[0] == '"' {
		for ; w.rest[n] != '"'; n++ {
			if w.rest[n] == '\\' {
				n++
			}
		}
		n++
	} else {
		for n < len(w.rest) && bytes.IndexByte(behindLiterals, w.rest[n]) < 0 {
			n++
		}
	}
	raw := w.rest[:n]
	w.rest = w.rest[n:]
	return raw
}

var behindLiterals = []byte(" \t\r\n,]}")

// unquote is what a string literal says.
func unquote(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	// It is valid, so it can be read.
	_ = json.Unmarshal(raw, &s)
	return s
}

// object reads the fields of an object. Without fields and message it skips it, names and all.
func (w *walker) object(fields fields, m protoreflect.Message, path string) {
	w.enter()
	seen := make(map[string]bool, len(fields))
	for w.more() {
		name := unquote(w.literal())
		at := name
		if path != "" {
			at = path + "." + name
		}
		w.next()
		if seen[name] {
			w.bad.add(shorten(at), problemTwice)
			w.skip(at)
			continue
		}
		seen[name] = true
		if f := fields[name]; f != nil {
			w.field(f, m, at)
		} else {
			w.skip(at)
		}
	}
}

func (w *walker) field(f *field, m protoreflect.Message, at string) {
	switch {
	case w.rest[0] == 'n':
		w.literal()
		if f.nullEmpties {
			m.Set(f.FieldDescriptor, protoreflect.ValueOfString(""))
		}
	case f.IsList():
		w.list(f, m.Mutable(f.FieldDescriptor).List(), at)
	case f.values != nil:
		w.list(f.values, m.Mutable(f.FieldDescriptor).Message().Mutable(f.values.FieldDescriptor).List(), at)
	case f.Kind() == protoreflect.MessageKind && w.rest[0] == '{':
		w.object(f.fields, m.Mutable(f.FieldDescriptor).Message(), at)
	case f.Kind() == protoreflect.MessageKind:
		w.bad.add(at, problemObject)
		w.skip(at)
	default:
		if v, ok := w.scalar(f, at); ok {
			m.Set(f.FieldDescriptor, v)
		}
	}
}

func (w *walker) list(f *field, list protoreflect.List, at string) {
	if w.rest[0] != '[' {
		w.bad.add(at, problemList)
		w.skip(at)
		return
	}
	w.enter()
	for i := 0; w.more(); i++ {
		item := at + "[" + strconv.Itoa(i) + "]"
		switch {
		case f.Kind() == protoreflect.MessageKind && w.rest[0] == '{':
			w.object(f.fields, list.AppendMutable().Message(), item)
		case f.Kind() == protoreflect.MessageKind:
			w.bad.add(item, problemObject)
			w.skip(item)
		default:
			if v, ok := w.scalar(f, item); ok {
				list.Append(v)
			}
		}
	}
}

// scalar reads a single value, and skips an object or array in its place. A value that the service must reject is replaced by
// invalidText.
func (w *walker) scalar(f *field, at string) (v protoreflect.Value, ok bool) {
	var raw []byte
	if c := w.rest[0]; c == '{' || c == '[' {
		w.skip(at)
	} else {
		raw = w.literal()
	}
	v, problem := parseLiteral(f, raw)
	if f.forwardInvalid && (problem != "" || !f.HasPresence() && v.String() == "") {
		return protoreflect.ValueOfString(invalidText), true
	}
	if problem != "" {
		w.bad.add(at, problem)
	}
	return v, problem == ""
}

// parseLiteral reads a value as it is written; nothing is what no field can be.
func parseLiteral(f *field, raw []byte) (v protoreflect.Value, problem string) {
	isText := len(raw) > 0 && raw[0] == '"'
	switch {
	case f.Kind() == protoreflect.StringKind && !f.decimal:
		if !isText {
			return v, problemString
		}
		if loneSurrogate(raw) {
			return v, problemUTF8
		}
		text := unquote(raw)
		return protoreflect.ValueOfString(text), textProblem(text)
	case f.Kind() == protoreflect.BoolKind:
		is := string(raw) == "true"
		if !is && string(raw) != "false" {
			return v, problemBool
		}
		return protoreflect.ValueOfBool(is), ""
	case !restjson.IsNumber(string(raw)):
		return v, problemNumber
	case f.decimal:
		return protoreflect.ValueOfString(string(raw)), ""
	}
	return parseNumber(f, string(raw))
}

// skip reads to the end of a value. Names may not repeat in what is ignored either.
func (w *walker) skip(at string) {
	switch w.rest[0] {
	case '{':
		w.object(nil, nil, at)
	case '[':
		w.enter()
		for w.more() {
			w.skip(at)
		}
	default:
		w.literal()
	}
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
