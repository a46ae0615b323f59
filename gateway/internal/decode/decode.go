// Package decode turns an HTTP request into the request message of an RPC.
//
// NewPlan reads from the options in the proto which field is in the path, a header, the query, the
// JSON body or the form. Plan.Decode then fills a message from a request, in this order:
//
//   - body.go checks the body's media type and limits its size.
//   - decode.go sets the fields of path, headers and cookies.
//   - query.go sets the fields of the query, and rejects unknown parameters.
//   - json.go reads a JSON body, with literal.go for its strings and numbers; multipart.go reads a
//     form, and upload.go the form of an upload, whose file it returns in pieces.
//   - problems.go collects the problems of all fields.
//
// One error names all invalid fields, with their paths, such as transactions[2].amount. The time
// and the memory of decoding are linear in the size of the request, and limited. protojson and
// grpc-gateway's parsers are not used, because their errors stop at the first problem, do not name
// the field and have no stable text (ADR 64).
//
// A message that Decode returns is well-formed, and not more: services check lengths, formats and
// references.
package decode

import (
	"net/http"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/coffer-budget/coffer/gateway/internal/cookie"
)

// invalidText stands for a value that the service must reject. It is not a valid date, number, id,
// code or enumeration value.
const invalidText = "\uFFFD"

// Decode returns the request message that r describes. path has the values of the fields in the
// path by their names in the proto. The errors are public, except the error of a request that
// ended.
//
// Path and headers are set first and the body last. A body cannot replace them, because a Plan has
// each field in one place only.
func (p *Plan) Decode(r *http.Request, path map[string]string) (proto.Message, error) {
	content, err := p.openBody(r)
	if err != nil {
		return nil, err
	}
	message := p.message.New()
	p.setPath(message, path)
	p.setHeaders(message, r)
	bad := &problems{}
	if err := p.decodeQuery(r.URL.RawQuery, message, bad); err != nil {
		return nil, err
	}
	if err := p.decodeBody(r, content, message, bad); err != nil {
		return nil, err
	}
	if err := bad.err(); err != nil {
		return nil, err
	}
	return message.Interface(), nil
}

// setPath sets the fields of the path, which take precedence over a body with fields of the same
// names. Protobuf cannot encode invalid UTF-8, so invalid bytes are replaced. The result is an
// invalid id, and each service has an error code for that.
func (p *Plan) setPath(m protoreflect.Message, path map[string]string) {
	for _, field := range p.path {
		m.Set(field, protoreflect.ValueOfString(toValidUTF8(path[string(field.Name())])))
	}
}

// setHeaders sets the fields of headers, of cookies and of the site. Repeated headers
// are joined, as HTTP defines it.
func (p *Plan) setHeaders(message protoreflect.Message, r *http.Request) {
	for _, h := range p.headers {
		if values := r.Header.Values(h.Name); len(values) > 0 {
			message.Set(h.Field,
				protoreflect.ValueOfString(toValidUTF8(strings.Join(values, ", "))))
		}
	}
	for kind, field := range p.cookies {
		message.Set(field, protoreflect.ValueOfString(toValidUTF8(cookie.Read(r, kind))))
	}
	if p.site != nil {
		message.Set(p.site, protoreflect.ValueOfString(toValidUTF8(cookie.Site(r))))
	}
}

func toValidUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, invalidText)
}
