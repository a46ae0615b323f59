package gateway

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/coffer-budget/coffer/gateway/internal/transcoding"
	"github.com/coffer-budget/coffer/internal/apierr"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

func document(t *testing.T) *openapi3.T {
	t.Helper()
	loader := openapi3.NewLoader()
	doc, err := loader.LoadFromData(openAPI)
	require.NoError(t, err)
	require.NoError(t, doc.Validate(t.Context()))
	return doc
}

func TestDocumentHasEveryRoute(t *testing.T) {
	t.Parallel()
	doc := document(t)
	routes := allRoutes(t)
	described := 0
	for _, item := range doc.Paths.Map() {
		described += len(item.Operations())
	}
	require.Len(t, routes, described)
	for _, r := range routes {
		path := r.Template
		for _, field := range pathFields(r) {
			path = strings.ReplaceAll(path, "{"+string(field.Name())+"}", "{"+field.JSONName()+"}")
		}
		item := doc.Paths.Value(path)
		require.NotNil(t, item, path)
		require.NotNil(t, item.GetOperation(r.Verb), r.Verb+path)
	}
}

// pathFields returns the fields of a route that are in its path.
func pathFields(r *transcoding.Route) []protoreflect.FieldDescriptor {
	var found []protoreflect.FieldDescriptor
	for i := range r.Method.Input().Fields().Len() {
		field := r.Method.Input().Fields().Get(i)
		if strings.Contains(r.Template, "{"+string(field.Name())+"}") {
			found = append(found, field)
		}
	}
	return found
}

// queryParameters returns the names of a route's query parameters in the document.
func queryParameters(doc *openapi3.T, served *transcoding.Route) []string {
	path := served.Template
	for _, field := range pathFields(served) {
		path = strings.ReplaceAll(path, "{"+string(field.Name())+"}", "{"+field.JSONName()+"}")
	}
	var names []string
	for _, p := range doc.Paths.Value(path).GetOperation(served.Verb).Parameters {
		if p.Value.In == openapi3.ParameterInQuery {
			names = append(names, p.Value.Name)
		}
	}
	return names
}

// TestDocumentMatchesRoutes calls every route with a backend that returns a message with every
// field set, a message with few fields, or an error. It validates the responses against the
// document.
func TestDocumentMatchesRoutes(t *testing.T) {
	t.Parallel()
	doc := document(t)
	router, err := gorillamux.NewRouter(doc)
	require.NoError(t, err)
	routes := allRoutes(t)
	for _, served := range routes {
		if served.IsEvents() {
			continue
		}
		t.Run(string(served.Method.Name()), func(t *testing.T) {
			t.Parallel()
			for _, answer := range []any{
				filled(t, doc, served.Method.Output(), 0), sparse(t, doc, served.Method.Output()),
				apierr.New(restv1.Reason_VALIDATION_ERROR).With("a", "b"),
			} {
				gate := newAPI(t, map[string]any{string(served.Method.Name()): answer})
				path := served.Template
				for _, field := range pathFields(served) {
					path = strings.ReplaceAll(path, "{"+string(field.Name())+"}", anID)
				}
				reply := gate.send(served.Verb, path, "")
				switch {
				case served.Multipart:
					reply = gate.upload("", file("receipt", "r.jpg", "x"))
				case served.Upload:
					form, contentType := encodeForm(file("file", "r.jpg", "x"))
					reply = gate.send(served.Verb, path, string(form), "Content-Type", contentType)
				}
				require.NotEqual(t, http.StatusInternalServerError, reply.StatusCode, reply.text)
				req, err := http.NewRequestWithContext(t.Context(), served.Verb, path, nil)
				require.NoError(t, err)
				req.URL = &url.URL{Path: path}
				route, params, err := router.FindRoute(req)
				require.NoError(t, err)
				input := &openapi3filter.ResponseValidationInput{
					RequestValidationInput: &openapi3filter.RequestValidationInput{
						Request: req, Route: route, PathParams: params,
					},
					Status: reply.StatusCode, Header: reply.Header,
					Options: &openapi3filter.Options{IncludeResponseStatus: true},
				}
				input.SetBodyBytes([]byte(reply.text))
				require.NoError(t, openapi3filter.ValidateResponse(t.Context(), input), reply.text)
				requireDescribed(t, doc, reply.json, served.Method.Output())
			}
		})
	}
}

