package test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// requireFields requires that after has each field, and that the change set each field. before is
// nil if no operation changes the resource.
func (f fielded) requireFields(t *testing.T, kind string, before, after object) {
	t.Helper()
	fields := f.message.ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		name := fields.Get(i).JSONName()
		_, unset := f.unset[name]
		require.Equal(t, unset, empty(after[name]),
			"%s has no value or no reason for %s: %v", kind, name, after[name])
		if _, fixed := f.unchanged[name]; before != nil && !fixed && (!unset || name == "enabled") {
			require.NotEqual(t, before[name], after[name],
				"the change of %s does not set %s", kind, name)
		}
	}
}

// requireListed requires that a list has an object.
func requireListed(t *testing.T, list response, want object) {
	t.Helper()
	require.True(t, contains(list.body, want, nil),
		"the list lacks fields of %v: %s", want, list.raw)
}

// awaitEvent reads events until one has an object without the fields that events lack.
func (f fielded) awaitEvent(t *testing.T, events *listener, want object) {
	t.Helper()
	for !contains(events.block().data, want, f.notSent) {
	}
}

// contains reports whether a value contains an object with the fields of want. The fields that are
// lacking must be empty.
func contains(value any, want object, lacking map[string]string) bool {
	switch typeswitch := value.(type) {
	case object:
		if len(typeswitch) > 0 && hasFields(typeswitch, want, lacking) {
			return true
		}
		for _, inner := range typeswitch {
			if contains(inner, want, lacking) {
				return true
			}
		}
	case []any:
		for _, inner := range typeswitch {
			if contains(inner, want, lacking) {
				return true
			}
		}
	}
	return false
}

// hasFields reports whether an object has the fields of want, and none of those that are lacking.
func hasFields(o, want object, lacking map[string]string) bool {
	for name, value := range want {
		_, absent := lacking[name]
		if absent && !empty(o[name]) || !absent && !reflect.DeepEqual(o[name], value) {
			return false
		}
	}
	return true
}

// empty reports whether a JSON value is absent or zero.
func empty(value any) bool {
	return value == nil || reflect.ValueOf(value).IsZero() ||
		fmt.Sprint(value) == "0" || fmt.Sprint(value) == "[]"
}

// requireCopied requires that /changes has the objects as their operations return them.
func (u *user) requireCopied(
	t *testing.T, resources map[string]fielded, current map[string]object,
) {
	t.Helper()
	changes := u.get("/api/v1/changes?limit=1000").ok("CHANGES_FETCHED").at("changes")
	for kind := range resources {
		require.True(t, contains(changes, current[kind], nil), "/changes lacks %s", kind)
	}
}
