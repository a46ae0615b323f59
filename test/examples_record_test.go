package test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/personaltoken"
)

// recorder collects the first example of each operation and status. It replaces values that differ
// in each run.
type recorder struct {
	t        *testing.T
	examples map[string]*example
	// texts are the replacements of e-mails and ids.
	texts map[string]string
}

// call sends a request that must succeed.
func (r *recorder) call(u *user, method, path string, body any) response {
	r.t.Helper()
	a := u.call(method, path, body)
	r.record(method, path, body, a)
	return a
}

// also records a further response of an operation that record knows.
func (r *recorder) also(method, path string, a response) {
	r.t.Helper()
	require.Less(r.t, a.status, 300, "%s %s: %s", method, path, a.raw)
	req, err := http.NewRequestWithContext(r.t.Context(), method, path, nil)
	require.NoError(r.t, err)
	found, _, err := router.FindRoute(req)
	require.NoError(r.t, err)
	r.examples[found.Operation.OperationID].Also = map[string]any{fmt.Sprint(a.status): r.stable("",
		a.body)}
}

func (r *recorder) upload(
	me *user, query, text, wallet, category string, corrections object,
) response {
	r.t.Helper()
	encoded, err := json.Marshal(corrections)
	require.NoError(r.t, err)
	a := me.upload(query, []byte(text), "walletId", wallet, "categoryId", category, "corrections",
		string(encoded))
	r.record(http.MethodPost, "/api/v1/transaction/receipt"+query, object{
		"receipt": text, "walletId": wallet, "categoryId": category, "corrections": corrections,
	}, a)
	return a
}

func (r *recorder) record(method, path string, body any, reply response) {
	r.t.Helper()
	require.Less(r.t, reply.status, 300, "%s %s: %s", method, path, reply.raw)
	req, err := http.NewRequestWithContext(r.t.Context(), method, path, nil)
	require.NoError(r.t, err)
	found, inPath, err := router.FindRoute(req)
	require.NoError(r.t, err)
	recorded := r.examples[found.Operation.OperationID]
	if recorded == nil {
		recorded = &example{Responses: map[string]any{}}
		for _, parameter := range found.Operation.Parameters {
			if value, ok := sent(parameter.Value, inPath, req); ok {
				if recorded.Parameters == nil {
					recorded.Parameters = map[string]any{}
				}
				recorded.Parameters[parameter.Value.Name] = r.stable("", value)
			}
		}
		if body != nil {
			recorded.Request = r.stable("", body)
		}
		r.examples[found.Operation.OperationID] = recorded
	}
	status := fmt.Sprint(reply.status)
	if recorded.Responses[status] == nil {
		recorded.Responses[status] = r.stable("", reply.body)
	}
}

// sent returns the value of a parameter in a request, with the type of its schema.
func sent(parameter *openapi3.Parameter, inPath map[string]string, req *http.Request) (any, bool) {
	text, ok := inPath[parameter.Name]
	if parameter.In == openapi3.ParameterInQuery {
		text, ok = req.URL.Query().Get(parameter.Name), req.URL.Query().Has(parameter.Name)
	}
	switch {
	case parameter.Schema.Value.Type.Is("integer"):
		return json.Number(text), ok
	case parameter.Schema.Value.Type.Is("boolean"):
		return text == "true", ok
	}
	return text, ok
}

