package erasure

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"
)

// anonymize replaces the id of the user by the nil UUID, and the e-mail by an empty text, in all
// fields of a message.
func (e erasure) anonymize(m protoreflect.Message) {
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.IsList() && field.Message() != nil:
			for i := range value.List().Len() {
				e.anonymize(value.List().Get(i).Message())
			}
		case field.IsList() || field.IsMap():
		case field.Message() != nil:
			e.anonymize(value.Message())
		case field.Kind() != protoreflect.StringKind:
		case value.String() == e.UserID.String():
			m.Set(field, protoreflect.ValueOfString(uuid.Nil.String()))
		case value.String() == e.Email:
			m.Set(field, protoreflect.ValueOfString(""))
		}
		return true
	})
}

// anonymousEvent replaces the user in an encoded google.protobuf.Any.
func (e erasure) anonymousEvent(encoded []byte) ([]byte, error) {
	var packed anypb.Any
	if err := proto.Unmarshal(encoded, &packed); err != nil {
		return nil, fmt.Errorf("decoding a notification: %w", err)
	}
	event, err := packed.UnmarshalNew()
	if err != nil {
		return nil, fmt.Errorf("decoding a notification: %w", err)
	}
	e.anonymize(event.ProtoReflect())
	if err := packed.MarshalFrom(event); err != nil {
		return nil, fmt.Errorf("encoding a notification: %w", err)
	}
	return proto.Marshal(&packed)
}

// anonymousBody replaces the user in the JSON of a delivery. The encoder escapes some characters of
// e-mails, so both forms are replaced.
func (e erasure) anonymousBody(body []byte) ([]byte, error) {
	escaped, err := json.Marshal(e.Email)
	if err != nil {
		return nil, fmt.Errorf("encoding an e-mail: %w", err)
	}
	body = bytes.ReplaceAll(body, []byte(e.UserID.String()), []byte(uuid.Nil.String()))
	body = bytes.ReplaceAll(body, escaped, []byte(`""`))
	return bytes.ReplaceAll(body, []byte(`"`+e.Email+`"`), []byte(`""`)), nil
}
