package transcoding

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/coffer-budget/coffer/internal/restjson"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// notIdempotent names the POST operations without an Idempotency-Key, with the reason.
var notIdempotent = map[string]string{
	"OpenInvitation":      "it stores nothing",
	"Logout":              "a repetition has no session any more, so it is rejected",
	"SuggestCategories":   "it stores nothing",
	"Reauthenticate":      "a repetition returns another access token with the same rights",
	"LoginPasskeyOptions": "a repetition starts another ceremony, which expires",
	"LinkOidc":            "it stores nothing",
	"ExchangePersonalToken": "a repetition returns another access token with the same rights, " +
		"and a personal access token must not be stored in a record",
}

// TestEveryPostHasIdempotencyKey requires that a client can repeat each POST, and learns whether a
// response is a repetition.
func TestEveryPostHasIdempotencyKey(t *testing.T) {
	t.Parallel()
	routes := allRoutes(t)
	for _, r := range routes {
		name := string(r.Method.Name())
		if r.Verb != http.MethodPost {
			continue
		}
		_, named := notIdempotent[name]
		require.Equal(t, !named, hasHeader(r.Method.Input(), "Idempotency-Key"), name)
		require.Equal(t, !named, hasHeader(r.Method.Output(), "Idempotency-Replayed"), name)
	}
}

// hasHeader reports whether a field of a message is a header.
func hasHeader(d protoreflect.MessageDescriptor, name string) bool {
	return slices.ContainsFunc(restjson.Headers(d),
		func(h restjson.Header) bool { return h.Name == name })
}

// withoutIfMatch names the PATCH and DELETE operations without If-Match, with the reason.
var withoutIfMatch = map[string]string{
	"ChangePassword":   "no response has the password; the current one is the condition",
	"DeleteAssignment": "an assignment never changes",
	"DeleteAttachment": "an attachment never changes",
	"DeleteImportProfile": "the next commit with the heading stores the mapping again, so no " +
		"change is lost",
	"DeleteReceipt":          "a receipt never changes",
	"DeleteReconciliation":   "only the mark that it differs changes",
	"DeleteOidcIdentity":     "the link of an identity never changes",
	"DeleteNotification":     "only the mark that it was read changes",
	"UpdateNotifications":    "it changes a list and has no other effect than the mark",
	"UpdateNotification":     "it has no other effect than the mark",
	"UpdateTransactions":     "each change has the ETag of its transaction",
	"DeletePersonalToken":    "a token never changes",
	"DeleteTotp":             "a secret never changes, and a replaced app is disabled as well",
	"RevokeSession":          "a session changes with each use, and the end of a session is final",
	"WithdrawInvitation":     "it ends the invitation, and no change of one matters for that",
	"WithdrawGoalInvitation": "it ends the invitation, and no change of one matters for that",
	"DeletePasskey":          "only the name of a passkey changes",
	"UpdatePasskey":          "it has no other effect than the name",
}

// TestEveryChangeHasIfMatch requires that a client can make each change and deletion conditional,
// and receives the ETag for it: from the GET of the resource and from the response to a change.
func TestEveryChangeHasIfMatch(t *testing.T) {
	t.Parallel()
	routes := allRoutes(t)
	readable := map[string]bool{}
	for _, r := range routes {
		if r.Verb == http.MethodGet && hasHeader(r.Method.Output(), "ETag") {
			readable[r.Template] = true
		}
	}
	for _, served := range routes {
		name := string(served.Method.Name())
		if served.Verb != http.MethodPatch && served.Verb != http.MethodDelete {
			continue
		}
		_, named := withoutIfMatch[name]
		require.Equal(t, !named, hasHeader(served.Method.Input(), "If-Match"), name)
		if named {
			continue
		}
		require.True(t, readable[served.Template], "no GET of %s has an ETag", served.Template)
		require.Equal(t, served.Verb == http.MethodPatch, hasHeader(served.Method.Output(), "ETag"),
			name)
	}
}

