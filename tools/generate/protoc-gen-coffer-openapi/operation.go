package main

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// operation is an RPC that has a route.
type operation struct {
	method *protogen.Method
	// verb is the HTTP method in lower case, as the document has it.
	verb string
	// path has its parameters by JSON name.
	path string
	// inPath has the proto names of the fields in the path.
	inPath []string
	// body reports that the request has a body. Fields are query parameters otherwise.
	body bool
	// multipart reports that the body is a form with a file. upload reports that the file is
	// streamed, so that it must be the last part.
	multipart, upload bool
	// download reports that the response is a streamed file.
	download bool
	// conditional reports that responses have an ETag of their body, and that If-None-Match is
	// supported.
	conditional bool
	// public reports that the operation needs no access token.
	public bool
	// success lists the successful responses, the usual one first.
	success []*restv1.Success
}

// parameter matches a parameter in the path of google.api.http, for example {budget_id}. Its name
// is the proto name of a field.
var parameter = regexp.MustCompile(`\{(\w+)\}`)

// newOperation reads the options of an RPC with a REST path. It replaces the proto names in the
// path by JSON names, because clients see only these.
func newOperation(method *protogen.Method) (*operation, error) {
	options := method.Desc.Options()
	rule := proto.GetExtension(options, annotations.E_Http).(*annotations.HttpRule)
	o := &operation{
		method:      method,
		body:        rule.GetBody() == "*",
		multipart:   proto.GetExtension(options, restv1.E_Multipart).(bool),
		upload:      proto.GetExtension(options, restv1.E_Upload).(bool),
		download:    proto.GetExtension(options, restv1.E_Download).(bool),
		conditional: proto.GetExtension(options, restv1.E_Conditional).(bool),
		public: proto.GetExtension(options, restv1.E_Access).(restv1.Access) ==
			restv1.Access_ACCESS_PUBLIC,
		success: proto.GetExtension(options, restv1.E_Success).([]*restv1.Success),
	}
	switch p := rule.GetPattern().(type) {
	case *annotations.HttpRule_Get:
		o.verb, o.path = "get", p.Get
	case *annotations.HttpRule_Post:
		o.verb, o.path = "post", p.Post
	case *annotations.HttpRule_Patch:
		o.verb, o.path = "patch", p.Patch
	case *annotations.HttpRule_Delete:
		o.verb, o.path = "delete", p.Delete
	default:
		return nil, fmt.Errorf("%s has a route of an unknown kind", method.Desc.FullName())
	}
	for _, match := range parameter.FindAllStringSubmatch(o.path, -1) {
		field := method.Input.Desc.Fields().ByName(protoreflect.Name(match[1]))
		if field == nil {
			return nil, fmt.Errorf("%s has no field %s", method.Input.Desc.FullName(), match[1])
		}
		o.inPath = append(o.inPath, match[1])
		o.path = strings.Replace(o.path, match[0], "{"+field.JSONName()+"}", 1)
	}
	return o, nil
}

// operation returns the description of an operation. Its id and summary follow from the name of the
// RPC, so renaming an RPC renames the functions of generated clients.
func (g *generator) operation(o *operation) (object, error) {
	name := o.method.GoName
	described := object{
		"operationId": strings.ToLower(name[:1]) + name[1:],
		"summary":     sentence(name),
		"tags":        []string{o.tag()},
	}
	if text := comment(o.method.Comments.Leading); text != "" {
		described["description"] = text
	}
	// The list overrides the bearer token that the document requires by default. The empty object
	// means that no cookie is needed.
	switch {
	case o.public && slices.ContainsFunc(o.method.Input.Fields,
		func(f *protogen.Field) bool { return boolOption(f, restv1.E_Cookie) }):
		described["security"] = []any{object{}, object{"cookie": []any{}}}
	case o.public:
		described["security"] = []any{}
	}
	if parameters := g.parameters(o); len(parameters) > 0 {
		described["parameters"] = parameters
		for i, parameter := range parameters {
			g.uses["parameters"] = append(g.uses["parameters"], use{
				value: parameter.(object), replace: func(r object) { parameters[i] = r },
				name: pascal(parameter.(object)["name"].(string), "-"), tag: o.tag(),
			})
		}
	}
	if o.body {
		described["requestBody"] = g.requestBody(o)
	}
	responses, err := g.responses(o)
	if err != nil {
		return nil, err
	}
	described["responses"] = responses
	return described, nil
}

