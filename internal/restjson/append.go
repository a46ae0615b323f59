package restjson

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// span is the position of a field in an encoded message: of its value, or for lists and maps from
// the tag of the first value to the end of the last.
type span struct {
	start, end int
	sent       bool
}

func (s span) in(message []byte) []byte { return message[s.start:s.end] }

// usualFields is the number of fields for which spans need no allocation. No message of a list has
// more: a page has 50 of them.
const usualFields = 32

func (p *plan) append(out, message []byte) ([]byte, error) {
	// The array is on the stack.
	var room [usualFields]span
	spans := room[:]
	if len(p.fields) > len(room) {
		spans = make([]span, len(p.fields))
	}
	if err := p.find(message, spans); err != nil {
		return nil, err
	}
	// The fields of an Any are the type URL and the encoded message.
	if p.any {
		return appendAny(out, spans[0].in(message), spans[1].in(message))
	}
	if p.wrapper {
		return p.fields[0].append(out, spans[0].in(message))
	}
	out = append(out, '{')
	first := true
	for i := range p.fields {
		field, at := &p.fields[i], spans[i]
		if !at.sent && (field.omit || field.omitWith >= 0 && !spans[field.omitWith].sent) {
			continue
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = append(out, field.key...)
		var err error
		if out, err = field.append(out, at.in(message)); err != nil {
			return nil, fmt.Errorf("%s: %w", field.field.Name(), err)
		}
	}
	return append(out, '}'), nil
}

// find sets the spans of the fields. If a singular field occurs more than once, the last occurrence
// counts. It ignores fields that the message type does not have, for example of a newer release.
func (p *plan) find(message []byte, spans []span) error {
	for tag := 0; tag < len(message); {
		number, wireType, value, n := consume(message[tag:])
		if n < 0 {
			return protowire.ParseError(n)
		}
		end := tag + n
		if int(number) < len(p.byNumber) && p.byNumber[number] >= 0 {
			i := p.byNumber[number]
			switch {
			case wireType != p.fields[i].wireType:
				return fmt.Errorf("%s: %w", p.fields[i].field.Name(), errNotTheType)
			case !p.fields[i].many:
				spans[i] = span{end - len(value), end, true}
			case !spans[i].sent:
				spans[i] = span{tag, end, true}
			default:
				spans[i].end = end
			}
		}
		tag = end
	}
	return nil
}

// consume parses the field at the start of b. It returns its value without the length prefix, and
// the length size of the whole field. size is negative if the field is malformed.
func consume(b []byte) (number protowire.Number, wireType protowire.Type, value []byte, size int) {
	number, wireType, start := protowire.ConsumeTag(b)
	if start < 0 {
		return 0, 0, nil, start
	}
	if wireType == protowire.BytesType {
		value, size = protowire.ConsumeBytes(b[start:])
	} else if size = protowire.ConsumeFieldValue(number, wireType, b[start:]); size >= 0 {
		value = b[start : start+size]
	}
	if size < 0 {
		return 0, 0, nil, size
	}
	return number, wireType, value, start + size
}

func (f *plannedField) append(b, value []byte) ([]byte, error) {
	switch {
	case f.field.IsMap():
		return f.appendMap(b, value)
	case f.many:
		return f.appendList(b, value)
	}
	b, _, err := f.appendOne(b, value)
	return b, err
}

// each yields the values of a list or map. Other fields may be between them. find has checked that
// the fields are well-formed.
func (f *plannedField) each(fields []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for len(fields) > 0 {
			number, _, value, n := consume(fields)
			if number == f.number && !yield(value) {
				return
			}
			fields = fields[n:]
		}
	}
}

func (f *plannedField) appendList(out, fields []byte) ([]byte, error) {
	out = append(out, '[')
	first := true
	for value := range f.each(fields) {
		// A packed list has all its numbers in one value.
		for once := !f.packed; once || len(value) > 0; once = false {
			if !first {
				out = append(out, ',')
			}
			first = false
			var n int
			var err error
			if out, n, err = f.appendOne(out, value); err != nil {
				return nil, err
			}
			value = value[n:]
		}
	}
	return append(out, ']'), nil
}

// appendMap appends a map, whose keys must be strings, sorted by key. Of entries with the same key,
// the last one counts, as in protobuf.
func (f *plannedField) appendMap(out, fields []byte) ([]byte, error) {
	entry := planOf(f.field.Message())
	values := map[string][]byte{}
	for value := range f.each(fields) {
		var at [2]span
		if err := entry.find(value, at[:]); err != nil {
			return nil, err
		}
		values[string(at[0].in(value))] = at[1].in(value)
	}
	out = append(out, '{')
	for i, key := range slices.Sorted(maps.Keys(values)) {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendString(out, []byte(key)), ':')
		var err error
		if out, err = entry.fields[1].append(out, values[key]); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

// appendOne appends the value at the start of value and returns its length in the wire format. An
// empty value stands for a field that is not set.
func (f *plannedField) appendOne(out, value []byte) ([]byte, int, error) {
	switch f.kind {
	case protoreflect.StringKind:
		switch {
		case !f.decimal:
			return appendString(out, value), len(value), nil
		case !IsNumber(value):
			return nil, 0, errNotANumber
		}
		return append(out, value...), len(value), nil
	case protoreflect.MessageKind:
		b, err := AppendEncoded(out, f.field.Message(), value)
		return b, len(value), err
	case protoreflect.DoubleKind:
		v, n := protowire.ConsumeFixed64(value)
		double := math.Float64frombits(v)
		if math.IsNaN(double) || math.IsInf(double, 0) {
			return nil, 0, errNotANumber
		}
		return appendDouble(out, double), n, broken(value, n)
	case protoreflect.BoolKind:
		v, n := protowire.ConsumeVarint(value)
		return strconv.AppendBool(out, protowire.DecodeBool(v)), n, broken(value, n)
	case protoreflect.Int32Kind, protoreflect.Int64Kind:
		v, n := protowire.ConsumeVarint(value)
		return strconv.AppendInt(out, int64(v), 10), n, broken(value, n)
	}
	return nil, 0, fmt.Errorf("fields of the kind %s have no JSON form", f.kind)
}

func broken(value []byte, n int) error {
	if len(value) > 0 && n < 0 {
		return protowire.ParseError(n)
	}
	return nil
}

func appendAny(b, url, message []byte) ([]byte, error) {
	of, err := protoregistry.GlobalTypes.FindMessageByURL(string(url))
	if err != nil {
		return nil, fmt.Errorf("unpacking %q: %w", url, err)
	}
	return AppendEncoded(b, of.Descriptor(), message)
}