// unlocated names the POST operations that answer 201 without a Location, with the reason.
var unlocated = map[string]string{
	"CreateAssignment":      "an assignment is read with the others of its goal",
	"CreatePersonalToken":   "the list is small, so a token has no path of its own",
	"CreatePasskey":         "the list is small, so a passkey has no path of its own",
	"CreateRecoveryCodes":   "the codes can be read only once",
	"CreateTotp":            "the secret can be read only once",
	"CreateTransactions":    "it creates several transactions",
	"ReconcileWallet":       "a reconciliation is read with the others of its wallet",
	"RedeliverWebhookEvent": "a delivery has no path of its own",
	"RotateWebhookSecret":   "the secret can be read only once",
	"TestWebhook":           "a delivery has no path of its own",
}

// TestEveryCreationHasLocation requires that each 201 has the path of the created resource in
// Location, and that a GET serves this path.
func TestEveryCreationHasLocation(t *testing.T) {
	t.Parallel()
	routes := allRoutes(t)
	paths := NewPaths(routes)
	found := map[string]string{}
	for _, served := range routes {
		name := string(served.Method.Name())
		creates := func(s *restv1.Success) bool { return s.GetHttpStatus() == http.StatusCreated }
		if !slices.ContainsFunc(served.success, creates) {
			continue
		}
		if _, named := unlocated[name]; named {
			require.Nil(t, served.location, name)
			continue
		}
		require.NotNil(t, served.location, name)
		encoded, err := proto.Marshal(identified(served.Method.Output()))
		require.NoError(t, err)
		path := served.location.path(encoded)
		names := strings.NewReplacer("{", "", "}", "").Replace(served.location.template())
		require.Equal(t, names, path, "each field of the path has its own value")
		require.Contains(t, paths.Allow(path), http.MethodGet, name)
		found[name] = served.location.template()
	}
	require.Equal(t, "/api/v1/transaction/{id}", found["CreateTransaction"])
	require.Equal(t, "/api/v1/budgets/{budget_id}/members/{member_id}", found["ShareBudget"])
	require.Equal(t, "/api/v1/attachments/{id}", found["CreateAttachment"])
	require.Equal(t, "/api/v1/receipts/{id}", found["CreateTransactionsFromReceipt"])
	require.Equal(t, "/api/v1/transfers/{id}", found["MatchTransfer"])
}

// identified returns a message in which the text of each field is the field's name.
func identified(descriptor protoreflect.MessageDescriptor) protoreflect.ProtoMessage {
	message := dynamicpb.NewMessage(descriptor)
	for i := range descriptor.Fields().Len() {
		switch field := descriptor.Fields().Get(i); {
		case field.IsList() || field.IsMap():
		case field.Kind() == protoreflect.StringKind:
			message.Set(field, protoreflect.ValueOfString(string(field.Name())))
		case field.Message() != nil && field.Message().FullName() != descriptor.FullName():
			inner := identified(field.Message()).ProtoReflect()
			message.Set(field, protoreflect.ValueOfMessage(inner))
		}
	}
	return message
}

// template returns the path with the names of fields in braces.
func (l *location) template() string {
	parts := make([]string, len(l.segments))
	for i, s := range l.segments {
		parts[i] = s.text
	}
	return strings.Join(parts, "/")
}

// TestConditionalRoutes requires that conditional responses are those of reads, and have no ETag of
// a service.
func TestConditionalRoutes(t *testing.T) {
	t.Parallel()
	routes := allRoutes(t)
	var templates []string
	for _, r := range routes {
		if r.conditional {
			templates = append(templates, r.Verb+" "+r.Template)
			require.Nil(t, r.Method.Output().Fields().ByName("etag"), r.Template)
			require.Len(t, r.success, 1, r.Template)
		}
	}
	require.ElementsMatch(t, []string{
		"GET /api/v1/wallet", "GET /api/v1/categories", "GET /api/v1/currencies",
		"GET /api/v1/budgets", "GET /api/v1/dashboard/summary", "GET /api/v1/changes",
	}, templates)
}

// allRoutes returns the routes of all services.
func allRoutes(t *testing.T) []*Route {
	t.Helper()
	routes, err := Routes()
	require.NoError(t, err)
	return routes
}
