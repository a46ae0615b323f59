// Command protoc-gen-coffer-openapi is a protoc plugin that writes openapi.json: the REST API as the options in the
// protos describe it, envelope, headers and error codes included.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/pluginpb"
)

func main() {
	protogen.Options{}.Run(func(plugin *protogen.Plugin) error {
		plugin.SupportedFeatures = uint64(pluginpb.CodeGeneratorResponse_FEATURE_PROTO3_OPTIONAL)
		document, err := build(plugin.Files)
		if err != nil {
			return err
		}
		var out bytes.Buffer
		encoder := json.NewEncoder(&out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(document); err != nil {
			return fmt.Errorf("encoding the document: %w", err)
		}
		_, err = plugin.NewGeneratedFile("openapi.json", "").Write(out.Bytes())
		return err
	})
}

// object is a JSON object; encoding/json writes it sorted by key, so that the document is the same every time.
type object = map[string]any

const description = "Personal budgeting: wallets, categories, transactions, receipts, budgets that are shared.\n\n" +
	"Every success carries `code` and `message` beside the resource; every error is `{code, message, error, details?, requestId}`. " +
	"Amounts are JSON numbers in the currency's major unit with at most the currency's ISO 4217 decimals: read them as decimals, not as binary floating point. " +
	"Unknown and read-only fields in a request are ignored."

func build(files []*protogen.File) (object, error) {
	g := &generator{schemas: object{}, paths: object{}, defined: map[string]*protogen.Message{}}
	for _, file := range files {
		for _, service := range file.Services {
			if err := g.service(service); err != nil {
				return nil, err
			}
		}
	}
	g.schemas["Error"] = errorSchema()
	return object{
		"openapi": "3.0.3",
		"info": object{
			"title": "Coffer", "version": "v1", "description": description,
			"license": object{"name": "Apache-2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"},
		},
		"servers":  []any{object{"url": "/"}},
		"security": []any{object{"bearer": []any{}}},
		"paths":    g.paths,
		"components": object{
			"schemas": g.schemas,
			"securitySchemes": object{"bearer": object{
				"type": "http", "scheme": "bearer", "bearerFormat": "JWT", "description": "accessToken of POST /api/v1/auth/login",
			}},
		},
	}, nil
}

// generator collects the document's parts.
type generator struct {
	paths   object
	schemas object
	// defined tells two messages of one name apart.
	defined map[string]*protogen.Message
}

func (g *generator) service(service *protogen.Service) error {
	reasons, err := newReasons(service)
	if err != nil {
		return err
	}
	for _, method := range service.Methods {
		if !proto.HasExtension(method.Desc.Options(), annotations.E_Http) {
			continue
		}
		o, err := newOperation(method)
		if err != nil {
			return err
		}
		described, err := g.operation(o, reasons)
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

func errorSchema() object {
	return object{
		"type":     "object",
		"required": []string{"code", "message", "error", "requestId"},
		"properties": object{
			"code":    object{"type": "string", "description": "What went wrong, for programs."},
			"message": object{"type": "string", "description": "What went wrong, for people."},
			"error":   object{"type": "string", "description": "The same as message."},
			"details": object{
				"type": "array", "description": "What is wrong with single fields.",
				"items": object{
					"type": "object", "required": []string{"field", "message"},
					"properties": object{"field": object{"type": "string"}, "message": object{"type": "string"}},
				},
			},
			"requestId": object{"type": "string", "description": "The same as the header X-Request-Id."},
		},
	}
}
