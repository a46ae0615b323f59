package test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGatewayPages requests the pages that the gateway serves without a service.
func TestGatewayPages(t *testing.T) {
	t.Parallel()
	anonymous := &user{t: t}
	for path, part := range map[string]string{
		"/": "<title>Coffer</title>", "/livez": "ok", "/readyz": "{", "/version": "{",
		"/api/v1/openapi.json": `"openapi"`, "/docs": "<html",
	} {
		a := anonymous.get(path)
		require.Equal(t, http.StatusOK, a.status, "%s: %s", path, a.raw)
		require.Contains(t, string(a.raw), part, path)
		require.Equal(t, "nosniff", a.header.Get("X-Content-Type-Options"), path)
		require.NotEmpty(t, a.header.Get("X-Request-Id"), path)
	}
}

// TestBodyLimit sends a chunked body of 100 MB, whose length the gateway does not know in advance.
func TestBodyLimit(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	for _, path := range []string{"/api/v1/wallet", "/api/v1/transaction"} {
		body := io.MultiReader(strings.NewReader(`{"name":"`), io.LimitReader(endless{}, 100<<20),
			strings.NewReader(`"}`))
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, baseURL+path, body)
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+me.token)
		me.send(req).fails(413, "PAYLOAD_TOO_LARGE")
	}
	require.Empty(t, me.get("/api/v1/wallet").list("wallets"))
}

type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}
