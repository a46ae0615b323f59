package test

import (
	"fmt"
	"net/http"
	"os"
	"path"
	"regexp"
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
	// minAttacks is the minimum number of attacks. They are derived from the OpenAPI document and
	// the protos, so a lower number means that the derivation is broken.
	minAttacks = 1000
	// victimMark is in every name and description of the victim. No response to the attacker may
	// contain it.
	victimMark = "Xanadu"
	// maxGrowth is the allowed growth of the whole stack's heap during the attacks.
	maxGrowth = 128 << 20
)

// internalText matches errors of the code and of the database, and data of the victim. No response
// may contain them. Short words must be whole, because a cursor is random base64 and has each three
// letters sooner or later.
var internalText = regexp.MustCompile(`SQLSTATE|\b(pgx|goroutine|panic)\b|\.go:|ERROR:|` +
	`nats:|desc =|` + victimMark)

// attackRun is an attack on a separate stack, because the failed logins would exhaust the limit of
// the address that all tests share.
type attackRun struct {
	stack            *devstack.Stack
	attacker, victim *user
	// victimIDs and attackerIDs are the ids of the victim's and the attacker's resources, by kind.
	victimIDs, attackerIDs map[string]string
	// scoped are personal access tokens of the attacker by scope; "" has all scopes.
	scoped map[string]string
	count  atomic.Int64
}

// TestAttacks sends forged tokens, other users' ids, invalid values and malformed requests to every
// operation and every RPC. Each response must be one that the contract allows and contain no data
// of the victim, whose data must not change.
func TestAttacks(t *testing.T) {
	t.Parallel()
	own := ownStack(t, os.Getenv("TEST_DATABASE_URL"),
		withProvider(map[string]string{"RATE_LIMIT": "0", "TRUST_PROXY_HOPS": "1"}))
	run := &attackRun{stack: own}
	run.victim, run.victimIDs = run.newUserWithResources(t, victimMark)
	run.attacker, run.attackerIDs = run.newUserWithResources(t, "Mine")
	run.scoped = run.attacker.personalTokens()
	before, heap := run.awaitState(t), heapInUse()

	for name, attack := range map[string]func(*testing.T){
		"tokens": run.tokens, "ids": run.ids, "values": run.values, "wire": run.wire,
		"rpcs": run.rpcs, "scopes": run.scopes,
	} {
		t.Run(name, attack)
		// The session still exists, so the rejections had other reasons.
		run.attacker.get("/api/v1/auth/me").ok("USER_FETCHED")
	}
	require.Equal(t, before, run.state(t), "the victim's data have changed")
	requireHeapBelow(t, heap+maxGrowth)
	t.Logf("%d attacks", run.count.Load())
	require.GreaterOrEqual(t, run.count.Load(), int64(minAttacks))
}

