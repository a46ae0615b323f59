package main

import (
	"net/http"
	"strconv"
	"strings"

	"google.golang.org/protobuf/compiler/protogen"

	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// responses returns the responses by status: the successes in the option success, then the errors.
// The description of a success is the message in its envelope, or the name of the status for
// responses without an envelope. Successes with the same status share a response.
func (g *generator) responses(o *operation) (object, error) {
	responses := object{}
	for _, s := range o.success {
		body, mediaType := g.answer(o, s.GetPreview())
		g.setCode(body, s.GetCode())
		text := s.GetMessage()
		if text == "" {
			text = http.StatusText(int(s.GetHttpStatus()))
		}
		status := strconv.Itoa(int(s.GetHttpStatus()))
		if other, ok := responses[status].(object); ok {
			text = other["description"].(string) + ", or: " + text
		}
		responses[status] = object{
			"description": text, "headers": g.responseHeaders(o, int(s.GetHttpStatus())),
			"content": object{mediaType: object{"schema": body}},
		}
	}
	if o.conditional {
		responses[strconv.Itoa(http.StatusNotModified)] = object{
			"description": "The response is the one whose ETag is in If-None-Match",
			"headers":     g.responseHeaders(o, http.StatusNotModified),
		}
	}
	return responses, g.failures(o, responses)
}

// setCode restricts the code of an envelope. Several successes of an operation may share a schema,
// which then has all their codes. It changes the schema that answer has defined, and does nothing
// for files and streams, because they have no envelope.
func (g *generator) setCode(body object, code string) {
	name, _ := body["$ref"].(string)
	answer, _ := g.schemas[strings.TrimPrefix(name, schemas)].(object)
	properties, _ := answer["properties"].(object)
	if properties["code"] == nil || code == "" {
		return
	}
	known, _ := properties["code"].(object)["enum"].([]string)
	properties["code"] = object{
		"type": "string", "enum": append(known, code), "description": envelope["code"],
	}
}

// answer returns the schema of a success: JSON, the events of a stream, or a file.
func (g *generator) answer(o *operation, preview bool) (schema object, mediaType string) {
	method := o.method
	if o.download {
		// The type depends on the file.
		return object{"type": "string", "format": "binary"}, "*/*"
	}
	if method.Desc.IsStreamingServer() {
		return g.streamed(method.Output), "text/event-stream"
	}
	for _, field := range method.Output.Fields {
		if mediaType := stringOption(field, restv1.E_File); mediaType != "" {
			return g.described(field), mediaType
		}
	}
	return g.variant(method.Output, preview), "application/json"
}

// streamed returns the schema of the data of each server-sent event: the message in the response.
func (g *generator) streamed(m *protogen.Message) object {
	for _, field := range m.Fields {
		if field.Message != nil {
			return g.message(field.Message)
		}
	}
	return g.message(m)
}

// responseHeaders returns the headers of a success: the request's id and the fields of the response
// that are headers, such as ETag.
func (g *generator) responseHeaders(o *operation, status int) object {
	headers := object{"X-Request-Id": requestIDHeader()}
	if status == http.StatusCreated {
		headers["Location"] = object{
			"description": "Path of the created resource, if it has one.",
			"schema":      object{"type": "string"},
		}
	}
	if o.conditional {
		headers["ETag"] = object{
			"description": "Identifies the body, for If-None-Match.",
			"schema":      object{"type": "string"},
		}
	}
	if o.download {
		headers["Content-Disposition"] = object{
			"description": "Always attachment, with the name of the file (RFC 6266).",
			"schema":      object{"type": "string"},
		}
	}
	for _, field := range o.method.Output.Fields {
		if name := stringOption(field, restv1.E_Header); name != "" {
			headers[name] = object{
				"description": comment(field.Comments.Leading), "schema": object{"type": "string"},
			}
		}
		if isCookie(field) {
			headers["Set-Cookie"] = object{
				"description": comment(field.Comments.Leading), "schema": object{"type": "string"},
			}
		}
	}
	g.useHeaders(headers)
	return headers
}

// isCookie reports whether a field is sent in a cookie.
func isCookie(field *protogen.Field) bool {
	return boolOption(field, restv1.E_Cookie) || boolOption(field, restv1.E_FlowCookie)
}

// isFileHeader reports whether a field describes a streamed file.
func isFileHeader(field *protogen.Field) bool {
	return field.Message != nil && field.Message.Desc.FullName() ==
		(&restv1.FileHeader{}).ProtoReflect().Descriptor().FullName()
}

// requestIDHeader describes the header that every response has.
func requestIDHeader() object {
	return object{"description": "The request's id.", "schema": object{"type": "string"}}
}
