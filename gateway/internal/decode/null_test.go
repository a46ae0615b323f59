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
	for name, f := range all {
		head := before + `{"` + name + `":`
		found = append(found, nullIn{f, head + `null}` + after, path + name})
		of := f
		if f.values != nil {
			of = f.values
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
	for _, o := range operations(t) {
		if !o.isChange {
			continue
		}
		for _, n := range nulls(o.body, "", "", "") {
			m := o.message.New()
			bad := &problems{}
			require.NoError(t, o.decodeJSON(t.Context(), []byte(n.body), m, bad))
			problem := []apierr.Field{{Name: n.path, Message: problemNull}}
			isTop := n.body == `{"`+n.path+`":null}`
			switch {
			case n.field.nullEmpties && isTop:
				emptied++
				require.True(t, n.field.HasPresence(),
					"%s: the service cannot tell an empty %s from an absent one", o.name, n.path)
				require.Empty(t, bad.fields, "%s %s", o.name, n.path)
				require.True(t, m.Has(n.field.FieldDescriptor), "%s %s", o.name, n.path)
				require.True(t, isEmpty(n.field, m.Get(n.field.FieldDescriptor)),
					"%s %s", o.name, n.path)
			case n.field.nullEmpties:
				emptied++
				require.Empty(t, bad.fields, "%s %s", o.name, n.path)
			case isTop, n.field.HasPresence():
				rejected++
				require.Equal(t, problem, bad.fields, "%s %s", o.name, n.body)
			default:
				require.Empty(t, bad.fields, "%s %s", o.name, n.path)
			}
		}
	}
	require.Greater(t, emptied, 20)
	require.Greater(t, rejected, 30)
}

// isEmpty reports whether a value is the empty text, or a message without fields.
func isEmpty(f *field, v protoreflect.Value) bool {
	if f.Message() == nil {
		return v.String() == ""
	}
	empty := true
	v.Message().Range(func(protoreflect.FieldDescriptor, protoreflect.Value) bool {
		empty = false
		return false
	})
	return empty
}

// TestDecodeNullInCreate checks that null means absent in a POST, as it does for every field that a
// client leaves out.
func TestDecodeNullInCreate(t *testing.T) {
	t.Parallel()
	for _, o := range operations(t) {
		if o.isChange || !o.hasBody || o.isForm() {
			continue
		}
		for name := range o.body {
			m := o.message.New()
			bad := &problems{}
			require.NoError(t, o.decodeJSON(t.Context(), []byte(`{"`+name+`":null}`), m, bad))
			require.Empty(t, bad.fields, "%s %s", o.name, name)
		}
	}
}
