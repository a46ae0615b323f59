package test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheGatewaysOwnPagesAnswer(t *testing.T) {
	t.Parallel()
	nobody := &person{t: t}
	for path, part := range map[string]string{
		"/livez": "ok", "/readyz": "{", "/version": "{", "/api/v1/openapi.json": `"openapi"`, "/docs": "<html",
	} {
		a := nobody.get(path)
		require.Equal(t, http.StatusOK, a.status, "%s: %s", path, a.raw)
		require.Contains(t, string(a.raw), part, path)
		require.Equal(t, "nosniff", a.header.Get("X-Content-Type-Options"), path)
		require.NotEmpty(t, a.header.Get("X-Request-Id"), path)
	}
}

// TestABodyOf100MBIsCutOff sends it in pieces of unknown number, so that nothing tells its length before.
func TestABodyOf100MBIsCutOff(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	for _, path := range []string{"/api/v1/wallet", "/api/v1/transaction"} {
		body := io.MultiReader(strings.NewReader(`{"name":"`), io.LimitReader(endless{}, 100<<20), strings.NewReader(`"}`))
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, baseURL+path, body)
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+p.token)
		p.send(req).fails(http.StatusRequestEntityTooLarge, "PAYLOAD_TOO_LARGE")
	}
	require.Empty(t, p.get("/api/v1/wallet").list("wallets"))
}

type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}
