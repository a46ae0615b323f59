package test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// rule returns the request for a rule that sets a category for a payee.
func (u *user) rule(category string) object {
	return object{
		"name":       "Bakery",
		"conditions": []any{object{"field": "payee", "op": "contains", "values": []any{"bakery"}}},
		"actions": []any{
			object{"kind": "setCategory", "value": category},
			object{"kind": "addTag", "value": "Bread"},
		},
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	food, fun := me.category("Food"), me.category("Fun")
	t.Run("a rule has defaults and an ETag", func(t *testing.T) {
		made := me.post("/api/v1/rules", me.rule(food)).created("RULE_CREATED")
		rule := made.at("rule").(object)
		require.Equal(t, true, rule["enabled"])
		require.Equal(t, "all", rule["match"])
		require.Equal(t, []any{"import", "receipt"}, rule["on"])
		require.Equal(t, json.Number("1"), rule["position"])
		require.NotContains(t, rule, "progress")
		path := "/api/v1/rules/" + made.text("rule.id")
		etag := made.header.Get("ETag")
		changed := me.call(http.MethodPatch, path, object{"enabled": false, "on": []any{"import"}},
			"If-Match", etag).ok("RULE_UPDATED")
		require.Equal(t, []any{"import"}, changed.at("rule.on"))
		me.call(http.MethodPatch, path, object{"enabled": true}, "If-Match", etag).
			fails(412, "VERSION_MISMATCH")
		me.call(http.MethodDelete, path, nil, "If-Match", etag).fails(412, "VERSION_MISMATCH")
		require.Equal(t, changed.at("rule"), me.get(path).ok("RULE_FETCHED").at("rule"))
		copied := me.get("/api/v1/changes").ok("CHANGES_FETCHED")
		require.Equal(t, changed.at("rule"), copied.at("changes.rules.0"))
		me.del(path).ok("RULE_DELETED")
		after := me.get("/api/v1/changes?cursor=" + copied.text("pagination.nextCursor")).
			ok("CHANGES_FETCHED")
		require.Equal(t, "rule", after.text("deleted.0.kind"))
		require.Equal(t, made.text("rule.id"), after.text("deleted.0.id"))
	})
	t.Run("order", func(t *testing.T) {
		first := me.post("/api/v1/rules", me.rule(food)).created("RULE_CREATED").text("rule.id")
		second := me.post("/api/v1/rules", me.rule(fun)).created("RULE_CREATED").text("rule.id")
		ordered := me.post("/api/v1/rules/order", object{"ids": []any{second, first}}).
			ok("RULES_REORDERED")
		require.Equal(t, second, ordered.text("rules.0.id"))
		require.Equal(t, ordered.at("rules"), me.get("/api/v1/rules").ok("RULES_FETCHED").
			at("rules"))
		me.post("/api/v1/rules/order", object{"ids": []any{second}}).invalid("ids")
		me.post("/api/v1/rules/order", object{"ids": []any{second, second}}).invalid("ids")
		me.post("/api/v1/rules/order", object{"ids": []any{"x"}}).fails(400, "INVALID_RULE_ID").
			blames("ids[0]")
		me.del("/api/v1/categories/"+fun).fails(409, "CATEGORY_IN_USE")
		me.del("/api/v1/categories/" + fun + "?reassignTo=" + food).ok("CATEGORY_DELETED")
		require.Equal(t, food, me.get("/api/v1/rules/"+second).text("rule.actions.0.value"))
	})
}

func TestApplyRule(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	wallet, food, fun := me.wallet("EUR", "0"), me.category("Food"), me.category("Fun")
	id := me.record(with(expense(wallet, food, "3"), object{"payee": "The BAKERY"}))
	path := "/api/v1/rules/" + me.post("/api/v1/rules", me.rule(fun)).created("RULE_CREATED").
		text("rule.id")
	preview := me.post(path+"/apply",
		object{"dryRun": true, "walletId": wallet, "from": "2026-01-01"}).ok("RULE_PREVIEWED")
	require.Equal(t, json.Number("1"), preview.at("matched"))
	require.Equal(t, json.Number("1"), preview.at("changed"))
	require.Equal(t, food, preview.text("examples.0.before.categoryId"))
	require.Equal(t, fun, preview.text("examples.0.after.categoryId"))
	require.Equal(t, food, me.get("/api/v1/transaction/"+id).text("transaction.categoryId"))
	started := me.post(path+"/apply", nil)
	require.Equal(t, http.StatusAccepted, started.status)
	require.Equal(t, "RULE_APPLY_STARTED", started.text("code"))
	require.NotContains(t, started.body, "matched")
	me.awaitRule(path)
	require.Equal(t, fun, me.get("/api/v1/transaction/"+id).text("transaction.categoryId"))
	other := newUser(t)
	applied := me.get(path)
	require.Equal(t, json.Number("1"), applied.at("rule.application.changed"))
	require.NotEmpty(t, applied.text("rule.application.undoableUntil"))
	undo := me.post(path+"/undo", nil)
	require.Equal(t, http.StatusAccepted, undo.status)
	require.Equal(t, "RULE_UNDO_STARTED", undo.text("code"))
	require.NotContains(t, undo.at("rule.application"), "undoableUntil")
	me.awaitRule(path)
	require.Equal(t, food, me.get("/api/v1/transaction/"+id).text("transaction.categoryId"))
	require.Equal(t, json.Number("1"), me.get(path).at("rule.application.restored"))
	copied := me.get("/api/v1/changes").ok("CHANGES_FETCHED")
	require.NotContains(t, copied.at("changes.rules.0"), "application")
	require.Equal(t, food, copied.text("changes.transactions.0.categoryId"))
	me.post(path+"/undo", nil).fails(409, "RULE_NOT_UNDOABLE")
	other.post(path+"/undo", nil).fails(404, "RULE_NOT_FOUND")
	me.post("/api/v1/rules/x/undo", nil).fails(400, "INVALID_RULE_ID")
	other.post(path+"/apply", nil).fails(404, "RULE_NOT_FOUND")
	me.post("/api/v1/rules/x/apply", nil).fails(400, "INVALID_RULE_ID")
	me.post(path+"/apply", object{"walletId": other.wallet("EUR", "0")}).
		fails(404, "WALLET_NOT_FOUND").blames("walletId")
	me.post(path+"/apply", object{"from": "x"}).fails(400,
		"INVALID_TRANSACTION_DATE").blames("from")
	me.post(path+"/apply", object{"from": "2026-02-01", "to": "2026-01-01"}).invalid("to")
}

func TestSuggestCategories(t *testing.T) {
	t.Parallel()
	me, other := newUser(t), newUser(t)
	food := me.category("Food")
	me.post("/api/v1/rules", me.rule(food)).created("RULE_CREATED")
	items := func(items ...any) object { return object{"items": items} }
	for user, want := range map[*user]object{
		me: {
			"categoryId": food, "reason": "rule", "confidence": json.Number("1.0000"),
			"tags": []any{"Bread"},
		},
		other: {"reason": "none", "confidence": json.Number("0.0000"), "tags": []any{}},
	} {
		got := user.post("/api/v1/suggestions", items(object{"payee": "Old BAKERY"})).
			ok("SUGGESTIONS_FETCHED").at("suggestions.0").(object)
		for field, value := range want {
			require.Equal(t, value, got[field])
		}
		require.Equal(t, want["categoryId"], got["categoryId"])
	}
	path := "/api/v1/suggestions"
	me.post(path, items()).invalid("items")
	me.post(path, items(object{"amount": json.Number("1e99")})).invalid("items[0].amount")
	me.post(path, items(object{"type": "transfer"})).invalid("items[0].type")
	me.post(path, items(object{"currency": "XXX"})).fails(400, "UNSUPPORTED_CURRENCY").
		blames("items[0].currency")
	me.post(path, items(object{"walletId": other.wallet("EUR", "0")})).
		fails(404, "WALLET_NOT_FOUND").blames("items[0].walletId")
}

func TestSuggestRules(t *testing.T) {
	t.Parallel()
	me, other := newUser(t), newUser(t)
	wallet, food := me.wallet("EUR", "0"), me.category("Food")
	path := "/api/v1/rules/suggestions"
	me.bakeries(wallet, food)
	got := me.get(path).ok("RULE_SUGGESTIONS_FETCHED").at("suggestions.0").(object)
	require.Equal(t, object{
		"name": "Bakery",
		"conditions": []any{
			object{"field": "payee", "op": "startsWith", "values": []any{"Bakery"}},
		},
		"actions": []any{object{"kind": "setCategory", "value": food}},
		"count":   json.Number("3"),
	}, got)
	require.Empty(t, other.get(path).ok("RULE_SUGGESTIONS_FETCHED").list("suggestions"))
	delete(got, "count")
	me.post("/api/v1/rules", got).created("RULE_CREATED")
	require.Empty(t, me.get(path).ok("RULE_SUGGESTIONS_FETCHED").list("suggestions"))
}

func TestRuleErrors(t *testing.T) {
	t.Parallel()
	me, other := newUser(t), newUser(t)
	category, theirs, wallet := me.category("Food"), other.category("Food"), other.wallet("EUR",
		"0")
	condition := func(field, op string, values ...any) object {
		return object{"conditions": []any{object{"field": field, "op": op, "values": values}}}
	}
	action := func(kind, value string) object {
		return object{"actions": []any{object{"kind": kind, "value": value}}}
	}
	path := "/api/v1/rules/" + me.post("/api/v1/rules", me.rule(category)).created("RULE_CREATED").
		text("rule.id")
	for name, tc := range map[string]struct {
		change       object
		status       int
		code, blamed string
	}{
		"field and operator": {
			condition("amount", "contains", "1"), 400, "VALIDATION_ERROR", "conditions[0].op",
		},
		"unknown field": {
			condition("date", "is", "1"), 400, "VALIDATION_ERROR", "conditions[0].field",
		},
		"number of values": {
			condition("amount", "between", "1"), 400, "VALIDATION_ERROR", "conditions[0].values",
		},
		"amount": {
			condition("amount", "is", "x"), 400, "VALIDATION_ERROR", "conditions[0].values[0]",
		},
		"pattern": {
			condition("text", "matches", "a(?=b)"),
			400, "INVALID_RULE_PATTERN", "conditions[0].values[0]",
		},
		"currency": {
			condition("currency", "is", "XXX"),
			400, "UNSUPPORTED_CURRENCY", "conditions[0].values[0]",
		},
		"another user's wallet": {
			condition("walletId", "is", wallet), 404, "WALLET_NOT_FOUND", "conditions[0].values",
		},
		"transfer to their wallet": {
			action("transferTo", wallet), 404, "WALLET_NOT_FOUND", "actions[0].value",
		},
		"another user's category": {
			action("setCategory", theirs), 404, "INVALID_CATEGORY_EXIST_PARAMS", "actions[0].value",
		},
		"malformed category": {
			action("setCategory", "x"), 400, "INVALID_CATEGORY_EXIST_PARAMS", "actions[0].value",
		},
		"unknown action": {
			action("delete", ""), 400, "VALIDATION_ERROR", "actions[0].kind",
		},
		"no condition": {
			object{"conditions": []any{}}, 400, "VALIDATION_ERROR", "conditions",
		},
		"no action": {
			object{"actions": []any{}}, 400, "VALIDATION_ERROR", "actions",
		},
		"match": {object{"match": "most"}, 400, "VALIDATION_ERROR", "match"},
		"source": {
			object{"on": []any{"export"}}, 400, "VALIDATION_ERROR", "on[0]",
		},
		"name": {object{"name": ""}, 400, "VALIDATION_ERROR", "name"},
		"a repeated kind of action": {
			object{"actions": []any{object{"kind": "skip"}, object{"kind": "skip"}}},
			400, "VALIDATION_ERROR", "actions[1].kind",
		},
	} {
		t.Run(name, func(*testing.T) {
			me.post("/api/v1/rules", with(me.rule(category), tc.change)).fails(tc.status, tc.code).
				blames(tc.blamed)
			me.patch(path, tc.change).fails(tc.status, tc.code).blames(tc.blamed)
		})
	}
	me.patch(path, object{}).fails(400, "EMPTY_UPDATE")
	me.get(path + "?wait=9").invalid("wait")
	for _, a := range []response{
		other.get(path), other.patch(path, object{"stop": true}), other.del(path),
	} {
		a.fails(404, "RULE_NOT_FOUND")
	}
	for _, a := range []response{
		me.get("/api/v1/rules/x"), me.patch("/api/v1/rules/x", object{"stop": true}),
		me.del("/api/v1/rules/x"),
	} {
		a.fails(400, "INVALID_RULE_ID")
	}
}