// TestDocumentDescribesEveryField checks that all parameters and properties have a description,
// which names fields as JSON does.
func TestDocumentDescribesEveryField(t *testing.T) {
	t.Parallel()
	doc := document(t)
	protoName := regexp.MustCompile(`\b(?:` + strings.Join(protoNames(t), "|") + `)\b`)
	check := func(place, description string) {
		require.NotEmpty(t, description, place)
		require.NotRegexp(t, protoName, description, place)
	}
	for path, item := range doc.Paths.Map() {
		for verb, operation := range item.Operations() {
			check(verb+" "+path, operation.Description)
			require.NotRegexp(
				t, `\b[A-Z]+_[A-Z_]+\.`, strings.SplitAfter(operation.Description, ".")[0],
				"a sentence comes first, and not a list of codes",
			)
			for _, parameter := range operation.Parameters {
				check(verb+" "+path+" "+parameter.Value.Name, parameter.Value.Description)
			}
		}
	}
	for name, schema := range doc.Components.Schemas {
		for property, ref := range schema.Value.Properties {
			if ref.Ref == "" && (ref.Value.Items == nil || ref.Value.Items.Ref == "") {
				check(name+"."+property, ref.Value.Description)
			}
		}
	}
}

// bodies returns the names of the schemas of whole requests and responses. Their examples are those
// of the operations.
func bodies(doc *openapi3.T) map[string]bool {
	names := map[string]bool{}
	add := func(content openapi3.Content) {
		for _, c := range content {
			names[strings.TrimPrefix(c.Schema.Ref, "#/components/schemas/")] = true
		}
	}
	for _, item := range doc.Paths.Map() {
		for _, operation := range item.Operations() {
			if operation.RequestBody != nil {
				add(operation.RequestBody.Value.Content)
			}
			for _, response := range operation.Responses.Map() {
				add(response.Value.Content)
			}
		}
	}
	return names
}

// TestDocumentHasExamples checks that every operation and schema has an example. document checks
// that they fit their schemas.
func TestDocumentHasExamples(t *testing.T) {
	t.Parallel()
	doc := document(t)
	for _, item := range doc.Paths.Map() {
		for _, operation := range item.Operations() {
			if operation.RequestBody != nil {
				// These operations have a body without fields.
				empty := []string{
					"logout", "rotateWebhookSecret", "testWebhook", "redeliverWebhookEvent",
					"commitImport", "cancelImport", "undoRule",
				}
				for _, content := range operation.RequestBody.Value.Content {
					isEmpty := slices.Contains(empty, operation.OperationID)
					require.True(t, content.Example != nil || isEmpty, operation.OperationID)
				}
			}
			for status, response := range operation.Responses.Map() {
				for mediaType, content := range response.Value.Content {
					// The schema Error has the example of all errors. The body of a redirect has no
					// fields.
					isFile := mediaType == "*/*" || strings.HasPrefix(mediaType, "image/")
					require.True(t, content.Example != nil || status >= "302" || isFile,
						operation.OperationID+" "+status)
				}
			}
		}
	}
	above := bodies(doc)
	for name, schema := range doc.Components.Schemas {
		if above[name] {
			continue
		}
		// The recorded receipt is text. Only receipts from images have a Box and a ReceiptPage, and
		// their values depend on the engine. Recurrences do not exist yet, and the recorded summary
		// has no totals of tags. A RuleExample has one id twice.
		without := []string{
			"Box", "ReceiptPage", "Recurrence", "TagTotal", "RuleExample", "ErasedPart",
		}
		require.True(t, schema.Value.Example != nil || len(schema.Value.Properties) == 0 ||
			slices.Contains(without, name), name)
	}
}
