// Command protoc-gen-coffer-openapi is a protoc plugin that writes openapi.json: the REST API as
// the options in the protos describe it, envelope, headers and error codes included.
//
// generate-protos runs it and stores the document as gateway/openapi.json. The gateway serves the
// document, the clients are generated from it, and the tests in test/ validate each answer of a
// running stack against it. The sources of the document are:
//
//   - paths and verbs: the option google.api.http of an RPC;
//   - everything else about operations and fields: the options in coffer/rest/v1/rest.proto (ADR
//     5);
//   - error responses: the enum Reason and the option errors (ADR 66);
//   - descriptions: the comments in the protos;
//   - examples: examples.json, which TestExamples records (ADR 67).
//
// The gateway reads the same options at run time. A change of their meaning must therefore change
// both.
//
// Start reading with build. operation.go describes an RPC, schema.go its messages and reasons.go
// its errors. examples.go adds the examples, share.go moves equal objects into components, and
// print.go writes the text.
package main

import (
	"fmt"
	"maps"
	"slices"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/pluginpb"
)

func main() {
	protogen.Options{}.Run(func(plugin *protogen.Plugin) error {
		plugin.SupportedFeatures = uint64(pluginpb.CodeGeneratorResponse_FEATURE_PROTO3_OPTIONAL)
		document, err := build(plugin.Files)
		if err != nil {
			return err
		}
		text, err := printed(document)
		if err != nil {
			return fmt.Errorf("encoding the document: %w", err)
		}
		_, err = plugin.NewGeneratedFile("openapi.json", "").Write(text)
		return err
	})
}

// object is a JSON object.
type object = map[string]any

// description introduces the document. It states the rules that apply to all operations.
const description = "Personal budgeting: wallets, categories, transactions, receipts and shared " +
	"budgets.\n\n" +
	"Every successful response has `code` and `message` beside the resource. " +
	"Every error is `{code, message, error, details?, requestId}`. " +
	"Amounts are JSON numbers in the currency's major unit with at most the currency's ISO 4217 " +
	"decimals: read them as decimals, not as binary floating point. " +
	"Unknown and read-only fields in a request are ignored. " +
	"In a PATCH, an absent field stays as it is. " +
	"`null` empties a field that is nullable, and is invalid for any other field. " +
	"In other requests `null` means absent."

// build returns the document for all RPCs with a REST path. The order of its steps matters: the
// operations define the schemas of their messages, addExamples completes operations and schemas,
// and tags reads the finished operations. share comes last, because it compares finished objects.
func build(files []*protogen.File) (object, error) {
	g := &generator{
		schemas: object{}, paths: object{}, defined: map[string]*protogen.Message{},
		uses: map[string][]use{},
	}
	g.reasons, g.reasonNames = reasons(files)
	for _, file := range files {
		for _, service := range file.Services {
			if err := g.service(service); err != nil {
				return nil, err
			}
		}
	}
	g.schemas["Error"] = errorSchema()
	if err := g.addExamples(); err != nil {
		return nil, err
	}
	tags, err := g.tags()
	if err != nil {
		return nil, err
	}
	components, err := g.share()
	if err != nil {
		return nil, err
	}
	components["securitySchemes"] = securitySchemes()
	return object{
		"openapi": "3.0.3",
		"info": object{
			"title": "Coffer", "version": "v1", "description": description,
			"contact": object{"name": "Coffer", "url": "https://github.com/coffer-budget/coffer"},
			"license": object{
				"name": "Apache-2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0",
			},
		},
		"servers":    []any{object{"url": "/"}},
		"security":   []any{object{"bearer": []any{}}},
		"tags":       tags,
		"paths":      g.paths,
		"components": components,
	}, nil
}

// securitySchemes returns the two ways to prove an identity.
func securitySchemes() object {
	return object{
		"bearer": object{
			"type": "http", "scheme": "bearer", "bearerFormat": "JWT",
			"description": "accessToken of POST /api/v1/auth/login, or a personal access " +
				"token of POST /api/v1/auth/tokens. An operation accepts a personal access token " +
				"that has one of the operation's x-scopes. Without x-scopes it accepts none.",
		},
		"cookie": object{
			"type": "apiKey", "in": "cookie", "name": "__Host-coffer",
			"description": "Set by POST /api/v1/auth/login?session=cookie. Its name is coffer on " +
				"localhost without HTTPS.",
		},
	}
}

