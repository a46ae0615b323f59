package transcoding

import (
	"fmt"
	"net/http"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/coffer-budget/coffer/gateway/internal/cookie"
	"github.com/coffer-budget/coffer/gateway/internal/response"
	"github.com/coffer-budget/coffer/internal/restjson"
	"github.com/coffer-budget/coffer/internal/rpc"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// encode converts an RPC's reply to the response that the options in the proto describe. It adds
// code and message to reply, and uses buffer for the body. If it fails, header is unchanged.
func encode(
	served *Route, reply, buffer *rpc.Encoded, header http.Header,
) (status int, body []byte, err error) {
	success, err := envelope(served, reply)
	if err != nil {
		return 0, nil, err
	}
	if served.file != nil {
		body = encodeFile(*reply, served.file, header)
	} else {
		body, err = restjson.AppendEncoded((*buffer)[:0], served.Method.Output(), *reply)
		if err != nil {
			return 0, nil, err
		}
		body = append(body, '\n')
		*buffer = body
		header.Set("Content-Type", response.JSON)
	}
	for _, h := range restjson.Headers(served.Method.Output()) {
		if value := headerValue(*reply, h.Field); value != "" {
			header.Set(h.Name, value)
		}
	}
	if served.location != nil && success.GetHttpStatus() == http.StatusCreated {
		if path := served.location.path(*reply); path != "" {
			header.Set("Location", path)
		}
	}
	return int(success.GetHttpStatus()), body, nil
}

// envelope sets code and message in the reply and returns the success option that applies: the one
// whose code the service set, otherwise the first. A reply without these fields has no envelope.
// The fields are appended to the encoded reply, because the last occurrence of a field counts.
func envelope(served *Route, reply *rpc.Encoded) (*restv1.Success, error) {
	fields := served.Method.Output().Fields()
	code, message := fields.ByName("code"), fields.ByName("message")
	chosen := served.success[0]
	if code == nil || message == nil {
		return chosen, nil
	}
	if set := restjson.Value(*reply, code).String(); set != "" {
		chosen = nil
		for _, s := range served.success {
			if s.GetCode() == set {
				chosen = s
			}
		}
		if chosen == nil {
			return nil, fmt.Errorf("the code %q is none of its success options", set)
		}
	}
	*reply = appendText(*reply, code, chosen.GetCode())
	if restjson.Value(*reply, message).String() == "" {
		*reply = appendText(*reply, message, chosen.GetMessage())
	}
	return chosen, nil
}

func appendText(encoded []byte, field protoreflect.FieldDescriptor, text string) []byte {
	encoded = protowire.AppendTag(encoded, field.Number(), protowire.BytesType)
	return protowire.AppendString(encoded, text)
}

// encodeFile returns the field of the reply that is the body as it is, and sets its headers.
func encodeFile(reply []byte, field protoreflect.FieldDescriptor, header http.Header) []byte {
	header.Set("Content-Type", proto.GetExtension(field.Options(), restv1.E_File).(string))
	// Files never change. They belong to one user: proxies must not cache them, and a browser must
	// not show them to its next user.
	header.Set("Cache-Control", "private, max-age=3600")
	header.Add("Vary", "Authorization")
	return restjson.Value(reply, field).Bytes()
}

// headerValue returns the text of a header field: a string as it is, "true" for a true bool. If it
// is empty, no header is sent.
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

// setCookies changes the cookies of the browser for which the reply contains a change. Only
// sign-in, refresh and sign-out have such fields (ADR 74, ADR 140).
func setCookies(served *Route, reply []byte, request *http.Request, header http.Header) error {
	for _, field := range served.cookies {
		encoded := restjson.Value(reply, field).Bytes()
		if len(encoded) == 0 {
			continue
		}
		change := &restv1.Cookie{}
		if err := proto.Unmarshal(encoded, change); err != nil {
			return fmt.Errorf("decoding the cookie of %s: %w", served.Method.FullName(), err)
		}
		cookie.Set(header, request, cookie.KindOf(field), change)
	}
	return nil
}

// buffers pools the buffers of replies and bodies: a page of a list has about 20 kB.
var buffers = sync.Pool{New: func() any { return new(rpc.Encoded) }}

// maxBuffer is the capacity in bytes above which a buffer is not returned to the pool.
const maxBuffer = 64 << 10

// newBuffer returns a buffer that may contain the bytes of an earlier request.
func newBuffer() *rpc.Encoded { return buffers.Get().(*rpc.Encoded) }

// release returns buffers to the pool. They may not be used afterwards.
func release(used ...*rpc.Encoded) {
	for _, b := range used {
		if cap(*b) <= maxBuffer {
			buffers.Put(b)
		}
	}
}
