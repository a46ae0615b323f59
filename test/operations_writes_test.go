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
	u := newUser(t)
	wallet, category := u.wallet("EUR", "0"), u.category("Food")
	for _, path := range []string{
		"/api/v1/wallet/" + wallet, "/api/v1/categories/" + category,
		"/api/v1/transaction/" + u.spend(wallet, category, "1"),
		"/api/v1/transfers/" + u.post("/api/v1/transfers",
			moves(wallet, u.wallet("EUR", "0"), "1")).text("transfer.id"),
		"/api/v1/budgets/" + u.budget(wallet, category), "/api/v1/auth/me",
		"/api/v1/webhooks/" + u.webhook("https://example.com"),
	} {
		for _, body := range []string{
			`{}`, `{"id":"x","ownerId":"y","createdAt":1,"nothing":{"known":[]}}`,
		} {
			u.patch(path, body).fails(400, "EMPTY_UPDATE")
		}
	}
}

// TestIdempotencyKey repeats each POST with the same key, with the same body and with another one.
func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	wallet, category := u.wallet("EUR", "0"), u.category("Food")
	budget := u.budget(wallet, category)
	friend, other := newUser(t), newUser(t)
	first := u.post("/api/v1/rules", u.rule(category)).created("RULE_CREATED").text("rule.id")
	second := u.post("/api/v1/rules", u.rule(category)).created("RULE_CREATED").text("rule.id")
	committed, _ := u.importedFile("Bakery", wallet, category)
	staged := u.importFile(oneRow, wallet).created("IMPORT_CREATED").text("import.id")
	u.patch("/api/v1/imports/"+staged, object{
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
		"/api/v1/budgets": {
			aBudget("A", wallet, category), aBudget("B", wallet, category),
		},
		"/api/v1/budgets/" + budget + "/share": {
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
		"/api/v1/webhooks": {
			{"url": "https://example.com/a"}, {"url": "https://example.com/b"},
		},
		"/api/v1/auth/register": {
			{"name": "A", "email": "k" + u.email, "password": u.password},
			{"name": "B", "email": "k" + u.email, "password": u.password},
		},
		"/api/v1/auth/login": {
			{"email": u.email, "password": u.password},
			{"email": u.email, "password": u.password + "!"},
		},
	} {
		key := uuid.NewString()
		first := u.post(path, bodies[0], "Idempotency-Key", key)
		require.Contains(t, []int{200, 201, 202}, first.status, "%s: %s", path, first.raw)
		require.Empty(t, first.header.Get("Idempotency-Replayed"))
		again := u.post(path, bodies[0], "Idempotency-Key", key)
		require.Equal(t, "true", again.header.Get("Idempotency-Replayed"), path)
		require.JSONEq(t, string(first.raw), string(again.raw))
		path = strings.TrimSuffix(path, "?force=true")
		u.post(path, bodies[1], "Idempotency-Key", key).fails(409, "IDEMPOTENCY_KEY_CONFLICT")
		u.post(path, bodies[1], "Idempotency-Key", strings.Repeat("k", 256)).
			invalid("Idempotency-Key")
	}
}

// TestLocation creates resources, and reads each one with the path in Location.
func TestLocation(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	wallet, category := u.wallet("EUR", "0"), u.category("Food")
	id := u.spend(wallet, category, "1")
	attached := u.attach(id, "menu.txt", "Soup 4.50")
	require.Equal(t, "/api/v1/attachments/"+attached.text("attachment.id"),
		attached.header.Get("Location"))
	require.Empty(t, u.attach(id, "menu.txt", "Soup 4.50").header.Get("Location"),
		"a file that the transaction has is not created")
	for resource, created := range map[string]response{
		"wallet":      u.post("/api/v1/wallet", object{"name": "A", "currency": "EUR"}),
		"category":    u.post("/api/v1/categories", object{"name": "A"}),
		"transaction": u.post("/api/v1/transaction", expense(wallet, category, "1")),
		"transfer":    u.post("/api/v1/transfers", moves(wallet, u.wallet("EUR", "0"), "1")),
		"budget":      u.post("/api/v1/budgets", aBudget("A", wallet, category)),
		"member": u.post("/api/v1/budgets/"+u.budgetNamed("B", wallet, category)+"/share",
			object{"email": newUser(t).email}),
		"webhook": u.post("/api/v1/webhooks", object{"url": "https://example.com/a"}),
		"rule":    u.post("/api/v1/rules", u.rule(category)),
		"import":  u.importFile(oneRow, wallet),
	} {
		require.Equal(t, http.StatusCreated, created.status, "%s", created.raw)
		read := u.get(created.header.Get("Location"))
		require.Equal(t, http.StatusOK, read.status, "%s: %s", resource, read.raw)
		require.Equal(t, created.text(resource+".id"), read.text(resource+".id"))
	}
	require.Empty(t, u.post("/api/v1/transaction/batch",
		batch(expense(wallet, category, "1"))).header.Get("Location"))
}

// TestIfMatch sends PATCH and DELETE requests with the current and with an old ETag.
func TestIfMatch(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	wallet, category := u.wallet("EUR", "0"), u.category("Food")
	for path, change := range map[string]object{
		"/api/v1/wallet/" + u.wallet("EUR", "0"):                        {"name": "New"},
		"/api/v1/categories/" + u.category("Fun"):                       {"name": "New"},
		"/api/v1/transaction/" + u.spend(wallet, category, "1"):         {"amount": 2},
		"/api/v1/budgets/" + u.budgetNamed("Another", wallet, category): {"name": "New"},
	} {
		tag := u.get(path).header.Get("ETag")
		require.NotEmpty(t, tag)
		after := u.patch(path, change, "If-Match", tag)
		require.Equal(t, http.StatusOK, after.status, "%s", after.raw)
		require.NotEqual(t, tag, after.header.Get("ETag"))
		u.patch(path, change, "If-Match", tag).fails(412, "VERSION_MISMATCH")
		u.del(path, "If-Match", tag).fails(412, "VERSION_MISMATCH")
		gone := u.del(path, "If-Match", `"77", `+after.header.Get("ETag"))
		require.Equal(t, http.StatusOK, gone.status, "%s", gone.raw)
	}
	for path, change := range u.versioned(t, wallet, category) {
		tag := u.get(path).header.Get("ETag")
		require.NotEmpty(t, tag, path)
		require.Equal(t, tag, u.get(path).header.Get("ETag"))
		u.patch(path, change, "If-Match", `"77"`).fails(412, "VERSION_MISMATCH")
		after := u.patch(path, change, "If-Match", tag)
		require.Equal(t, http.StatusOK, after.status, "%s", after.raw)
		require.NotEqual(t, tag, after.header.Get("ETag"), path)
		require.Equal(t, after.header.Get("ETag"), u.get(path).header.Get("ETag"), path)
		u.patch(path, change, "If-Match", tag).fails(412, "VERSION_MISMATCH")
		path = strings.TrimSuffix(path, "/rows")
		u.del(path, "If-Match", tag).fails(412, "VERSION_MISMATCH")
		gone := u.del(path, "If-Match", after.header.Get("ETag"))
		require.Equal(t, http.StatusOK, gone.status, "%s", gone.raw)
	}
	const me = "/api/v1/auth/me"
	tag := u.get(me).ok("USER_FETCHED").header.Get("ETag")
	require.NotEmpty(t, tag)
	require.NotEqual(t, tag,
		u.patch(me, object{"name": "New"}, "If-Match", tag).ok("USER_UPDATED").header.Get("ETag"))
	u.patch(me, object{"name": "Old"}, "If-Match", tag).fails(412, "VERSION_MISMATCH")
	require.Equal(t, "New", u.get(me).text("user.name"))
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
	return map[string]object{
		"/api/v1/tags/trip": {"color": "#B5651D"},
		"/api/v1/budgets/" + budget + "/members/" + friend.id: {"role": "editor"},
		"/api/v1/imports/" + staged(): {
			"defaults": object{"walletId": wallet},
		},
		"/api/v1/imports/" + staged() + "/rows": {
			"rows": []any{object{"n": 2, "description": "Bread"}},
		},
	}
}