var (
	anyUUID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	// isLinkToken matches the tokens of links in mails.
	isLinkToken = regexp.MustCompile(`^[\w-]{43}$`)
	// isCode matches codes of authenticator apps.
	isCode = regexp.MustCompile(`^\d{6}$`)
	// isRecoveryCode matches recovery codes, and isTotpSecret secrets of authenticator apps.
	isRecoveryCode = regexp.MustCompile(`^[0-9a-z]{5}-[0-9a-z]{5}$`)
	isTotpSecret   = regexp.MustCompile(`^[A-Z2-7]{32}$`)
	// secrets are the replacements of fields that are different in each run, or must not be
	// published.
	secrets = map[string]string{
		"accessToken":  "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIwMTk5ZjBjNSJ9.c2lnbmF0dXJl",
		"token":        "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIwMTk5ZjBjNSJ9.c2lnbmF0dXJl",
		"cancelToken":  "q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJCrze8S",
		"deviceKey":    "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
		"refreshToken": "r-4Wn1ZBqkq0cVfDyGxJ2A", "secret": "whsec_Y29mZmVyLWV4YW1wbGUtc2VjcmV0",
		"nextCursor": "AAECAwQFBgcICQoLDA0ODw",
		"mfaToken":   "mfa_wE3pTQ0cG5uXnZsY1bQ7Kq2dJm9hVf4oLr8aSiUyNxC",
		"otpauthUri": "otpauth://totp/Coffer:ada@example.com?algorithm=SHA1&digits=6" +
			"&issuer=Coffer&period=30&secret=" + exampleSecret,
		// The image of a QR code is long.
		"qrSvg":      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 49 49">...</svg>`,
		"ceremonyId": "wE3pTQ0cG5uXnZsY1bQ7Kq2dJm9hVf4oLr8aSiUyNxC",
		// JSON of WebAuthn, shortened.
		"options":    `{"challenge":"9Ct0...","rpId":"coffer.example.org","timeout":300000}`,
		"credential": `{"id":"Zm9v...","type":"public-key","response":{}}`,
		"assertion":  `{"id":"Zm9v...","type":"public-key","response":{}}`,
		"x":          "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", "kid": "2026-11-20",
	}
)

// exampleSecret is the secret of an authenticator app.
const exampleSecret = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"

// later are the replacements of times that are after the request.
var later = map[string]string{
	"expiresAt": "2026-12-20T10:15:00.000Z", "erasesAt": "2026-11-23T10:15:00.000Z",
	"previousSecretUntil": "2026-11-21T10:15:00.000Z",
	"nextAttemptAt":       "2026-11-20T10:15:30.000Z",
}

// maxListed is the number of elements of a list in an example.
const maxListed = 5

// stable shortens lists, and replaces ids by their order of appearance, and the time of the test,
// addresses, tokens and e-mails by fixed ones.
func (r *recorder) stable(key string, v any) any {
	switch value := v.(type) {
	case object:
		replaced := object{}
		for _, name := range slices.Sorted(maps.Keys(value)) {
			replaced[name] = r.stable(name, value[name])
		}
		return replaced
	case []any:
		replaced := make([]any, min(len(value), maxListed))
		for i := range replaced {
			replaced[i] = r.stable(key, value[i])
		}
		return replaced
	case string:
		return r.stableText(key, value)
	}
	return v
}

// isRecent reports whether a text is the day of the test, which may have begun on the day before.
func isRecent(text string) bool {
	day, err := time.Parse(time.DateOnly, text)
	return err == nil && time.Since(day) < 48*time.Hour
}

func (r *recorder) stableText(key, text string) string {
	if key == "token" && isLinkToken.MatchString(text) {
		return "wE3pTQ0cG5uXnZsY1bQ7Kq2dJm9hVf4oLr8aSiUyNxC"
	}
	if key == "code" && isCode.MatchString(text) {
		return "287082"
	}
	if isTotpSecret.MatchString(text) {
		return exampleSecret
	}
	if isRecoveryCode.MatchString(text) {
		return "3f9k7-0zq2m"
	}
	if personaltoken.Is(text) {
		return "cof_00000000000000000000000000000000000000000002Z4OqE"
	}
	if fixed := secrets[key]; fixed != "" && text != "" {
		return fixed
	}
	moment, err := time.Parse(time.RFC3339, text)
	switch {
	case err == nil && key != "date":
		return cmp.Or(later[key], "2026-11-20T10:15:00.000Z")
	case err == nil:
		return moment.UTC().Format("2006-01-02T15:04:05.000Z")
	case key == "address" || key == "ipAddress" || key == "lastAddress":
		return "203.0.113.7"
	case key == "windowStart":
		return "2026-03-01"
	case key == "windowEnd":
		return "2026-03-31"
	case key == "from" && isRecent(text):
		return "2026-11-20"
	case r.texts[text] != "":
		return r.texts[text]
	}
	return anyUUID.ReplaceAllStringFunc(text, func(id string) string {
		if r.texts[id] == "" {
			r.texts[id] = fmt.Sprintf("0199f0c5-0000-7000-8000-%012d", len(r.texts))
		}
		return r.texts[id]
	})
}