// newUserWithResources creates a user with one resource of each kind.
func (s *attackRun) newUserWithResources(t *testing.T, word string) (*user, map[string]string) {
	t.Helper()
	me, friend := newUserAt(t, s.stack.URL, word), newUserAt(t, s.stack.URL, word)
	ids := map[string]string{"user": me.id, "wallet": me.wallet("EUR", "100")}
	ownWallet := "/api/v1/wallet/" + ids["wallet"]
	me.patch(ownWallet, object{"name": word}).ok("WALLET_UPDATED")
	ids["reconciliation"] = me.post(ownWallet+"/reconciliations", object{
		"date": "2026-03-01", "balance": 100,
	}).created("WALLET_RECONCILED").text("reconciliation.id")
	ids["category"] = me.category(word)
	ids["deletion"] = uuid.NewString() // No account is being deleted.
	spent := expense(ids["wallet"], ids["category"], "1")
	spent["description"], spent["tags"] = word, []any{word}
	ids["tag"] = word
	ids["transaction"] = me.record(spent)
	ids["bank"] = me.wallet("EUR", "0")
	moved := object{
		"fromWalletId": ids["wallet"], "toWalletId": ids["bank"], "amount": 5, "date": "2026-03-14",
		"description": word,
	}
	transfer := me.post("/api/v1/transfers", moved).created("TRANSFER_CREATED")
	ids["transfer"] = transfer.text("transfer.id")
	ids["leg"] = transfer.text("transfer.inTransactionId")
	read := me.upload("?keepImage=true", []byte(groceries),
		"walletId", ids["wallet"], "categoryId", ids["category"]).
		created("RECEIPT_TRANSACTIONS_CREATED")
	ids["receipt"] = read.text("receipt.id")
	ids["attachment"] = me.attach(ids["transaction"], word, word).created("ATTACHMENT_CREATED").
		text("attachment.id")
	ids["rule"] = me.post("/api/v1/rules", with(me.rule(ids["category"]), object{"name": word})).
		created("RULE_CREATED").text("rule.id")
	ids["view"] = me.post("/api/v1/views", aView(word, "q="+word)).created("VIEW_CREATED").
		text("view.id")
	ids["goal"], ids["assignment"] = me.savings(word, ids["wallet"])
	ids["import"], ids["profile"] = me.importedFile(word, ids["wallet"], ids["category"])
	ids["webhook"] = me.post("/api/v1/webhooks", object{
		"url": "https://example.com/" + word, "description": word,
	}).created("WEBHOOK_CREATED").text("webhook.id")
	ids["budget"] = me.budgetNamed(word, ids["wallet"], ids["category"])
	ids["invitation"] = path.Base(me.inviteByMail(ids["budget"], uuid.NewString()+"@example.com"))
	me.invite(ids["budget"], friend, "editor", "accepted")
	ids["member"] = friend.id
	me.shareGoal(ids["goal"], friend, "editor")
	ids["session"] = me.get("/api/v1/auth/sessions").ok("SESSIONS_FETCHED").text("sessions.0.id")
	ids["provider"], ids["identity"] = uuid.NewString(), me.linkIdentity()
	ids["token"] = me.newPersonalToken("read").text("personalToken.id")
	ids["passkey"] = me.addPasskey(word).id
	ids["notification"] = me.notified("budget.v1.invitation.answered", 2)[0]["id"].(string)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		list := me.get("/api/v1/webhooks/" + ids["webhook"] + "/deliveries").
			ok("WEBHOOK_DELIVERIES_FETCHED").list("deliveries")
		if assert.NotEmpty(c, list) {
			ids["delivery"] = list[0].(object)["id"].(string)
		}
	}, time.Minute, 20*time.Millisecond)
	// Further deliveries would change the compared state.
	me.patch("/api/v1/webhooks/"+ids["webhook"], object{"enabled": false}).ok("WEBHOOK_UPDATED")
	return me, ids
}

// eachOperation runs one part of the attack on the selected operations in parallel.
func (s *attackRun) eachOperation(
	t *testing.T, which func(operation) bool, attack func(t *testing.T, u *user, o operation),
) {
	t.Helper()
	for _, operation := range operations() {
		if which(operation) {
			t.Run(operation.OperationID, func(t *testing.T) {
				t.Parallel()
				me := &user{
					t: t, base: s.stack.URL, token: s.attacker.token, email: s.attacker.email,
					password: s.attacker.password,
				}
				switch operation.OperationID {
				case "logout", "changePassword", "reauthenticate":
					// Logout ends the session that the other attacks need, and failed attempts with
					// a password block it.
					me = newUserAt(t, s.stack.URL, "Mine")
				}
				attack(t, me, operation)
			})
		}
	}
}

// call counts the attack and sends it from a new client address, so that no limit per address
// applies.
func (s *attackRun) call(
	me *user, operation operation, path string, body any, headers ...string,
) response {
	n := s.count.Add(1)
	method := operation.method
	if operation.OperationID == "streamEvents" {
		method = http.MethodHead // An open stream would not end.
	}
	if without, ok := body.(object); operation.isUpload() && (body == nil || ok && without == nil) {
		form, contentType := me.fileForm("a.txt", "text")
		body, headers = form, append([]string{"Content-Type", contentType}, headers...)
	}
	from := fmt.Sprintf("203.%d.%d.%d", n>>16&255, n>>8&255, n&255)
	return me.call(method, path, body, append([]string{"X-Forwarded-For", from}, headers...)...)
}

// requireSafe requires a response that the contract allows and that contains no internal or foreign
// data.
func (o operation) requireSafe(t *testing.T, reply response, what ...any) {
	t.Helper()
	about := fmt.Sprintf("%s %s: %d %.300s", o.OperationID, fmt.Sprint(what...), reply.status,
		reply.raw)
	require.Less(t, reply.status, http.StatusInternalServerError, about)
	require.NotRegexp(t, internalText, string(reply.raw), about)
	require.Empty(t, reply.header.Get("Injected"), about)
	if reply.status < http.StatusBadRequest || len(reply.raw) == 0 {
		return
	}
	require.Contains(t, append(o.codes(), "ROUTE_NOT_FOUND", "METHOD_NOT_ALLOWED"), reply.code(),
		about)
	reply.fails(reply.status, reply.code())
}

// requireRejected also requires one of the statuses.
func (o operation) requireRejected(t *testing.T, a response, statuses []int, what ...any) {
	t.Helper()
	o.requireSafe(t, a, what...)
	require.Contains(t, statuses, a.status,
		"%s %s: %.300s", o.OperationID, fmt.Sprint(what...), a.raw)
}

