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
	s := &attackRun{stack: stack}
	s.attacker, s.attackerIDs = s.newUserWithResources(t, "Nulls")
	s.attackerIDs["import"] = s.attacker.importFile("Date,Amount,Payee\n2026-03-14,-1.00,Shop\n",
		s.attackerIDs["wallet"]).created("IMPORT_CREATED").text("import.id")
	// These lists name what changes, so an empty one changes nothing.
	listsOfChanges := []string{"accounts", "categories"}
	emptied := 0
	for _, o := range operations() {
		if o.method != http.MethodPatch {
			continue
		}
		body := o.RequestBody.Value.Content.Get("application/json").Schema.Value
		for name, property := range body.Properties {
			var empty any = ""
			switch {
			case property.Value.Type.Is("array"):
				empty = []any{}
			case property.Value.Type.Is("object"):
				empty = object{}
			}
			null := s.attacker.call(o.method, s.path(t, o), object{name: nil})
			blank := s.attacker.call(o.method, s.path(t, o), object{name: empty})
			field := limitedField{path: []any{name}}
			if property.Value.Nullable {
				emptied++
				if property.Value.Type.Is("number") || property.Value.Type.Is("integer") {
					blank = null // No number is empty.
				}
				assert.Equal(t, blank.code(), null.code(),
					"%s: %s: %s %s", o.OperationID, name, null.raw, blank.raw)
				assert.NotContains(t, []string{"VALIDATION_ERROR", "EMPTY_UPDATE"}, null.code(),
					"%s: %s: %s", o.OperationID, name, null.raw)
				continue
			}
			assert.Equal(t, "VALIDATION_ERROR", null.code(),
				"%s: %s: %s", o.OperationID, name, null.raw)
			assert.Equal(t, []any{"must not be null"}, field.problems(null),
				"%s: %s: %s", o.OperationID, name, null.raw)
			if !slices.Contains(listsOfChanges, name) {
				assert.GreaterOrEqual(t, blank.status, http.StatusBadRequest,
					"%s: %s may be empty, so null must empty it: %s",
					o.OperationID, name, blank.raw)
			}
		}
	}
	require.Greater(t, emptied, 20)
}
