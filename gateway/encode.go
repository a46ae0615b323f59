package gateway

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// answerPlan is how messages of one type are written as JSON. protojson is not used because it writes int64 and our
// decimal strings as strings, spaces at random, and takes three times as long.
type answerPlan struct {
	fields  []answerField
	headers []headerField
}

// headerField is a field that travels in a header.
type headerField struct {
	name  string
	field protoreflect.FieldDescriptor
}

type answerField struct {
	field protoreflect.FieldDescriptor
	// key is the field's name with quotes and colon.
	key    string
	number bool
	// omit leaves the field out when it is unset or, with the option omit_empty, empty.
	omit bool
}

// answerPlans caches plans by the message's full name.
var answerPlans sync.Map

func answerPlanOf(d protoreflect.MessageDescriptor) *answerPlan {
	if plan, ok := answerPlans.Load(d.FullName()); ok {
		return plan.(*answerPlan)
	}
	plan := &answerPlan{}
	for i := range d.Fields().Len() {
		field := d.Fields().Get(i)
		options := field.Options()
		if name := proto.GetExtension(options, restv1.E_Header).(string); name != "" {
			plan.headers = append(plan.headers, headerField{name, field})
			continue
		}
		plan.fields = append(plan.fields, answerField{
			field: field, key: string(appendString(nil, field.JSONName())) + ":",
			number: proto.GetExtension(options, restv1.E_Number).(bool),
			omit:   field.HasPresence() || proto.GetExtension(options, restv1.E_OmitEmpty).(bool),
		})
	}
	answerPlans.Store(d.FullName(), plan)
	return plan
}

// append writes m as a JSON object. Fields come in the order of the proto file; the output is deterministic.
func (p *answerPlan) append(b []byte, m protoreflect.Message) ([]byte, error) {
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

func (f *answerField) append(b []byte, v protoreflect.Value) ([]byte, error) {
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

func (f *answerField) appendMap(b []byte, m protoreflect.Map) ([]byte, error) {
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

func (f *answerField) appendOne(b []byte, v protoreflect.Value, field protoreflect.FieldDescriptor) ([]byte, error) {
	switch field.Kind() {
	case protoreflect.StringKind:
		if !f.number {
			return appendString(b, v.String()), nil
		}
		if !isNumber(v.String()) {
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
		return answerPlanOf(field.Message()).append(b, v.Message())
	}
	return nil, fmt.Errorf("fields of the kind %s have no JSON form", field.Kind())
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

// isNumber tells whether s is a number as RFC 8259 writes it.
func isNumber(s string) bool {
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
