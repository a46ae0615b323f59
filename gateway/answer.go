package gateway

import (
	"context"
	"fmt"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/coffer-budget/coffer/internal/restjson"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// answer turns an RPC's response into the HTTP answer that the method's success option describes: code, message and
// status, header fields, and the body as encoded JSON.
func answer(ctx context.Context, response proto.Message) (any, error) {
	x := exchangeOf(ctx)
	m := response.ProtoReflect()
	success, err := envelope(m, x.route.success)
	if err != nil {
		return nil, fmt.Errorf("answering %s: %w", x.route.method.FullName(), err)
	}
	body, err := x.body(m)
	if err != nil {
		return nil, fmt.Errorf("encoding the answer of %s: %w", x.route.method.FullName(), err)
	}
	for _, h := range restjson.Headers(m.Descriptor()) {
		if value := headerValue(m, h.Field); value != "" {
			x.header.Set(h.Name, value)
		}
	}
	x.success.status = int(success.GetHttpStatus())
	return body, nil
}

// buffers are what answers are encoded in: a page of a list is some 20 kB, which would else be found by doubling from nothing.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// maxBuffer is how much one of them may hold on to.
const maxBuffer = 64 << 10

// release ends the use of the answer's bytes.
func (x *exchange) release() {
	if x.encoded != nil && cap(*x.encoded) <= maxBuffer {
		buffers.Put(x.encoded)
	}
}

// body is the answer as JSON, unless it is a file.
func (x *exchange) body(m protoreflect.Message) ([]byte, error) {
	field := x.route.file
	if field == nil {
		x.encoded = buffers.Get().(*[]byte)
		body, err := restjson.Append((*x.encoded)[:0], m)
		*x.encoded = append(body, '\n')
		return *x.encoded, err
	}
	x.header.Set("Content-Type", proto.GetExtension(field.Options(), restv1.E_File).(string))
	// Files do not change. They are the user's own: no proxy may keep them, nor a browser show them to its next user.
	x.header.Set("Cache-Control", "private, max-age=3600")
	x.header.Add("Vary", "Authorization")
	return m.Get(field).Bytes(), nil
}

// envelope fills code and message, and returns the alternative that the answer is: the one whose code the service set,
// else the first. A response without these fields has no envelope.
func envelope(m protoreflect.Message, alternatives []*restv1.Success) (*restv1.Success, error) {
	fields := m.Descriptor().Fields()
	code, message := fields.ByName("code"), fields.ByName("message")
	if code == nil || message == nil {
		return alternatives[0], nil
	}
	chosen := alternatives[0]
	if set := m.Get(code).String(); set != "" {
		chosen = nil
		for _, s := range alternatives {
			if s.GetCode() == set {
				chosen = s
			}
		}
		if chosen == nil {
			return nil, fmt.Errorf("the code %q is none of its success options", set)
		}
	}
	m.Set(code, protoreflect.ValueOfString(chosen.GetCode()))
	if m.Get(message).String() == "" {
		m.Set(message, protoreflect.ValueOfString(chosen.GetMessage()))
	}
	return chosen, nil
}

// headerValue is what a header field says: a string as it is, a bool only when it is true. Empty: no header.
func headerValue(m protoreflect.Message, field protoreflect.FieldDescriptor) string {
	if field.Kind() == protoreflect.BoolKind {
		if m.Get(field).Bool() {
			return "true"
		}
		return ""
	}
	return m.Get(field).String()
}
