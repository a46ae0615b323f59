package main

import (
	"fmt"
	"regexp"
	"slices"
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
	// The form of a bearer token in OpenAPI 3.0 has no scopes, so an extension names them.
	scopes, _ := proto.GetExtension(o.method.Desc.Options(), restv1.E_Scopes).([]string)
	if len(scopes) > 0 {
		described["x-scopes"] = scopes
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
// for cookies, of which the session cookie is described as a security scheme, and for fields that
// the gateway computes. A FileHeader is in the header of the file's part.
func (o *operation) place(field *protogen.Field) string {
	switch {
	case isCookie(field), boolOption(field, restv1.E_Site), isFileHeader(field):
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

// sentence splits CreateWallet into "Create wallet".
func sentence(name string) string {
	words := regexp.MustCompile(`[A-Z][a-z0-9]*`).FindAllString(name, -1)
	return words[0] + strings.ToLower(" "+strings.Join(words[1:], " "))
}
