// Package restjson writes messages as the JSON that REST clients see: answers, live events and webhook bodies alike.
package restjson

import (
	"errors"
	"fmt"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// Bugs of the service that filled the message.
var (
	errNotANumber = errors.New("not a number")
	errNotTheType = errors.New("not of the field's type")
)

// Append writes m as a JSON object after b, as AppendEncoded does.
func Append(b []byte, m proto.Message) ([]byte, error) {
	encoded, err := proto.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", m.ProtoReflect().Descriptor().FullName(), err)
	}
	return AppendEncoded(b, m.ProtoReflect().Descriptor(), encoded)
}

// AppendEncoded writes a message that is in protobuf's wire format as a JSON object after b: fields in the order of the proto
// file without those that travel in headers, 64-bit integers and decimals as numbers, the message in an Any as it is. The
// output is deterministic.
//
// protojson is not used because it writes int64 and our decimal strings as strings, and spaces at random. Besides, no message
// is made of what is only to be written again, which takes a fifth of the time.
func AppendEncoded(b []byte, d protoreflect.MessageDescriptor, encoded []byte) ([]byte, error) {
	return planOf(d).append(b, encoded)
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
	// byNumber has the place in fields, and -1 for numbers without a field.
	byNumber []int
	// any tells that the message is the one in it.
	any bool
}

type plannedField struct {
	field  protoreflect.FieldDescriptor
	number protowire.Number
	kind   protoreflect.Kind
	// wireType is how it is sent.
	wireType protowire.Type
	// many is for lists and maps; the values of a packed list follow each other without tags.
	many, packed bool
	// key is the field's name with quotes and colon.
	key string
	// decimal is a string that is a number in JSON.
	decimal bool
	// omit leaves the field out when it is unset or, with the option omit_empty, empty.
	omit bool
}

// plans caches them by the message's full name.
var plans sync.Map

func planOf(d protoreflect.MessageDescriptor) *plan {
	if known, ok := plans.Load(d.FullName()); ok {
		return known.(*plan)
	}
	p := &plan{any: d.FullName() == "google.protobuf.Any"}
	for i := range d.Fields().Len() {
		field := d.Fields().Get(i)
		options := field.Options()
		if name := proto.GetExtension(options, restv1.E_Header).(string); name != "" {
			p.headers = append(p.headers, Header{name, field})
			continue
		}
		for len(p.byNumber) <= int(field.Number()) {
			p.byNumber = append(p.byNumber, -1)
		}
		p.byNumber[field.Number()] = len(p.fields)
		p.fields = append(p.fields, plannedField{
			field: field, number: field.Number(), kind: field.Kind(), wireType: wireType(field), many: field.IsList() || field.IsMap(), packed: field.IsPacked(),
			key:     string(appendString(nil, []byte(field.JSONName()))) + ":",
			decimal: proto.GetExtension(options, restv1.E_Number).(bool),
			omit:    field.HasPresence() || proto.GetExtension(options, restv1.E_OmitEmpty).(bool),
		})
	}
	plans.Store(d.FullName(), p)
	return p
}

func wireType(field protoreflect.FieldDescriptor) protowire.Type {
	switch {
	case field.IsPacked():
		return protowire.BytesType
	case field.Kind() == protoreflect.DoubleKind:
		return protowire.Fixed64Type
	case field.Kind() == protoreflect.StringKind, field.Kind() == protoreflect.BytesKind, field.Kind() == protoreflect.MessageKind:
		return protowire.BytesType
	}
	return protowire.VarintType
}

// Value is what a field of an encoded message has: a string, bytes, or a bool. It is empty, or false, where it was not sent.
func Value(encoded []byte, field protoreflect.FieldDescriptor) protoreflect.Value {
	var found []byte
	for len(encoded) > 0 {
		number, _, value, n := consume(encoded)
		if n < 0 {
			break
		}
		if number == field.Number() {
			found = value
		}
		encoded = encoded[n:]
	}
	switch field.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(len(found) == 1 && found[0] == 1)
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes(found)
	}
	return protoreflect.ValueOfString(string(found))
}
