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

// answer converts an RPC's reply to the HTTP response that the method's success option describes: code, message, status, header
// fields and the JSON body. The reply is in the requestState, and the message that grpc-gateway passes is empty.
func answer(ctx context.Context, _ proto.Message) (any, error) {
	x := stateOf(ctx)
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

// buffers pools the buffers of replies and response bodies. A page of a list has about 20 kB; without the pool, each request
// would grow a new buffer by doubling.
var buffers = sync.Pool{New: func() any { return new(rpc.Encoded) }}

// maxBuffer is the capacity in bytes above which a buffer is not returned to the pool.
const maxBuffer = 64 << 10

// release returns the buffers of the reply and the body to the pool. Neither may be used afterwards.
func (x *requestState) release() {
	for _, b := range []*rpc.Encoded{x.reply, x.body} {
		if b != nil && cap(*b) <= maxBuffer {
			buffers.Put(b)
		}
	}
}

// encode returns the body of the response: a file as it is, or the reply as JSON.
func (x *requestState) encode() ([]byte, error) {
	field := x.route.file
	if field == nil {
		x.body = buffers.Get().(*rpc.Encoded)
		body, err := restjson.AppendEncoded((*x.body)[:0], x.route.method.Output(), *x.reply)
		*x.body = append(body, '\n')
		return *x.body, err
	}
	x.header.Set("Content-Type", proto.GetExtension(field.Options(), restv1.E_File).(string))
	// Files never change. They belong to one user: proxies must not cache them, and a browser must not show them to its next user.
	x.header.Set("Cache-Control", "private, max-age=3600")
	x.header.Add("Vary", "Authorization")
	return restjson.Value(*x.reply, field).Bytes(), nil
}

// envelope sets code and message in the reply and returns the success option that applies: the one whose code the service set,
// otherwise the first. A reply without these fields has no envelope. The fields are appended to the encoded reply, because the
// last occurrence of a field counts.
func (x *requestState) envelope() (*restv1.Success, error) {
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

// headerValue returns the text of a header field: a string as it is, "true" for a true bool. If it is empty, no header is sent.
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
