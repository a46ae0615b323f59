package gateway

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/coffer-budget/coffer/internal/restjson"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// notIdempotent names the POST operations without an Idempotency-Key, with the reason.
var notIdempotent = map[string]string{
	"Logout":            "a repetition has no session any more, so it is rejected",
	"SuggestCategories": "it stores nothing",
}

// TestEveryPostHasIdempotencyKey requires that a client can repeat each POST, and learns whether a
// response is a repetition.
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
	"DeleteReceipt":       "a receipt never changes",
	"DeleteNotification":  "only the mark that it was read changes",
	"UpdateNotifications": "it changes a list and has no other effect than the mark",
	"UpdateNotification":  "it has no other effect than the mark",
	"RevokeSession":       "a session changes with each use, and the end of a session is final",
}

// TestEveryChangeHasIfMatch requires that a client can make each change and deletion conditional,
// and receives the ETag for it: from the GET of the resource and from the response to a change.
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

// unlocated names the POST operations that answer 201 without a Location, with the reason.
var unlocated = map[string]string{
	"CreateTransactions":    "it creates several transactions",
	"RedeliverWebhookEvent": "a delivery has no path of its own",
	"RotateWebhookSecret":   "the secret can be read only once",
	"TestWebhook":           "a delivery has no path of its own",
}

// TestEveryCreationHasLocation requires that each 201 has the path of the created resource in
// Location, and that a GET serves this path.
func TestEveryCreationHasLocation(t *testing.T) {
	t.Parallel()
	doc := document(t)
	routes, err := rpcRoutes()
	require.NoError(t, err)
	paths := newPathTable(routes, nil)
	found := map[string]string{}
	for _, r := range routes {
		name := string(r.method.Name())
		if !slices.ContainsFunc(r.success, func(s *restv1.Success) bool { return s.GetHttpStatus() == http.StatusCreated }) {
			continue
		}
		if _, named := unlocated[name]; named {
			require.Nil(t, r.location, name)
			continue
		}
		require.NotNil(t, r.location, name)
		encoded, err := proto.Marshal(filled(t, doc, r.method.Output(), 0))
		require.NoError(t, err)
		path := r.location.path(encoded)
		require.NotContains(t, path, "{", name)
		require.Contains(t, paths.allow(path), http.MethodGet, name)
		found[name] = r.location.template()
	}
	require.Equal(t, "/api/v1/transaction/{id}", found["CreateTransaction"])
	require.Equal(t, "/api/v1/budgets/{budget_id}/members/{member_id}", found["ShareBudget"])
	require.Equal(t, "/api/v1/attachments/{id}", found["CreateAttachment"])
	require.Equal(t, "/api/v1/receipts/{id}", found["CreateTransactionsFromReceipt"])
	require.Equal(t, "/api/v1/transfers/{id}", found["MatchTransfer"])
}

// template returns the path with the names of fields in braces.
func (l *location) template() string {
	parts := make([]string, len(l.segments))
	for i, s := range l.segments {
		parts[i] = s.text
	}
	return strings.Join(parts, "/")
}
