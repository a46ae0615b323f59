package test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/devstack"
)

const (
	// maxCost is the processor time of a request at its limits. Processor time, unlike the time by
	// the clock, hardly depends on the other programs on the machine; it doubles at most if they
	// share the caches and cores.
	maxCost = time.Second
	// maxLatency is the time by the clock of another user's request during an expensive one. It is
	// the deadline of a request, because the test may run on a busy machine; the log has the
	// measured times.
	maxLatency = 10 * time.Second
	// costRows is the number of transactions of the user. Their descriptions have the maximum
	// length.
	costRows = 2000
)

// costly has the operations that may take longer than maxCost, and the reasons.
var costly = map[string]struct {
	limit  time.Duration
	reason string
}{
	"createImport":                  {10 * time.Second, "rules on each row, see rules.ImportSteps"},
	"updateImport":                  {10 * time.Second, "rules on each row, see rules.ImportSteps"},
	"createTransactionsFromReceipt": {20 * time.Second, "OCR_PROCESSOR_TIME"},
	"exportTransactions":            {5 * time.Second, "a stream of all transactions"},
	"exportAccount":                 {15 * time.Second, "a stream of all data"},
}

// notMeasured has the operations without a request here, and the reasons.
var notMeasured = map[string]string{
	"streamEvents": "it has no end, and a limit of streams for each user",

	"deleteAccount":         "it ends the sessions of the user who measures",
	"cancelAccountDeletion": "it needs the token of a rejected sign-in, and deletes one row",
	"getAccountDeletion":    "it needs a deletion, and reads one row",
	"resetPassword":         "it needs the link of a mail, and hashes once, as register does",
	"revertEmail":           "it needs the link of a mail, and hashes nothing",
	"verifyEmail":           "it needs the link of a mail, and hashes nothing",

	"startOidc":  "it needs an identity provider, and no query",
	"linkOidc":   "it needs an identity provider, and reads one row",
	"finishOidc": "it needs an identity provider, and writes one row",

	"exchangeOidc":       "it needs an identity provider, and starts a session, as login does",
	"deleteOidcIdentity": "it needs an identity provider, and deletes one row",

	"openInvitation": "it needs the link of a mail, and reads two rows",
}

// TestCosts sends a request at its limits to every operation of a separate stack, and measures the
// processor time of the services and of PostgreSQL. The requests are derived from the OpenAPI
// document, with the maxima of its parameters and bodies; worstRequests has those whose cost
// depends on more, and requestsOfState those that need a resource in a certain state. An operation
// without a successful request fails the test. Another user sends requests meanwhile, and all of
// them succeed.
//
//nolint:paralleltest // It measures the processor time of this process.
func TestCosts(t *testing.T) {
	costs := newCostRun(t)
	var slowest time.Duration
	for _, operation := range inOrderOfCosts(operations()) {
		if reason := notMeasured[operation.OperationID]; reason != "" {
			t.Logf("%s is not measured: %s", operation.OperationID, reason)
			continue
		}
		for _, worst := range costs.requests(t, operation) {
			used, latency, answer := costs.measure(t, worst.send)
			name := operation.OperationID + " " + worst.what
			t.Logf("%s: %d, %s; another user waited %s",
				name, answer.status, used.Round(time.Millisecond), latency.Round(time.Millisecond))
			if worst.code != "" {
				require.Equal(t, worst.code, answer.code(), "%s: %.500s", name, answer.raw)
			} else {
				require.Contains(t, []int{200, 201, 202}, answer.status,
					"%s: %.500s", name, answer.raw)
			}
			limit := maxCost
			if exception, ok := costly[operation.OperationID]; ok {
				limit = exception.limit
			}
			require.Less(t, used, limit, name)
			slowest = max(slowest, latency)
		}
	}
	t.Logf("another user waited at most %s", slowest.Round(time.Millisecond))
}

// costRun is a stack with a user who has many large resources, and another user who has few.
type costRun struct {
	stack *devstack.Stack
	// resources creates users with a resource of each kind, and valid paths and bodies with the ids
	// of u.
	resources *attackRun
	u, other  *user
	// ids has the ids of the resources of u, by kind.
	ids map[string]string
	// categories has the ids of as many categories as a budget can have.
	categories []any
	// patterns is the id of a rule whose patterns take the maximum of a user.
	patterns string
	// files is the number of staged imports. Their rows differ.
	files int
}

// measure sends a request, and another user's requests until it is answered. It returns the
// processor time of all of them, which hardly exceeds that of the first, and the longest time of
// the other user.
func (c *costRun) measure(
	t *testing.T, send func() response,
) (used, latency time.Duration, answer response) {
	t.Helper()
	before := processorTime(t, c.stack.PostgresDir)
	answered := make(chan response, 1)
	go func() { answered <- send() }()
	pace := time.NewTicker(100 * time.Millisecond)
	defer pace.Stop()
	for {
		start := time.Now()
		c.other.get("/api/v1/transaction").ok("TRANSACTIONS_FETCHED")
		latency = max(latency, time.Since(start))
		require.Less(t, latency, maxLatency, "another user waits too long")
		select {
		case answer = <-answered:
			return processorTime(t, c.stack.PostgresDir) - before, latency, answer
		case <-pace.C:
		}
	}
}

// processorTime returns the processor time of this process, which runs the services, of its
// children, and of a PostgreSQL server.
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
		// The fields behind the name: the state, the parent, and from the twelfth on the processor
		// time and that of ended children.
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

// staged uploads a file to import, and returns the id of the import.
func (c *costRun) staged() string {
	c.files++
	file := strings.ReplaceAll(patternFile(), "-1.00", fmt.Sprintf("-%d.00", c.files+1))
	staged := c.u.importFile(file, c.ids["wallet"]).created("IMPORT_CREATED")
	return staged.text("import.id")
}

// one returns a single request that must succeed.
func one(what string, send func() response) []worstRequest {
	return []worstRequest{{what: what, send: send}}
}

// spend creates a transaction.
func (c *costRun) spend() string {
	return c.u.spend(c.ids["wallet"], c.ids["category"], "50")
}

// split returns a transaction with as many parts as possible.
func (c *costRun) split() object {
	ids := c.ids
	part := object{"categoryId": ids["category"], "amount": 1, "description": longText}
	all := with(expense(ids["wallet"], ids["category"], "50"), object{
		"splits": slices.Repeat([]any{part}, 50), "notes": strings.Repeat("a", 4000),
		"payee": longText[:200], "description": longText,
	})
	delete(all, "categoryId")
	return all
}
