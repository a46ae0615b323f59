package test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPatchNull sends null and the empty value for each field of each PATCH. A field that is
// nullable in the document can be emptied with both. Any other field rejects both.
func TestPatchNull(t *testing.T) {
	t.Parallel()
	if stack == nil {
		t.Skip("the stack at BASE_URL must not be filled")
	}
	attack := &attackRun{stack: stack}
	attack.attacker, attack.attackerIDs = attack.newUserWithResources(t, "Nulls")
	imp := attack.attacker.importFile(
		"Date,Amount,Payee\n2026-03-14,-1.00,Shop\n", attack.attackerIDs["wallet"])
	attack.attackerIDs["import"] = imp.created("IMPORT_CREATED").text("import.id")
	// These lists name what changes, so an empty one changes nothing.
	listsOfChanges := []string{"accounts", "categories"}
	emptied := 0
	for _, operation := range operations() {
		if operation.method != http.MethodPatch {
			continue
		}
		body := operation.RequestBody.Value.Content.Get("application/json").Schema.Value
		for name, property := range body.Properties {
			var empty any = ""
			switch {
			case property.Value.Type.Is("array"):
				empty = []any{}
			case property.Value.Type.Is("object"):
				empty = object{}
			}
			null := attack.attacker.call(operation.method, attack.path(t, operation),
				object{name: nil})
			blank := attack.attacker.call(operation.method, attack.path(t, operation),
				object{name: empty})
			field := limitedField{path: []any{name}}
			if property.Value.Nullable {
				emptied++
				if property.Value.Type.Is("number") || property.Value.Type.Is("integer") {
					blank = null // No number is empty.
				}
				assert.Equal(t, blank.code(), null.code(),
					"%s: %s: %s %s", operation.OperationID, name, null.raw, blank.raw)
				assert.NotContains(t, []string{"VALIDATION_ERROR", "EMPTY_UPDATE"}, null.code(),
					"%s: %s: %s", operation.OperationID, name, null.raw)
				continue
			}
			assert.Equal(t, "VALIDATION_ERROR", null.code(),
				"%s: %s: %s", operation.OperationID, name, null.raw)
			assert.Equal(t, []any{"must not be null"}, field.problems(null),
				"%s: %s: %s", operation.OperationID, name, null.raw)
			if !slices.Contains(listsOfChanges, name) {
				assert.GreaterOrEqual(t, blank.status, http.StatusBadRequest,
					"%s: %s may be empty, so null must empty it: %s",
					operation.OperationID, name, blank.raw)
			}
		}
	}
	require.Greater(t, emptied, 20)
}
