package decode

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/coffer-budget/coffer/internal/apierr"
)

// nullIn returns the body of a change in which a field is null, and its path in problems. A field
// of a list's element is in the first one.
type nullIn struct {
	field      *field
	body, path string
}

// nulls returns a body for each field, at any depth.
func nulls(all fields, before, after, path string) []nullIn {
	var found []nullIn
	for name, field := range all {
		head := before + `{"` + name + `":`
		found = append(found, nullIn{field, head + `null}` + after, path + name})
		of := field
		if field.values != nil {
			of = field.values
		}
		switch {
		case of.fields == nil:
		case of.IsList():
			found = append(found, nulls(of.fields, head+`[`, `]}`+after, path+name+"[0].")...)
		default:
			found = append(found, nulls(of.fields, head, `}`+after, path+name+".")...)
		}
	}
	return found
}

// TestDecodeNullInChange sends null for each field of each PATCH: it must empty the field visibly,
// or be rejected with the field's name. Only fields of an element that have no presence may ignore
// it.
func TestDecodeNullInChange(t *testing.T) {
	t.Parallel()
	emptied, rejected := 0, 0
	for _, operation := range operations(t) {
		if !operation.isChange {
			continue
		}
		for _, in := range nulls(operation.body, "", "", "") {
			message := operation.message.New()
			bad := &problems{}
			require.NoError(t, operation.decodeJSON(t.Context(), []byte(in.body), message, bad))
			problem := []apierr.Field{{Name: in.path, Message: problemNull}}
			isTop := in.body == `{"`+in.path+`":null}`
			switch {
			case in.field.nullEmpties && isTop:
				emptied++
				require.True(t, in.field.HasPresence(),
					"%s: the service cannot distinguish an empty %s from an absent one",
					operation.name, in.path)
				require.Empty(t, bad.fields, "%s %s", operation.name, in.path)
				require.True(t, message.Has(in.field.FieldDescriptor), "%s %s", operation.name,
					in.path)
				require.True(t, isEmpty(in.field, message.Get(in.field.FieldDescriptor)),
					"%s %s", operation.name, in.path)
			case in.field.nullEmpties:
				emptied++
				require.Empty(t, bad.fields, "%s %s", operation.name, in.path)
			case isTop, in.field.HasPresence():
				rejected++
				require.Equal(t, problem, bad.fields, "%s %s", operation.name, in.body)
			default:
				require.Empty(t, bad.fields, "%s %s", operation.name, in.path)
			}
		}
	}
	require.Greater(t, emptied, 20)
	require.Greater(t, rejected, 30)
}

// isEmpty reports whether a value is the empty text, or a message without fields.
func isEmpty(f *field, value protoreflect.Value) bool {
	if f.Message() == nil {
		return value.String() == ""
	}
	empty := true
	value.Message().Range(func(protoreflect.FieldDescriptor, protoreflect.Value) bool {
		empty = false
		return false
	})
	return empty
}

// TestDecodeNullInCreate checks that null means absent in a POST, as it does for every field that a
// client leaves out.
func TestDecodeNullInCreate(t *testing.T) {
	t.Parallel()
	for _, operation := range operations(t) {
		if operation.isChange || !operation.hasBody || operation.isForm() {
			continue
		}
		for name := range operation.body {
			m := operation.message.New()
			bad := &problems{}
			require.NoError(t,
				operation.decodeJSON(t.Context(), []byte(`{"`+name+`":null}`), m, bad))
			require.Empty(t, bad.fields, "%s %s", operation.name, name)
		}
	}
}
