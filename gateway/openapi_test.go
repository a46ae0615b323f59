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
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/anypb"

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
		if field := r.Method.Input().Fields().Get(i); strings.Contains(r.Template, "{"+string(field.Name())+"}") {
			found = append(found, field)
		}
	}
	return found
}

// queryParameters returns the names of a route's query parameters in the document.
func queryParameters(doc *openapi3.T, r *transcoding.Route) []string {
	path := r.Template
	for _, field := range pathFields(r) {
		path = strings.ReplaceAll(path, "{"+string(field.Name())+"}", "{"+field.JSONName()+"}")
	}
	var names []string
	for _, p := range doc.Paths.Value(path).GetOperation(r.Verb).Parameters {
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
	for _, r := range routes {
		if r.IsEvents() {
			continue
		}
		t.Run(string(r.Method.Name()), func(t *testing.T) {
			t.Parallel()
			for _, answer := range []any{filled(t, doc, r.Method.Output(), 0), sparse(t, doc, r.Method.Output()), apierr.New(restv1.Reason_VALIDATION_ERROR).With("a", "b")} {
				a := newAPI(t, map[string]any{string(r.Method.Name()): answer})
				path := r.Template
				for _, field := range pathFields(r) {
					path = strings.ReplaceAll(path, "{"+string(field.Name())+"}", anID)
				}
				reply := a.send(r.Verb, path, "")
				switch {
				case r.Multipart:
					reply = a.upload("", file("receipt", "r.jpg", "x"))
				case r.Upload:
					form, contentType := encodeForm(file("file", "r.jpg", "x"))
					reply = a.send(r.Verb, path, string(form), "Content-Type", contentType)
				}
				require.NotEqual(t, http.StatusInternalServerError, reply.StatusCode, reply.text)
				req, err := http.NewRequestWithContext(t.Context(), r.Verb, path, nil)
				require.NoError(t, err)
				req.URL = &url.URL{Path: path}
				route, params, err := router.FindRoute(req)
				require.NoError(t, err)
				input := &openapi3filter.ResponseValidationInput{
					RequestValidationInput: &openapi3filter.RequestValidationInput{Request: req, Route: route, PathParams: params},
					Status:                 reply.StatusCode, Header: reply.Header,
					Options: &openapi3filter.Options{IncludeResponseStatus: true},
				}
				input.SetBodyBytes([]byte(reply.text))
				require.NoError(t, openapi3filter.ValidateResponse(t.Context(), input), reply.text)
				requireDescribed(t, doc, reply.json, r.Method.Output())
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
			require.NotRegexp(t, `\b[A-Z]+_[A-Z_]+\.`, strings.SplitAfter(operation.Description, ".")[0], "a sentence comes first, and not a list of codes")
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
				empty := []string{"logout", "rotateWebhookSecret", "testWebhook", "redeliverWebhookEvent", "commitImport"}
				for _, content := range operation.RequestBody.Value.Content {
					require.True(t, content.Example != nil || slices.Contains(empty, operation.OperationID), operation.OperationID)
				}
			}
			for status, response := range operation.Responses.Map() {
				for mediaType, content := range response.Value.Content {
					// The schema Error has the example of all errors.
					require.True(t, content.Example != nil || status >= "400" || mediaType == "*/*" || strings.HasPrefix(mediaType, "image/"), operation.OperationID+" "+status)
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
		without := []string{"Box", "ReceiptPage", "Recurrence", "TagTotal", "RuleExample"}
		require.True(t, schema.Value.Example != nil || len(schema.Value.Properties) == 0 || slices.Contains(without, name), name)
	}
}

// protoNames returns the names of fields whose JSON name differs.
func protoNames(t *testing.T) []string {
	t.Helper()
	var names []string
	var visit func(d protoreflect.MessageDescriptor)
	visit = func(d protoreflect.MessageDescriptor) {
		for i := range d.Fields().Len() {
			field := d.Fields().Get(i)
			if string(field.Name()) != field.JSONName() {
				names = append(names, string(field.Name()))
			}
			if field.Message() != nil {
				visit(field.Message())
			}
		}
	}
	routes := allRoutes(t)
	for _, r := range routes {
		visit(r.Method.Input())
		visit(r.Method.Output())
	}
	require.NotEmpty(t, names)
	return names
}

func TestDocumentSchemaNames(t *testing.T) {
	t.Parallel()
	doc := document(t)
	for _, item := range doc.Paths.Map() {
		for _, operation := range item.Operations() {
			name := strings.ToUpper(operation.OperationID[:1]) + operation.OperationID[1:]
			// oapi-codegen declares these types for each operation.
			for _, suffix := range []string{"Response", "Params", "Body", "JSONBody", "JSONRequestBody", "MultipartBody", "MultipartRequestBody"} {
				require.NotContains(t, doc.Components.Schemas, name+suffix)
			}
		}
	}
}

func TestDocumentNumbersHaveAFormat(t *testing.T) {
	t.Parallel()
	doc := document(t)
	for name, schema := range doc.Components.Schemas {
		for property, ref := range schema.Value.Properties {
			if ref.Value.Type.Is("number") {
				require.Equal(t, "double", ref.Value.Format, "%s.%s", name, property)
			}
		}
	}
	require.Equal(t, "double", doc.Paths.Value("/api/v1/transaction").Get.Parameters.GetByInAndName("query", "minAmount").Schema.Value.Format)
}

// TestDocumentLimits checks that the document says what the services do with a limit beyond the
// maximum: they reduce it.
func TestDocumentLimits(t *testing.T) {
	t.Parallel()
	limits := 0
	for path, item := range document(t).Paths.Map() {
		for verb, operation := range item.Operations() {
			limit := operation.Parameters.GetByInAndName("query", "limit")
			if limit == nil {
				continue
			}
			limits++
			require.Nil(t, limit.Schema.Value.Max, "%s %s", verb, path)
			require.Regexp(t, `A value above 200 means 200|a larger number counts as 1000`, limit.Description, "%s %s", verb, path)
		}
	}
	require.Greater(t, limits, 10)
}

func TestDocumentReceiptPreview(t *testing.T) {
	t.Parallel()
	schemas := document(t).Components.Schemas
	assigned := []string{"id", "createdAt", "updatedAt"}
	require.Subset(t, schemas["Transaction"].Value.Required, assigned)
	for _, field := range append(assigned, "receiptId") {
		require.Contains(t, schemas["Transaction"].Value.Properties, field)
		require.NotContains(t, schemas["TransactionPreview"].Value.Properties, field)
	}
	require.Contains(t, schemas["Receipt"].Value.Required, "id")
	require.NotContains(t, schemas["ReceiptPreview"].Value.Properties, "id")
	require.Contains(t, schemas["CreateTransactionsFromReceiptRequest"].Value.Properties, "mode")
}

// requireDescribed checks that a response has only fields of its schema.
func requireDescribed(t *testing.T, doc *openapi3.T, body map[string]any, d protoreflect.MessageDescriptor) {
	t.Helper()
	if body == nil || body["error"] != nil {
		return
	}
	schema := doc.Components.Schemas[schemaName(d)].Value
	for name := range body {
		require.Contains(t, schema.Properties, name)
	}
}

// filled returns a message with a value in every field. Lists have one element.
func filled(t *testing.T, doc *openapi3.T, d protoreflect.MessageDescriptor, depth int) proto.Message {
	t.Helper()
	require.Less(t, depth, 10, "messages do not contain themselves")
	m := newMessage(t, d)
	for i := range d.Fields().Len() {
		field := d.Fields().Get(i)
		switch {
		case field.Name() == "code" && strings.HasSuffix(string(d.Name()), "Response"):
		case field.IsMap():
			m.Mutable(field).Map().Set(protoreflect.ValueOfString("total").MapKey(), protoreflect.ValueOfFloat64(0.5))
		case field.IsList():
			m.Mutable(field).List().Append(filledValue(t, doc, field, depth))
		default:
			m.Set(field, filledValue(t, doc, field, depth))
		}
	}
	return m.Interface()
}

func filledValue(t *testing.T, doc *openapi3.T, field protoreflect.FieldDescriptor, depth int) protoreflect.Value {
	t.Helper()
	switch field.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(true)
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(7)
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(7)
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(12.5)
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte("a file"))
	case protoreflect.MessageKind:
		if field.Message().FullName() == "google.protobuf.Any" {
			packed, err := anypb.New(aWallet())
			require.NoError(t, err)
			return protoreflect.ValueOfMessage(packed.ProtoReflect())
		}
		return protoreflect.ValueOfMessage(filled(t, doc, field.Message(), depth+1).ProtoReflect())
	}
	return protoreflect.ValueOfString(filledString(doc, field))
}

// filledString returns a string that the field's schema allows. Every string is a number too,
// unless it has a format.
func filledString(doc *openapi3.T, field protoreflect.FieldDescriptor) string {
	message := doc.Components.Schemas[schemaName(field.ContainingMessage())]
	if message == nil || message.Value.Properties[field.JSONName()] == nil {
		return "12.30"
	}
	schema := message.Value.Properties[field.JSONName()].Value
	if field.IsList() {
		schema = schema.Items.Value
	}
	switch {
	case len(schema.Enum) > 0:
		return schema.Enum[0].(string)
	case strings.HasPrefix(schema.Pattern, "^("):
		// The first alternative is a plain word.
		first, _, _ := strings.Cut(strings.TrimPrefix(schema.Pattern, "^("), "|")
		return first
	case schema.Format == "uuid":
		return anID
	case schema.Format == "date":
		return "2026-11-20"
	case schema.Format == "date-time":
		return "2026-11-20T10:15:00.000Z"
	}
	return "12.30"
}

func schemaName(d protoreflect.MessageDescriptor) string {
	return strings.Replace(string(d.Name()), "Response", "Result", 1)
}

// sparse returns the smallest valid answer: the resource with only its numbers, its assigned
// fields, and the strings with a format.
func sparse(t *testing.T, doc *openapi3.T, d protoreflect.MessageDescriptor) proto.Message {
	t.Helper()
	m := newMessage(t, d)
	for i := range d.Fields().Len() {
		field := d.Fields().Get(i)
		number := proto.GetExtension(field.Options(), restv1.E_Number).(bool) && !proto.GetExtension(field.Options(), restv1.E_OmitEmpty).(bool)
		switch {
		case number && !field.HasPresence():
			m.Set(field, protoreflect.ValueOfString("0"))
		case (proto.GetExtension(field.Options(), restv1.E_Assigned).(bool) || isFormatted(doc, field)) && !field.HasPresence():
			m.Set(field, filledValue(t, doc, field, 0))
		case field.Kind() == protoreflect.MessageKind && !field.IsList() && !field.IsMap() && strings.HasSuffix(string(d.Name()), "Response"):
			m.Set(field, protoreflect.ValueOfMessage(sparse(t, doc, field.Message()).ProtoReflect()))
		}
	}
	return m.Interface()
}

// isFormatted reports whether a string that is always present must not be empty.
func isFormatted(doc *openapi3.T, field protoreflect.FieldDescriptor) bool {
	omitted := proto.GetExtension(field.Options(), restv1.E_OmitEmpty).(bool)
	return field.Kind() == protoreflect.StringKind && !field.IsList() && field.Name() != "code" && !omitted && filledString(doc, field) != "12.30"
}

func newMessage(t *testing.T, d protoreflect.MessageDescriptor) protoreflect.Message {
	t.Helper()
	messageType, err := protoregistry.GlobalTypes.FindMessageByName(d.FullName())
	require.NoError(t, err)
	return messageType.New()
}
