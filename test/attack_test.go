package test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/devstack"
)

const (
	// leastAttacks is what the suite must come to; the cases are made from the OpenAPI document and the protos.
	leastAttacks = 1000
	// marked stands in every name and description of the victim: no answer to the attacker may hold it.
	marked = "Xanadu"
	// memory is what the whole stack may have grown by when all is over.
	memory = 128 << 20
)

// inner are words that only code and database know.
var inner = []string{"SQLSTATE", "pgx", "goroutine", "panic", ".go:", "ERROR:", "nats:", "desc =", marked}

// siege is a stack of its own: failed logins would lock the address of all other tests out.
type siege struct {
	stack            *devstack.Stack
	attacker, victim *person
	// ids of the victim's and the attacker's things, by kind.
	theirs, own map[string]string
	count       atomic.Int64
}

// TestNoAttackGetsMoreThanARefusal tries every operation and every RPC with what an attacker would send. Each answer is one
// that the contract knows, nothing of the victim shows, and nothing of the victim has changed in the end.
func TestNoAttackGetsMoreThanARefusal(t *testing.T) {
	t.Parallel()
	own := ownStack(t, os.Getenv("TEST_DATABASE_URL"), map[string]string{"RATE_LIMIT": "0", "TRUST_PROXY_HOPS": "1"})
	s := &siege{stack: own}
	s.victim, s.theirs = s.enter(t, marked)
	s.attacker, s.own = s.enter(t, "Mine")
	before, heap := s.settled(t), heapInUse()

	for name, attack := range map[string]func(*testing.T){"tokens": s.tokens, "ids": s.ids, "values": s.values, "wire": s.wire, "rpcs": s.rpcs} {
		t.Run(name, attack)
		s.attacker.get("/api/v1/auth/me").ok("USER_FETCHED") // else what was refused was refused for want of a session
	}
	require.Equal(t, before, s.state(t), "the victim's things are as they were")
	require.Less(t, heapInUse(), heap+memory)
	t.Logf("%d attacks", s.count.Load())
	require.GreaterOrEqual(t, s.count.Load(), int64(leastAttacks))
}

func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}

// enter makes somebody who has one of everything.
func (s *siege) enter(t *testing.T, word string) (*person, map[string]string) {
	t.Helper()
	p, friend := newPersonAt(t, s.stack.URL, word), newPersonAt(t, s.stack.URL, word)
	ids := map[string]string{"user": p.id, "wallet": p.wallet("EUR", "100")}
	p.patch("/api/v1/wallet/"+ids["wallet"], object{"name": word}).ok("WALLET_UPDATED")
	ids["category"] = p.category(word)
	spent := expense(ids["wallet"], ids["category"], "1")
	spent["description"] = word
	ids["transaction"] = p.post("/api/v1/transaction", spent).created("TRANSACTION_CREATED").text("transaction.id")
	read := p.upload("?keepImage=true", []byte(groceries), "walletId", ids["wallet"], "categoryId", ids["category"]).created("RECEIPT_TRANSACTIONS_CREATED")
	ids["receipt"] = read.text("receipt.id")
	ids["webhook"] = p.post("/api/v1/webhooks", object{"url": "https://example.com/" + word, "description": word}).created("WEBHOOK_CREATED").text("webhook.id")
	ids["budget"] = p.budgetNamed(word, ids["wallet"], ids["category"])
	p.invite(ids["budget"], friend, "editor", "accepted")
	ids["member"] = friend.id
	ids["session"] = p.get("/api/v1/auth/sessions").ok("SESSIONS_FETCHED").text("sessions.0.id")
	ids["notification"] = p.notified("budget.v1.invitation.answered", 1)[0]["id"].(string)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		list := p.get("/api/v1/webhooks/" + ids["webhook"] + "/deliveries").ok("WEBHOOK_DELIVERIES_FETCHED").list("deliveries")
		if assert.NotEmpty(c, list) {
			ids["delivery"] = list[0].(object)["id"].(string)
		}
	}, 20*time.Second, 20*time.Millisecond)
	// No more deliveries: they would go on changing things.
	p.patch("/api/v1/webhooks/"+ids["webhook"], object{"enabled": false}).ok("WEBHOOK_UPDATED")
	return p, ids
}

// state is everything that the victim can see.
func (s *siege) state(t *testing.T) map[string]string {
	t.Helper()
	seen := map[string]string{}
	victim := &person{t: t, base: s.victim.base, token: s.victim.token}
	for _, o := range operations() {
		if o.method != http.MethodGet || o.OperationID == "streamEvents" || strings.Contains(o.path, "/image") {
			continue
		}
		for _, path := range o.paths(s.theirs, nil) {
			if o.Parameters.GetByInAndName("query", "limit") != nil {
				path += "?limit=200"
			}
			a := victim.get(path)
			require.Equal(t, http.StatusOK, a.status, "%s: %s", path, a.raw)
			for _, volatile := range []string{"deliveries", "keys"} {
				delete(a.body, volatile)
			}
			text, err := json.Marshal(a.body)
			require.NoError(t, err)
			seen[path] = string(text)
		}
	}
	return seen
}

