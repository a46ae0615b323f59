package gateway

import (
	"context"
	"fmt"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/coffer-budget/coffer/internal/restjson"
	"github.com/coffer-budget/coffer/internal/rpc"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// answer turns an RPC's reply into the HTTP answer that the method's success option describes: code, message and status,
// header fields, and the body as encoded JSON. The reply is in the exchange; grpc-gateway's own is empty.
func answer(ctx context.Context, _ proto.Message) (any, error) {
	x := exchangeOf(ctx)
	success, err := x.envelope()
	if err != nil {
		return nil, fmt.Errorf("answering %s: %w", x.route.method.FullName(), err)
	}
	body, err := x.encode()
	if err != nil {
		return nil, fmt.Errorf("encoding the answer of %s: %w", x.route.method.FullName(), err)
	}
	for _, h := range restjson.Headers(x.route.method.Output()) {
		if value := headerValue(*x.reply, h.Field); value != "" {
			x.header.Set(h.Name, value)
		}
	}
	x.success.status = int(success.GetHttpStatus())
	return body, nil
}

// buffers are what replies and answers are in: a page of a list is some 20 kB, which would else be found by doubling from
// nothing.
var buffers = sync.Pool{New: func() any { return new(rpc.Encoded) }}

// maxBuffer is how much one of them may hold on to.
const maxBuffer = 64 << 10

// release ends the use of the reply's and the answer's bytes.
func (x *exchange) release() {
	for _, b := range []*rpc.Encoded{x.reply, x.body} {
		if b != nil && cap(*b) <= maxBuffer {
			buffers.Put(b)
		}
	}
}

// encode is the answer as JSON, unless it is a file.
func (x *exchange) encode() ([]byte, error) {
	field := x.route.file
	if field == nil {
		x.body = buffers.Get().(*rpc.Encoded)
		body, err := restjson.AppendEncoded((*x.body)[:0], x.route.method.Output(), *x.reply)
		*x.body = append(body, '\n')
		return *x.body, err
	}
	x.header.Set("Content-Type", proto.GetExtension(field.Options(), restv1.E_File).(string))
	// Files do not change. They are the user's own: no proxy may keep them, nor a browser show them to its next user.
	x.header.Set("Cache-Control", "private, max-age=3600")
	x.header.Add("Vary", "Authorization")
	return restjson.Value(*x.reply, field).Bytes(), nil
}

// envelope fills code and message, and returns the alternative that the answer is: the one whose code the service set,
// else the first. A reply without these fields has no envelope. Of a field that is twice in a message the last one counts,
// so that they are put behind the others.
func (x *exchange) envelope() (*restv1.Success, error) {
	fields := x.route.method.Output().Fields()
	code, message := fields.ByName("code"), fields.ByName("message")
	chosen := x.route.success[0]
	if code == nil || message == nil {
		return chosen, nil
	}
	if set := restjson.Value(*x.reply, code).String(); set != "" {
		chosen = nil
		for _, s := range x.route.success {
			if s.GetCode() == set {
				chosen = s
			}
		}
		if chosen == nil {
			return nil, fmt.Errorf("the code %q is none of its success options", set)
		}
	}
	*x.reply = appendText(*x.reply, code, chosen.GetCode())
	if restjson.Value(*x.reply, message).String() == "" {
		*x.reply = appendText(*x.reply, message, chosen.GetMessage())
	}
	return chosen, nil
}

func appendText(encoded []byte, field protoreflect.FieldDescriptor, text string) []byte {
	return protowire.AppendString(protowire.AppendTag(encoded, field.Number(), protowire.BytesType), text)
}

// headerValue is what a header field says: a string as it is, a bool only when it is true. Empty: no header.
func headerValue(reply []byte, field protoreflect.FieldDescriptor) string {
	value := restjson.Value(reply, field)
	if field.Kind() != protoreflect.BoolKind {
		return value.String()
	}
	if value.Bool() {
		return "true"
	}
	return ""
}