// tags describe the groups of operations. A tag is the first name in the paths of its operations. A
// new resource needs an entry.
var tags = map[string]string{
	"account":       "Everything that Coffer stores about a user.",
	"attachments":   "Files that users keep with their transactions.",
	"auth":          "Accounts, sessions, access tokens and the audit trail.",
	"budgets":       "Spending limits, their progress, and the members who share them.",
	"categories":    "What money is spent on, or comes from.",
	"changes":       "Everything that changed since a device last asked.",
	"currencies":    "The currencies that amounts may have.",
	"dashboard":     "Totals and analytics.",
	"events":        "A live stream of changes, as server-sent events.",
	"export":        "Downloads of the books for other programs.",
	"goals":         "Amounts to save, and the money of wallets that is assigned to them.",
	"invitations":   "Invitations to budgets of other users.",
	"notifications": "What a user should not miss, such as a budget that reaches its limit.",
	"payees":        "The other parties of a user's transactions.",
	"receipts":      "The contents and images of uploaded receipts.",
	"reports":       "Income and spending over time, and by group.",
	"rules": "What Coffer does with the rows of imports, and on request with existing " +
		"transactions.",
	"settings":    "What a user prefers on all devices.",
	"suggestions": "Categories that new transactions probably have.",
	"tags":        "Labels of transactions.",
	"transaction": "Income and expenses, created one by one, in batches or from a receipt.",
	"transfers":   "Amounts moved between a user's own wallets.",
	"views":       "Filters of lists and reports with names.",
	"wallet":      "Places where money is kept, with their balances.",
	"imports":     "Files of banks and other finance applications that become transactions.",
	"webhooks":    "Deliveries of events to a user's own server.",
}

// tags returns the tags of the operations, sorted by name. A tag without a description is an error.
func (g *generator) tags() ([]any, error) {
	names := map[string]bool{}
	for _, path := range g.paths {
		for _, operation := range path.(object) {
			names[operation.(object)["tags"].([]string)[0]] = true
		}
	}
	var described []any
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if tags[name] == "" {
			return nil, fmt.Errorf("the tag %s has no description", name)
		}
		described = append(described, object{"name": name, "description": tags[name]})
	}
	return described, nil
}

// generator collects the document's parts.
type generator struct {
	// paths maps each path to its operations, by verb.
	paths object
	// schemas are the named schemas that the operations refer to.
	schemas object
	// defined maps the name of a schema to its message. It distinguishes two messages of one name,
	// and is set before the message's fields are described.
	defined map[string]*protogen.Message
	// uses lists the objects that share compares: headers, responses and parameters.
	uses map[string][]use
	// reasons are the declared errors, by name; reasonNames their names, by number.
	reasons     map[string]reason
	reasonNames map[protoreflect.EnumNumber]string
}

// service adds the RPCs of a service that have a REST path. The others are called only by services.
func (g *generator) service(service *protogen.Service) error {
	for _, method := range service.Methods {
		if !proto.HasExtension(method.Desc.Options(), annotations.E_Http) {
			continue
		}
		o, err := newOperation(method)
		if err != nil {
			return err
		}
		described, err := g.operation(o)
		if err != nil {
			return fmt.Errorf("%s: %w", method.Desc.FullName(), err)
		}
		path, ok := g.paths[o.path].(object)
		if !ok {
			path = object{}
			g.paths[o.path] = path
		}
		path[o.verb] = described
	}
	return nil
}

// errorSchema returns the schema of the body of every error. It is not derived, because no message
// in the protos has these fields: the gateway makes the body from a gRPC status. Each error
// response restricts the code further, see failure.
func errorSchema() object {
	return object{
		"type":     "object",
		"required": []string{"code", "message", "error", "requestId"},
		"example": object{
			"code": "VALIDATION_ERROR", "message": "Validation failed",
			"error": "Validation failed", "requestId": "32630b1e-4fb1-459b-9260-6e833c47ed25",
			"details": []any{object{"field": "amount", "message": "must be greater than 0"}},
		},
		"properties": object{
			"code": object{
				"type": "string", "description": "The reason of the error, for programs.",
			},
			"message": object{
				"type": "string",
				"description": "The reason of the error, in English for users. The text may " +
					"change.",
			},
			"error": object{"type": "string", "description": "The same as message."},
			"details": object{
				"type": "array",
				"description": "The invalid fields. Absent if the error does not concern single " +
					"fields.",
				"items": object{
					"type": "object", "required": []string{"field", "message"},
					"properties": object{
						"field": object{
							"type": "string",
							"description": "Name of the field, for example amount or " +
								"transactions[2].amount.",
						},
						"message": object{
							"type":        "string",
							"description": "What is allowed, in English for users.",
						},
					},
				},
			},
			"requestId": object{
				"type": "string", "description": "The same as the header X-Request-Id.",
			},
		},
	}
}
