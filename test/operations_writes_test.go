package test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// TestEmptyUpdate sends PATCH requests without fields, and with unknown fields only.
func TestEmptyUpdate(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	wallet, category := me.wallet("EUR", "0"), me.category("Food")
	for _, path := range []string{
		"/api/v1/wallet/" + wallet, "/api/v1/categories/" + category,
		"/api/v1/transaction/" + me.spend(wallet, category, "1"),
		"/api/v1/transfers/" + me.post("/api/v1/transfers",
			moves(wallet, me.wallet("EUR", "0"), "1")).text("transfer.id"),
		"/api/v1/budgets/" + me.budget(wallet, category), "/api/v1/auth/me",
		"/api/v1/webhooks/" + me.webhook("https://example.com"),
		"/api/v1/views/" + me.post("/api/v1/views", aView("A", "")).text("view.id"),
		"/api/v1/goals/" + me.goal("Trip", "900"),
	} {
		for _, body := range []string{
			`{}`, `{"id":"x","ownerId":"y","createdAt":1,"nothing":{"known":[]}}`,
		} {
			me.patch(path, body).fails(400, "EMPTY_UPDATE")
		}
	}
}

// TestIdempotencyKey repeats each POST with the same key, with the same body and with another one.
func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	wallet, category := me.wallet("EUR", "0"), me.category("Food")
	budget := me.budget(wallet, category)
	friend, other := newUser(t), newUser(t)
	first := me.post("/api/v1/rules", me.rule(category)).created("RULE_CREATED").text("rule.id")
	second := me.post("/api/v1/rules", me.rule(category)).created("RULE_CREATED").text("rule.id")
	spent := []any{me.spend(wallet, category, "1"), me.spend(wallet, category, "2")}
	committed, _ := me.importedFile("Bakery", wallet, category)
	staged := me.importFile(oneRow, wallet).created("IMPORT_CREATED").text("import.id")
	me.patch("/api/v1/imports/"+staged, object{
		"defaults": object{"walletId": wallet, "expenseCategoryId": category},
	}).ok("IMPORT_UPDATED")
	for path, bodies := range map[string][2]object{
		"/api/v1/wallet": {
			{"name": "A", "currency": "EUR"}, {"name": "B", "currency": "EUR"},
		},
		"/api/v1/categories": {{"name": "A"}, {"name": "B"}},
		"/api/v1/transaction": {
			expense(wallet, category, "1"), expense(wallet, category, "2"),
		},
		"/api/v1/transaction/batch": {
			batch(expense(wallet, category, "1")), batch(expense(wallet, category, "2")),
		},
		"/api/v1/transaction/batch/delete": {{"ids": spent}, {"ids": spent[:1]}},
		"/api/v1/budgets": {
			aBudget("A", wallet, category), aBudget("B", wallet, category),
		},
		"/api/v1/budgets/" + budget + "/share": {
			{"email": friend.email}, {"email": other.email},
		},
		"/api/v1/goals/" + me.goal("Shared", "900") + "/share": {
			{"email": friend.email}, {"email": other.email},
		},
		"/api/v1/rules/order": {
			{"ids": []any{second, first}}, {"ids": []any{first, second}},
		},
		"/api/v1/rules/" + first + "/apply": {
			{"from": "2026-01-01"}, {"from": "2026-01-02"},
		},
		"/api/v1/imports/" + staged + "/commit?force=true": {{}, {}},
		"/api/v1/imports/" + committed + "/undo":           {{"force": true}, {"force": false}},
		"/api/v1/auth/tokens": {
			{"name": "A", "scopes": []any{"read"}}, {"name": "B", "scopes": []any{"read"}},
		},
		"/api/v1/views": {aView("A", ""), aView("B", "")},
		"/api/v1/goals": {aGoal("A", "1"), aGoal("B", "1")},
		"/api/v1/goals/" + me.goal("Trip", "900") + "/assignments": {
			assigns(wallet, "1"), assigns(wallet, "2"),
		},
		"/api/v1/webhooks": {
			{"url": "https://example.com/a"}, {"url": "https://example.com/b"},
		},
		"/api/v1/auth/register": {
			{"name": "A", "email": "k" + me.email, "password": me.password},
			{"name": "B", "email": "k" + me.email, "password": me.password},
		},
		"/api/v1/auth/login": {
			{"email": me.email, "password": me.password},
			{"email": me.email, "password": me.password + "!"},
		},
	} {
		key := uuid.NewString()
		first := me.post(path, bodies[0], "Idempotency-Key", key)
		require.Contains(t, []int{200, 201, 202}, first.status, "%s: %s", path, first.raw)
		require.Empty(t, first.header.Get("Idempotency-Replayed"))
		again := me.post(path, bodies[0], "Idempotency-Key", key)
		require.Equal(t, "true", again.header.Get("Idempotency-Replayed"), path)
		require.JSONEq(t, string(first.raw), string(again.raw))
		path = strings.TrimSuffix(path, "?force=true")
		me.post(path, bodies[1], "Idempotency-Key", key).fails(409, "IDEMPOTENCY_KEY_CONFLICT")
		me.post(path, bodies[1], "Idempotency-Key", strings.Repeat("k", 256)).
			invalid("Idempotency-Key")
	}
}

