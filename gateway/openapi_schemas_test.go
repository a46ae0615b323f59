package gateway

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"
)

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
			for _, suffix := range []string{
				"Response", "Params", "Body", "JSONBody", "JSONRequestBody", "MultipartBody",
				"MultipartRequestBody",
			} {
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
	require.Equal(t, "double",
		doc.Paths.Value("/api/v1/transaction").Get.Parameters.GetByInAndName("query",
			"minAmount").Schema.Value.Format)
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
			require.Regexp(t, `A value above 200 means 200|a larger number counts as 1000`,
				limit.Description, "%s %s", verb, path)
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
