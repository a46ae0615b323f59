package test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestConditionalLists requests each list again with its ETag, after nothing has changed and after
// a change.
func TestConditionalLists(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	wallet, category := me.wallet("EUR", "100"), me.category("Food")
	me.budget(wallet, category)
	paths := []string{
		"/api/v1/wallet", "/api/v1/categories", "/api/v1/budgets",
		"/api/v1/dashboard/summary?from=2026-03-01&to=2026-03-31",
	}
	tags := map[string]string{}
	for _, path := range paths {
		tags[path] = me.get(path).header.Get("ETag")
		require.NotEmpty(t, tags[path], path)
		unchanged := me.get(path, "If-None-Match", tags[path])
		require.Equal(t, http.StatusNotModified, unchanged.status, "%s: %s", path, unchanged.raw)
		require.Empty(t, unchanged.raw, path)
		require.Equal(t, tags[path], unchanged.header.Get("ETag"), path)
		// An ETag of another list of another user matches nothing.
		other := newUser(t).get(path, "If-None-Match", tags[path])
		require.Equal(t, http.StatusOK, other.status, path)
	}
	february := me.get("/api/v1/dashboard/summary?from=2026-02-01&to=2026-02-28",
		"If-None-Match", tags[paths[3]])
	require.Equal(t, http.StatusOK, february.status)

	me.spend(wallet, category, "10")
	me.category("Rent")
	me.budget(wallet, category)
	for _, path := range paths {
		changed := me.get(path, "If-None-Match", tags[path])
		require.Equal(t, http.StatusOK, changed.status, path)
		require.NotEqual(t, tags[path], changed.header.Get("ETag"), path)
	}
}