// path returns the operation's path with ids of the attacker's resources. DELETE gets unknown ids,
// so that the resources and the session remain.
func (s *attackRun) path(t *testing.T, operation operation) string {
	t.Helper()
	var ids []string
	for _, kind := range operation.params(t) {
		id := s.attackerIDs[kind]
		if operation.method == http.MethodDelete {
			id = uuid.NewString()
		}
		ids = append(ids, id)
	}
	return operation.at(ids...)
}

// body returns a valid body for the operation, with the fields of the OpenAPI document and the
// attacker's ids.
func (s *attackRun) body(t *testing.T, operation operation) object {
	t.Helper()
	if !operation.hasBody() {
		return nil
	}
	kind := "expense"
	if strings.HasPrefix(operation.path, "/api/v1/wallet") {
		kind = "savings"
	}
	known := object{
		"name": uuid.NewString(), "currency": "EUR", "limit": 100, "period": "monthly",
		"startDate": "2026-03-01", "walletId": s.attackerIDs["wallet"],
		"categoryId": s.attackerIDs["category"], "categoryIds": []string{s.attackerIDs["category"]},
		"amount": 1, "date": "2026-03-14", "type": "expense",
		"description": "Lunch", "balance": 1, "url": "https://example.com/x", "events": []string{},
		"enabled": false, "email": uuid.NewString() + "@example.com",
		"password": "a long enough secret", "refreshToken": "none", "status": "accepted",
		"role": "viewer", "sharePercent": 1, "read": true, "archived": false,
		"color": "#2F6F4F", "icon": "💶", "kind": kind, "position": 1,
		"openingDate": "2026-01-01", "initialBalance": 1, "note": "x",
		"fromWalletId": s.attackerIDs["wallet"], "toWalletId": s.attackerIDs["bank"], "toAmount": 1,
		"toCurrency": "EUR", "notes": "by card", "target": 9, "targetDate": "2030-01-01",
		"payee": "Shop", "tags": []string{"Trip"}, "timeZone": "UTC", "weekStart": "monday",
		"locale": "de-DE", "baseCurrency": "EUR", "ceremonyId": "none", "credential": "{}",
		"defaultWalletId": s.attackerIDs["wallet"], "defaultCategoryId": s.attackerIDs["category"],
		"accounts": []object{}, "categories": []object{}, "confirm": []string{"SIGN_ASSUMED"},
		"defaults": object{"walletId": s.attackerIDs["wallet"]}, "force": false,
		"rows": []object{{"n": 2, "action": "skip"}},
		"from": "2026-03-01", "to": "2026-03-31", "dryRun": true,
		"items": []object{{
			"id": s.attackerIDs["transaction"], "payee": "Shop",
			"walletId": s.attackerIDs["wallet"],
		}},
		"match": "all", "stop": false, "on": []string{"import"},
		"ids":              []string{s.attackerIDs["rule"]},
		"conditions":       []object{{"field": "payee", "op": "in", "values": []string{"Shop"}}},
		"actions":          []object{{"kind": "addTag", "value": "Trip"}},
		"outTransactionId": s.attackerIDs["transaction"],
		"inTransactionId":  s.attackerIDs["transaction"], "inCategoryId": s.attackerIDs["category"],
		"transactions": []object{
			expense(s.attackerIDs["wallet"], s.attackerIDs["category"], "1"),
		},
		"alertThresholds": []int{50}, "currentPassword": "not the password",
		"newPassword": "another long secret",
		"scopes":      []string{"read"}, "token": "none", "invitationToken": "", "query": "",
		"mfaToken": "none", "cancelToken": "none", "code": "123456", "replace": false,
		"expiresAt": time.Now().Add(time.Hour).UTC().Format(time.RFC3339),
	}
	switch operation.OperationID {
	case "createView":
		known["kind"] = "transactions"
	case "loginPasskey":
		known["assertion"] = "{}"
	}
	body := object{}
	described := operation.RequestBody.Value.Content.Get("application/json")
	for field := range described.Schema.Value.Properties {
		if v, ok := known[field]; ok {
			body[field] = v
		} else {
			// An external id is the client's own, a request with splits has no categoryId, one with
			// tags no addTags and removeTags, and one with a code no recoveryCode and assertion.
			require.Contains(t, []string{
				"endDate", "response", "externalId", "splits", "mapping", "addTags", "removeTags",
				"cleared", "recoveryCode", "assertion", "returnTo",
			}, field, "add this field of %s to this test", operation.OperationID)
		}
	}
	if operation.OperationID == "reauthenticate" {
		// A request has either a password or another proof.
		delete(body, "code")
		delete(body, "ceremonyId")
	}
	return body
}