// settled waits until what the victim's own doings set off has happened.
func (s *siege) settled(t *testing.T) (state map[string]string) {
	t.Helper()
	require.Eventually(t, func() bool {
		before := state
		state = s.state(t)
		return assert.ObjectsAreEqual(before, state)
	}, 20*time.Second, 300*time.Millisecond)
	return state
}

// eachOperation runs one part of the attack on all operations side by side.
func (s *siege) eachOperation(t *testing.T, which func(operation) bool, attack func(t *testing.T, p *person, o operation)) {
	t.Helper()
	for _, o := range operations() {
		if which(o) {
			t.Run(o.OperationID, func(t *testing.T) {
				t.Parallel()
				p := &person{t: t, base: s.stack.URL, token: s.attacker.token, email: s.attacker.email, password: s.attacker.password}
				if o.OperationID == "logout" || o.OperationID == "changePassword" {
					// The one ends the session that the others need, the other's failures close the account.
					p = newPersonAt(t, s.stack.URL, "Mine")
				}
				attack(t, p, o)
			})
		}
	}
}

// call counts the attack, and comes from an address of its own.
func (s *siege) call(p *person, o operation, path string, body any, headers ...string) answer {
	n := s.count.Add(1)
	method := o.method
	if o.OperationID == "streamEvents" {
		method = http.MethodHead // a stream that is opened has no end
	}
	from := fmt.Sprintf("203.%d.%d.%d", n>>16&255, n>>8&255, n&255)
	return p.call(method, path, body, append([]string{"X-Forwarded-For", from}, headers...)...)
}

// survived requires an answer that the contract knows and that gives nothing away.
func (o operation) survived(t *testing.T, a answer, what ...any) {
	t.Helper()
	about := fmt.Sprintf("%s %s: %d %.300s", o.OperationID, fmt.Sprint(what...), a.status, a.raw)
	require.Less(t, a.status, http.StatusInternalServerError, about)
	for _, word := range inner {
		require.NotContains(t, string(a.raw), word, about)
	}
	require.Empty(t, a.header.Get("Injected"), about)
	if a.status < http.StatusBadRequest || len(a.raw) == 0 {
		return
	}
	require.Contains(t, append(o.codes(), "ROUTE_NOT_FOUND", "METHOD_NOT_ALLOWED"), a.code(), about)
	a.fails(a.status, a.code())
}

// refused requires one of the statuses as well.
func (o operation) refused(t *testing.T, a answer, statuses []int, what ...any) {
	t.Helper()
	o.survived(t, a, what...)
	require.Contains(t, statuses, a.status, "%s %s: %.300s", o.OperationID, fmt.Sprint(what...), a.raw)
}

// path is that to something of the attacker's, and for what would delete it or end his session to nothing.
func (s *siege) path(t *testing.T, o operation) string {
	t.Helper()
	var ids []string
	for _, kind := range o.params(t) {
		id := s.own[kind]
		if o.method == http.MethodDelete {
			id = uuid.NewString()
		}
		ids = append(ids, id)
	}
	return o.at(ids...)
}

// body is one that the operation takes, made of the document's fields and the attacker's ids.
func (s *siege) body(t *testing.T, o operation) object {
	t.Helper()
	if !o.hasBody() {
		return nil
	}
	known := object{
		"name": uuid.NewString(), "currency": "EUR", "limit": 100, "period": "monthly", "startDate": "2026-03-01", "walletId": s.own["wallet"],
		"categoryId": s.own["category"], "categoryIds": []string{s.own["category"]}, "amount": 1, "date": "2026-03-14", "type": "expense",
		"description": "Lunch", "balance": 1, "url": "https://example.com/x", "events": []string{}, "enabled": false, "email": uuid.NewString() + "@example.com",
		"password": "a long enough secret", "refreshToken": "none", "status": "accepted", "role": "viewer", "sharePercent": 1, "read": true, "archived": false,
		"transactions": []object{expense(s.own["wallet"], s.own["category"], "1")}, "alertThresholds": []int{50}, "currentPassword": "not the password", "newPassword": "another long secret",
	}
	body := object{}
	for field := range o.RequestBody.Value.Content.Get("application/json").Schema.Value.Properties {
		if v, ok := known[field]; ok {
			body[field] = v
		} else {
			require.Contains(t, []string{"endDate", "response"}, field, "%s has a field that this test does not know", o.OperationID)
		}
	}
	return body
}

// with is a body with other fields on top.
func with(body, more object) object {
	all := object{}
	for _, from := range []object{body, more} {
		for k, v := range from {
			all[k] = v
		}
	}
	return all
}
