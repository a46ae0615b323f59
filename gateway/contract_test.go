package gateway

import (
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/coffer-budget/coffer/internal/restjson"
)

// notIdempotent names the POST operations without an Idempotency-Key, with the reason.
var notIdempotent = map[string]string{
	"Logout":            "a repetition has no session any more, so it is rejected",
	"SuggestCategories": "it stores nothing",
}

// TestEveryPostHasIdempotencyKey requires that a client can repeat each POST, and learns whether a response is a repetition.
func TestEveryPostHasIdempotencyKey(t *testing.T) {
	t.Parallel()
	routes, err := rpcRoutes()
	require.NoError(t, err)
	for _, r := range routes {
		name := string(r.method.Name())
		if r.verb != http.MethodPost {
			continue
		}
		_, named := notIdempotent[name]
		require.Equal(t, !named, hasHeader(r.method.Input(), "Idempotency-Key"), name)
		require.Equal(t, !named, hasHeader(r.method.Output(), "Idempotency-Replayed"), name)
	}
}

// hasHeader reports whether a field of a message is a header.
func hasHeader(d protoreflect.MessageDescriptor, name string) bool {
	return slices.ContainsFunc(restjson.Headers(d), func(h restjson.Header) bool { return h.Name == name })
}

// withoutIfMatch names the PATCH and DELETE operations without If-Match, with the reason.
var withoutIfMatch = map[string]string{
	"ChangePassword":      "no response has the password; the current one is the condition",
	"DeleteAttachment":    "an attachment never changes",
	"DeleteImportProfile": "the next commit with the heading stores the mapping again, so no change is lost",
	"DeleteNotification":  "only the mark that it was read changes",
	"UpdateNotifications": "it changes a list and has no other effect than the mark",
	"UpdateNotification":  "it has no other effect than the mark",
	"RevokeSession":       "a session changes with each use, and the end of a session is final",
}

// TestEveryChangeHasIfMatch requires that a client can make each change and deletion conditional, and receives the ETag for it: from the
// GET of the resource and from the response to a change.
func TestEveryChangeHasIfMatch(t *testing.T) {
	t.Parallel()
	routes, err := rpcRoutes()
	require.NoError(t, err)
	readable := map[string]bool{}
	for _, r := range routes {
		if r.verb == http.MethodGet && hasHeader(r.method.Output(), "ETag") {
			readable[r.template] = true
		}
	}
	for _, r := range routes {
		name := string(r.method.Name())
		if r.verb != http.MethodPatch && r.verb != http.MethodDelete {
			continue
		}
		_, named := withoutIfMatch[name]
		require.Equal(t, !named, hasHeader(r.method.Input(), "If-Match"), name)
		if named {
			continue
		}
		require.True(t, readable[r.template], "no GET of %s has an ETag", r.template)
		require.Equal(t, r.verb == http.MethodPatch, hasHeader(r.method.Output(), "ETag"), name)
	}
}