// tag is the resource: the first name in the path. The only other path, /.well-known/jwks.json,
// belongs to auth.
func (o *operation) tag() string {
	rest, ok := strings.CutPrefix(o.path, "/api/v1/")
	if !ok {
		return "auth"
	}
	tag, _, _ := strings.Cut(rest, "/")
	return tag
}

// ownHeaders are the headers that HTTP clients and browsers send by themselves.
var ownHeaders = []string{"User-Agent", "Origin", "Sec-Fetch-Site"}

// parameters returns the fields of the request that are not in the body. OpenAPI demands that
// parameters in the path are marked as required. All others are optional in the document.
func (g *generator) parameters(o *operation) []any {
	var parameters []any
	for _, field := range o.method.Input.Fields {
		name, in := field.Desc.JSONName(), o.place(field)
		switch in {
		case "body", "":
			continue
		case "header":
			name = stringOption(field, restv1.E_Header)
			if slices.Contains(ownHeaders, name) {
				continue
			}
		}
		p := object{"name": name, "in": in, "schema": g.schema(field, false)}
		if in == "path" {
			p["required"] = true
		}
		if text := comment(field.Comments.Leading); text != "" {
			p["description"] = text
		}
		parameters = append(parameters, p)
	}
	if o.conditional {
		parameters = append(parameters, object{
			"name": "If-None-Match", "in": "header", "schema": object{"type": "string"},
			"description": "ETag of an earlier response to the same request. If the response " +
				"would be the same, its status is 304 and it has no body.",
		})
	}
	return parameters
}

// place returns the place of a field in the HTTP request: path, header, query or body. It is empty
// for the session cookie, which is described as a security scheme, and for fields that the gateway
// computes. A FileHeader is in the header of the file's part.
func (o *operation) place(field *protogen.Field) string {
	switch {
	case boolOption(field, restv1.E_Cookie), boolOption(field, restv1.E_Site), isFileHeader(field):
		return ""
	case slices.Contains(o.inPath, string(field.Desc.Name())):
		return "path"
	case stringOption(field, restv1.E_Header) != "":
		return "header"
	case !o.body || boolOption(field, restv1.E_Query):
		return "query"
	}
	return "body"
}

// requestBody defines the schema of the body, named like the request message. It contains fewer
// fields than the message if others are in the path, the query or headers. A request without
// required fields may omit the body.
func (g *generator) requestBody(o *operation) object {
	properties, required := object{}, []string{}
	for _, field := range o.method.Input.Fields {
		// A form may contain the query's fields.
		if place := o.place(field); place != "body" && (!o.multipart || place != "query") {
			continue
		}
		properties[field.Desc.JSONName()] = g.described(field)
		if boolOption(field, restv1.E_Required) {
			required = append(required, field.Desc.JSONName())
		}
	}
	schema := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	name := string(o.method.Input.Desc.Name())
	g.schemas[name] = schema
	mediaType := "application/json"
	if o.multipart || o.upload {
		mediaType = "multipart/form-data"
	}
	return object{"required": len(required) > 0, "content": object{
		mediaType: object{"schema": reference(name)},
	}}
}

// responses returns the responses by status: the successes in the option success, then the errors.
// The description of a success is the message in its envelope, or the name of the status for
// responses without an envelope.
func (g *generator) responses(o *operation) (object, error) {
	responses := object{}
	for _, s := range o.success {
		body, mediaType := g.answer(o, s.GetPreview())
		g.setCode(body, s.GetCode())
		text := s.GetMessage()
		if text == "" {
			text = http.StatusText(int(s.GetHttpStatus()))
		}
		responses[strconv.Itoa(int(s.GetHttpStatus()))] = object{
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
		if boolOption(field, restv1.E_Cookie) {
			headers["Set-Cookie"] = object{
				"description": comment(field.Comments.Leading), "schema": object{"type": "string"},
			}
		}
	}
	g.useHeaders(headers)
	return headers
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

// sentence splits CreateWallet into "Create wallet".
func sentence(name string) string {
	words := regexp.MustCompile(`[A-Z][a-z0-9]*`).FindAllString(name, -1)
	return words[0] + strings.ToLower(" "+strings.Join(words[1:], " "))
}
