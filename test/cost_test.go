package test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	// maxCost is the processor time of an ordinary request at its limits. Processor time, unlike the time by the clock, hardly depends on
	// the other programs on the machine; it doubles at most if they share the caches and cores.
	maxCost = 2 * time.Second
	// costRows is the number of transactions of the user. Their descriptions have the maximum length.
	costRows = 2000
)

// costly has the ceilings of operations that may take longer than others.
var costly = map[string]time.Duration{
	"createImport":                  10 * time.Second, // 100 rows with rules; rules.ImportSteps limits a whole file to 50 s
	"createTransactionsFromReceipt": 20 * time.Second, // OCR_PROCESSOR_TIME
	"exportTransactions":            5 * time.Second,
}

// TestCosts sends requests at their limits to a separate stack, and measures the processor time of the services and of PostgreSQL. Every
// operation that reads is derived from the OpenAPI document, with the maxima of its parameters; the writes are those whose cost depends on
// the size of the request. Another user's request is answered after each of them.
//
//nolint:paralleltest // It measures the processor time of this process.
func TestCosts(t *testing.T) {
	own := ownStack(t, "", map[string]string{"RATE_LIMIT": "0", "TRUST_PROXY_HOPS": "1"})
	s := &attackRun{stack: own}
	u, ids := s.newUserWithResources(t, "Costly")
	other := newUserAt(t, own.URL, "Other")
	long := strings.Repeat("a", 1000)
	tags := make([]any, 20)
	for i := range tags {
		tags[i] = fmt.Sprint("tag ", i)
	}
	row := with(expense(ids["wallet"], ids["category"], "1"), object{"description": long, "tags": tags})
	bulk := object{"transactions": slices.Repeat([]any{row}, 500)}
	for range costRows / 500 {
		u.post("/api/v1/transaction/batch", bulk).created("TRANSACTIONS_CREATED")
	}
	u.post("/api/v1/rules", object{
		"name": "patterns", "match": "any", "actions": []any{object{"kind": "setNotes", "value": "seen"}},
		"conditions": slices.Repeat([]any{object{"field": "description", "op": "matches", "values": []any{`(?:[^q]?){130}Q0$`}}}, 7),
	}).created("RULE_CREATED")

	measure := func(name string, send func() response) {
		before := processorTime(t, own.PostgresDir)
		r := send()
		used := processorTime(t, own.PostgresDir) - before
		t.Logf("%s: %d, %s", name, r.status, used.Round(time.Millisecond))
		require.Less(t, r.status, http.StatusInternalServerError, "%s: %s", name, r.body)
		operation, _, _ := strings.Cut(name, " ")
		limit := maxCost
		if c, ok := costly[operation]; ok {
			limit = c
		}
		require.Less(t, used, limit, name)
		other.get("/api/v1/wallet").ok("WALLETS_FETCHED")
	}
	for _, o := range operations() {
		if o.method == http.MethodGet && o.OperationID != "streamEvents" && !strings.Contains(o.path, "events") {
			measure(o.OperationID, func() response { return u.get(o.largest(ids)) })
		}
	}
	for name, send := range u.largestWrites(ids, bulk, long) {
		measure(name, send)
	}
}

// largest returns the path of a request with known ids, and the largest value of each parameter that has a maximum.
func (o operation) largest(ids map[string]string) string {
	path := o.filled()
	for kind, id := range ids {
		if strings.Contains(o.path, "/"+kind+"/{id}") || strings.Contains(o.path, "/"+kind+"s/{id}") {
			path = strings.ReplaceAll(o.path, "{id}", id)
		}
	}
	if strings.Contains(path, "{") {
		path = o.filled()
	}
	query := url.Values{}
	for _, p := range o.Parameters {
		if p.Value.In != "query" {
			continue
		}
		switch schema := p.Value.Schema.Value; {
		case p.Value.Name == "limit":
			query.Set("limit", "200")
		case p.Value.Name == "format":
			query.Set("format", "csv")
		case p.Value.Name == "tag":
			for i := range 200 {
				query.Add("tag", fmt.Sprint("unknown ", i))
			}
		case p.Value.Name == "include" && schema.Items != nil && len(schema.Items.Value.Enum) > 0:
			query.Set("include", fmt.Sprint(schema.Items.Value.Enum[0]))
		case p.Value.Required && len(schema.Enum) > 0:
			query.Set(p.Value.Name, fmt.Sprint(schema.Enum[0]))
		}
	}
	return path + "?" + query.Encode()
}

// largestWrites returns the requests of the largest size to operations whose cost depends on it.
func (u *user) largestWrites(ids map[string]string, bulk object, long string) map[string]func() response {
	rows := strings.Repeat("2026-01-31,-1.00,EUR,"+long+"\n", 100)
	return map[string]func() response{
		"createTransactions": func() response { return u.post("/api/v1/transaction/batch", bulk) },
		"suggestCategories": func() response {
			return u.post("/api/v1/suggestions", object{"items": slices.Repeat([]any{object{"description": long, "payee": long[:200]}}, 100)})
		},
		"applyRule preview": func() response { return u.post("/api/v1/rules/"+ids["rule"]+"/apply", object{"dryRun": true}) },
		"updateTag":         func() response { return u.patch("/api/v1/tags/tag%201", object{"name": "renamed"}) },
		"deleteTag":         func() response { return u.del("/api/v1/tags/tag%202") },
		"createImport":      func() response { return u.importFile("Date,Amount,Currency,Description\n"+rows, ids["wallet"]) },
		"createTransactionsFromReceipt": func() response {
			return u.upload("", []byte(strings.Repeat(long[:200]+" 1.00\n", 400)+"Total 400.00\n"), "walletId", ids["wallet"], "categoryId", ids["category"])
		},
	}
}

// processorTime returns the processor time of this process, which runs the services, of its children, and of a PostgreSQL server.
func processorTime(t *testing.T, postgres string) time.Duration {
	t.Helper()
	total := time.Duration(0)
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var usage syscall.Rusage
		require.NoError(t, syscall.Getrusage(who, &usage))
		total += time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	file, err := os.ReadFile(filepath.Join(postgres, "data", "postmaster.pid"))
	require.NoError(t, err)
	postmaster, _, _ := strings.Cut(string(file), "\n")
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // The process has ended.
		}
		pid := filepath.Base(filepath.Dir(path))
		_, after, _ := strings.Cut(string(text), ") ")
		// The fields behind the name: the state, the parent, and from the twelfth on the processor time and that of ended children.
		fields := strings.Fields(after)
		if len(fields) < 15 || pid != postmaster && fields[1] != postmaster {
			continue
		}
		times := fields[11:13]
		if pid == postmaster {
			times = fields[11:15]
		}
		for _, ticks := range times {
			n, err := strconv.Atoi(ticks)
			require.NoError(t, err)
			total += time.Duration(n) * 10 * time.Millisecond
		}
	}
	return total
}
