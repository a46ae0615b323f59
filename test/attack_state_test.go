package test

import (
	"encoding/json"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}

// requireHeapBelow requires that the heap returns below a limit after an attack. It waits, because
// the tests that run in this process at the same time use memory for a while. Memory that the
// attack leaked stays.
func requireHeapBelow(t *testing.T, limit uint64) {
	t.Helper()
	require.Eventually(t, func() bool { return heapInUse() < limit }, time.Minute, time.Second)
}

// state returns the responses to all GET requests of the victim, by path.
func (s *attackRun) state(t *testing.T) map[string]string {
	t.Helper()
	seen := map[string]string{}
	victim := &user{t: t, base: s.victim.base, token: s.victim.token}
	for _, operation := range operations() {
		if operation.method != http.MethodGet || operation.OperationID == "streamEvents" ||
			operation.OperationID == "exportAccount" ||
			operation.OperationID == "getAccountDeletion" ||
			strings.Contains(operation.path, "/oidc/{provider}/") ||
			strings.Contains(operation.path, "/image") {
			continue
		}
		for _, path := range operation.paths(s.victimIDs, nil) {
			switch {
			case operation.OperationID == "exportTransactions":
				path += "?format=json"
			case strings.HasPrefix(operation.path, "/api/v1/reports/"):
				path += "?currency=EUR"
			case operation.Parameters.GetByInAndName("query", "limit") != nil:
				path += "?limit=200"
			}
			reply := victim.get(path)
			require.Equal(t, http.StatusOK, reply.status, "%s: %s", path, reply.raw)
			for _, volatile := range []string{"deliveries", "keys"} {
				delete(reply.body, volatile)
			}
			if operation.OperationID == "listChanges" {
				delete(reply.body, "pagination") // Each response has another cursor.
			}
			if reply.body == nil {
				seen[path] = string(reply.raw)
				continue
			}
			text, err := json.Marshal(reply.body)
			require.NoError(t, err)
			seen[path] = string(text)
		}
	}
	return seen
}

// awaitState waits until the effects of the victim's own requests are complete, and returns the
// state.
func (s *attackRun) awaitState(t *testing.T) (state map[string]string) {
	t.Helper()
	require.Eventually(t, func() bool {
		before := state
		state = s.state(t)
		return assert.ObjectsAreEqual(before, state)
	}, time.Minute, 300*time.Millisecond)
	return state
}
