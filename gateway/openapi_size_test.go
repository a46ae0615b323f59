package gateway

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// maxDocument limits the document in bytes. Tools load all of it, and generators write several
// lines for each of its lines. It was 600_000 before adjustments, reconciliations and net worth,
// which need 45_000, second factors, which need 15_000, the deletion of accounts, which needs
// 10_000, views, which need 16_000, goals, which need 32_000, passkeys, which need 25_000,
// identity providers, which need 22_000, and members of goals, which need 28_000. A document that
// grows beyond it needs fewer words or more shared parts first.
const maxDocument = 795_000

func TestDocumentSize(t *testing.T) {
	t.Parallel()
	require.LessOrEqual(t, len(openAPI), maxDocument,
		"parts that operations share belong into components: see share.go of the generator")
}

// TestDocumentSharesErrors checks that operations with the same single error for a status refer to
// one response.
func TestDocumentSharesErrors(t *testing.T) {
	t.Parallel()
	inline := map[any]string{}
	shared := map[string]int{}
	for path, item := range document(t).Paths.Map() {
		for verb, operation := range item.Operations() {
			for status, response := range operation.Responses.Map() {
				if response.Ref != "" {
					shared[response.Ref]++
				}
				if status < "400" || response.Ref != "" {
					continue
				}
				schema := response.Value.Content.Get("application/json").Schema.Value
				codes := schema.AllOf[1].Value.Properties["code"].Value.Enum
				if len(codes) == 1 {
					require.Empty(t, inline[codes[0]],
						"%s %s has an error %s of its own", verb, path, codes[0])
					inline[codes[0]] = verb + " " + path
				}
			}
		}
	}
	require.Greater(t, shared["#/components/responses/RateLimited"], 90)
}