// TestLocation creates resources, and reads each one with the path in Location.
func TestLocation(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	wallet, category := me.wallet("EUR", "0"), me.category("Food")
	id := me.spend(wallet, category, "1")
	attached := me.attach(id, "menu.txt", "Soup 4.50")
	require.Equal(t, "/api/v1/attachments/"+attached.text("attachment.id"),
		attached.header.Get("Location"))
	require.Empty(t, me.attach(id, "menu.txt", "Soup 4.50").header.Get("Location"),
		"a file that the transaction has is not created")
	for resource, created := range map[string]response{
		"wallet":      me.post("/api/v1/wallet", object{"name": "A", "currency": "EUR"}),
		"category":    me.post("/api/v1/categories", object{"name": "A"}),
		"transaction": me.post("/api/v1/transaction", expense(wallet, category, "1")),
		"transfer":    me.post("/api/v1/transfers", moves(wallet, me.wallet("EUR", "0"), "1")),
		"budget":      me.post("/api/v1/budgets", aBudget("A", wallet, category)),
		"member": me.post("/api/v1/budgets/"+me.budgetNamed("B", wallet, category)+"/share",
			object{"email": newUser(t).email}),
		"webhook": me.post("/api/v1/webhooks", object{"url": "https://example.com/a"}),
		"rule":    me.post("/api/v1/rules", me.rule(category)),
		"view":    me.post("/api/v1/views", aView("A", "")),
		"goal":    me.post("/api/v1/goals", aGoal("A", "1")),
		"import":  me.importFile(oneRow, wallet),
	} {
		require.Equal(t, http.StatusCreated, created.status, "%s", created.raw)
		read := me.get(created.header.Get("Location"))
		require.Equal(t, http.StatusOK, read.status, "%s: %s", resource, read.raw)
		require.Equal(t, created.text(resource+".id"), read.text(resource+".id"))
	}
	require.Empty(t, me.post("/api/v1/transaction/batch",
		batch(expense(wallet, category, "1"))).header.Get("Location"))
}

// TestIfMatch sends PATCH and DELETE requests with the current and with an old ETag.
func TestIfMatch(t *testing.T) {
	t.Parallel()
	self := newUser(t)
	wallet, category := self.wallet("EUR", "0"), self.category("Food")
	for path, change := range map[string]object{
		"/api/v1/wallet/" + self.wallet("EUR", "0"):                        {"name": "New"},
		"/api/v1/categories/" + self.category("Fun"):                       {"name": "New"},
		"/api/v1/transaction/" + self.spend(wallet, category, "1"):         {"amount": 2},
		"/api/v1/budgets/" + self.budgetNamed("Another", wallet, category): {"name": "New"},
	} {
		tag := self.get(path).header.Get("ETag")
		require.NotEmpty(t, tag)
		after := self.patch(path, change, "If-Match", tag)
		require.Equal(t, http.StatusOK, after.status, "%s", after.raw)
		require.NotEqual(t, tag, after.header.Get("ETag"))
		self.patch(path, change, "If-Match", tag).fails(412, "VERSION_MISMATCH")
		self.del(path, "If-Match", tag).fails(412, "VERSION_MISMATCH")
		gone := self.del(path, "If-Match", `"77", `+after.header.Get("ETag"))
		require.Equal(t, http.StatusOK, gone.status, "%s", gone.raw)
	}
	for path, change := range self.versioned(t, wallet, category) {
		tag := self.get(path).header.Get("ETag")
		require.NotEmpty(t, tag, path)
		require.Equal(t, tag, self.get(path).header.Get("ETag"))
		self.patch(path, change, "If-Match", `"77"`).fails(412, "VERSION_MISMATCH")
		after := self.patch(path, change, "If-Match", tag)
		require.Equal(t, http.StatusOK, after.status, "%s", after.raw)
		require.NotEqual(t, tag, after.header.Get("ETag"), path)
		require.Equal(t, after.header.Get("ETag"), self.get(path).header.Get("ETag"), path)
		self.patch(path, change, "If-Match", tag).fails(412, "VERSION_MISMATCH")
		path = strings.TrimSuffix(path, "/rows")
		self.del(path, "If-Match", tag).fails(412, "VERSION_MISMATCH")
		gone := self.del(path, "If-Match", after.header.Get("ETag"))
		require.Equal(t, http.StatusOK, gone.status, "%s", gone.raw)
	}
	const me = "/api/v1/auth/me"
	tag := self.get(me).ok("USER_FETCHED").header.Get("ETag")
	require.NotEmpty(t, tag)
	require.NotEqual(t, tag,
		self.patch(me, object{"name": "New"}, "If-Match",
			tag).ok("USER_UPDATED").header.Get("ETag"))
	self.patch(me, object{"name": "Old"}, "If-Match", tag).fails(412, "VERSION_MISMATCH")
	require.Equal(t, "New", self.get(me).text("user.name"))
}

// versioned creates a tag, a member and two imports, and returns a change for the path of each.
func (u *user) versioned(t *testing.T, wallet, category string) map[string]object {
	t.Helper()
	u.record(with(expense(wallet, category, "1"), object{"tags": []any{"Trip"}}))
	budget, friend := u.budgetNamed("Shared", wallet, category), newUser(t)
	u.post("/api/v1/budgets/"+budget+"/share", object{"email": friend.email}).
		created("BUDGET_SHARED")
	staged := func() string {
		return u.importFile(oneRow, wallet).created("IMPORT_CREATED").text("import.id")
	}
	goal := u.goal("Shared", "900")
	u.post("/api/v1/goals/"+goal+"/share", object{"email": friend.email}).created("GOAL_SHARED")
	return map[string]object{
		"/api/v1/goals/" + u.goal("Trip", "900"):              {"name": "New"},
		"/api/v1/goals/" + goal + "/members/" + friend.id:     {"role": "editor"},
		"/api/v1/tags/trip":                                   {"color": "#B5651D"},
		"/api/v1/budgets/" + budget + "/members/" + friend.id: {"role": "editor"},
		"/api/v1/imports/" + staged(): {
			"defaults": object{"walletId": wallet},
		},
		"/api/v1/imports/" + staged() + "/rows": {
			"rows": []any{object{"n": 2, "description": "Bread"}},
		},
	}
}
