// Package restjson writes messages as the JSON that REST clients see: answers, live events and webhook bodies alike.
package restjson

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"

	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// errNotANumber is a bug of the service that filled the message.
var errNotANumber = errors.New("not a number")

// Append writes m as a JSON object after b: fields in the order of the proto file without those that travel in headers,
// 64-bit integers and decimals as numbers, the message in an Any as it is. The output is deterministic.
//
// protojson is not used because it writes int64 and our decimal strings as strings, spaces at random, and takes three
// times as long.
func Append(b []byte, m protoreflect.Message) ([]byte, error) {
	if m.Descriptor().FullName() == anyName {
		return appendAny(b, m)
	}
	return planOf(m.Descriptor()).append(b, m)
}

// Header is a field that travels in a header.
type Header struct {
	Name  string
	Field protoreflect.FieldDescriptor
}

// Headers lists the fields of a message that travel in headers.
func Headers(d protoreflect.MessageDescriptor) []Header { return planOf(d).headers }

// plan is how messages of one type are written.
type plan struct {
	fields  []plannedField
	headers []Header
}

type plannedField struct {
	field protoreflect.FieldDescriptor
	// key is the field's name with quotes and colon.
	key    string
	number bool
	// omit leaves the field out when it is unset or, with the option omit_empty, empty.
	omit bool
}

// plans caches them by the message's full name.
var plans sync.Map

func planOf(d protoreflect.MessageDescriptor) *plan {
	if known, ok := plans.Load(d.FullName()); ok {
		return known.(*plan)
	}
	p := &plan{}
	for i := range d.Fields().Len() {
		field := d.Fields().Get(i)
		options := field.Options()
		if name := proto.GetExtension(options, restv1.E_Header).(string); name != "" {
			p.headers = append(p.headers, Header{name, field})
			continue
		}
		p.fields = append(p.fields, plannedField{
			field: field, key: string(appendString(nil, field.JSONName())) + ":",
			number: proto.GetExtension(options, restv1.E_Number).(bool),
			omit:   field.HasPresence() || proto.GetExtension(options, restv1.E_OmitEmpty).(bool),
		})
	}
	plans.Store(d.FullName(), p)
	return p
}

func (p *plan) append(b []byte, m protoreflect.Message) ([]byte, error) {
	b = append(b, '{')
	first := true
	for i := range p.fields {
		f := &p.fields[i]
		if f.omit && !m.Has(f.field) {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(b, f.key...)
		var err error
		if b, err = f.append(b, m.Get(f.field)); err != nil {
			return nil, fmt.Errorf("%s: %w", f.field.Name(), err)
		}
	}
	return append(b, '}'), nil
}

func (f *plannedField) append(b []byte, v protoreflect.Value) ([]byte, error) {
	switch {
	case f.field.IsMap():
		return f.appendMap(b, v.Map())
	case f.field.IsList():
		var err error
		b = append(b, '[')
		for i := range v.List().Len() {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = f.appendOne(b, v.List().Get(i), f.field); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	}
	return f.appendOne(b, v, f.field)
}

func (f *plannedField) appendMap(b []byte, m protoreflect.Map) ([]byte, error) {
	keys := make([]string, 0, m.Len())
	for k := range m.Range {
		keys = append(keys, k.String())
	}
	slices.Sort(keys)
	b = append(b, '{')
	for i, k := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, k), ':')
		var err error
		if b, err = f.appendOne(b, m.Get(protoreflect.ValueOfString(k).MapKey()), f.field.MapValue()); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func (f *plannedField) appendOne(b []byte, v protoreflect.Value, field protoreflect.FieldDescriptor) ([]byte, error) {
	switch field.Kind() {
	case protoreflect.StringKind:
		if !f.number {
			return appendString(b, v.String()), nil
		}
		if !IsNumber(v.String()) {
			return nil, errNotANumber
		}
		return append(b, v.String()...), nil
	case protoreflect.BoolKind:
		return strconv.AppendBool(b, v.Bool()), nil
	case protoreflect.Int32Kind, protoreflect.Int64Kind:
		return strconv.AppendInt(b, v.Int(), 10), nil
	case protoreflect.DoubleKind:
		if math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0) {
			return nil, errNotANumber
		}
		return appendDouble(b, v.Float()), nil
	case protoreflect.MessageKind:
		return Append(b, v.Message())
	}
	return nil, fmt.Errorf("fields of the kind %s have no JSON form", field.Kind())
}

const anyName = protoreflect.FullName("google.protobuf.Any")

func appendAny(b []byte, m protoreflect.Message) ([]byte, error) {
	packed, ok := m.Interface().(*anypb.Any)
	if !ok {
		return nil, fmt.Errorf("an Any of the type %T", m.Interface())
	}
	inner, err := packed.UnmarshalNew()
	if err != nil {
		return nil, fmt.Errorf("unpacking %s: %w", packed.GetTypeUrl(), err)
	}
	return Append(b, inner.ProtoReflect())
}

// appendDouble writes the shortest decimal that is read back as f, without an exponent where people expect none.
func appendDouble(b []byte, f float64) []byte {
	if size := math.Abs(f); size != 0 && (size < 1e-6 || size >= 1e21) {
		return strconv.AppendFloat(b, f, 'e', -1, 64)
	}
	return strconv.AppendFloat(b, f, 'f', -1, 64)
}

const hexDigits = "0123456789abcdef"

// appendString writes s as a JSON string. U+2028 and U+2029 are escaped, for they end lines in older JavaScript.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		size := 1
		if c >= utf8.RuneSelf {
			var r rune
			r, size = utf8.DecodeRuneInString(s[i:])
			if r != '\u2028' && r != '\u2029' && (r != utf8.RuneError || size > 1) {
				i += size
				continue
			}
			b = append(b, s[start:i]...)
			b = append(b, `\u`...)
			for shift := 12; shift >= 0; shift -= 4 {
				b = append(b, hexDigits[r>>shift&0xf])
			}
		} else {
			b = append(b, s[start:i]...)
			b = appendEscaped(b, c)
		}
		i += size
		start = i
	}
	return append(append(b, s[start:]...), '"')
}

func appendEscaped(b []byte, c byte) []byte {
	if i := strings.IndexByte("\"\\\n\r\t", c); i >= 0 {
		return append(b, '\\', `"\nrt`[i])
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
}

// IsNumber tells whether s is a number as RFC 8259 writes it.
func IsNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	whole := digits(s)
	if whole == 0 || whole > 1 && s[0] == '0' {
		return false
	}
	s = s[whole:]
	if strings.HasPrefix(s, ".") {
		fraction := digits(s[1:])
		if fraction == 0 {
			return false
		}
		s = s[1+fraction:]
	}
	if s == "" {
		return true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return false
	}
	s = s[1:]
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	return s != "" && digits(s) == len(s)
}

// digits counts the decimal digits that s begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}
