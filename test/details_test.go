package test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDetailsOfTransactions(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	wallet, food, fun := u.wallet("EUR", "0"), u.category("Food"), u.category("Fun")
	body := func(with object) object {
		o := object{"amount": json.Number("10"), "currency": "EUR", "date": "2026-03-14", "walletId": wallet, "type": "expense"}
		for k, v := range with {
			o[k] = v
		}
		return o
	}
	part := func(category, amount string) object {
		return object{"categoryId": category, "amount": json.Number(amount)}
	}
	parts := []any{part(food, "10.5"), part(fun, "-0.5")}
	created := u.post("/api/v1/transaction", body(object{
		"payee": "Bakery", "notes": "a\nb", "tags": []any{"Trip", "TRIP"}, "externalId": "1", "splits": parts,
	})).created("TRANSACTION_CREATED").at("transaction").(object)
	id := created["id"].(string)
	require.Equal(t, []any{"Trip"}, created["tags"])
	require.Equal(t, "a\nb", created["notes"])
	require.NotContains(t, created, "categoryId")
	require.Len(t, created["splits"], 2)
	require.Equal(t, created, u.get("/api/v1/transaction/"+id).at("transaction"))

	u.post("/api/v1/transaction", body(object{"categoryId": food, "externalId": "1"})).fails(409, "TRANSACTION_DUPLICATE").blames("externalId")
	u.post("/api/v1/transaction/batch", object{"transactions": []any{body(object{"categoryId": food}), body(object{"categoryId": food, "externalId": "1"})}}).
		fails(409, "TRANSACTION_DUPLICATE").blames("transactions[1].externalId")
	u.post("/api/v1/transaction", body(object{"splits": []any{part(food, "1"), part(fun, "2")}})).fails(400, "SPLIT_SUM_MISMATCH").blames("splits")
	u.post("/api/v1/transaction", body(object{"splits": parts, "categoryId": food})).fails(400, "VALIDATION_ERROR").blames("categoryId")
	u.patch("/api/v1/transaction/"+id, object{"amount": json.Number("9")}).fails(400, "SPLIT_SUM_MISMATCH").blames("splits")
	u.patch("/api/v1/transaction/"+id, object{"splits": []any{}}).fails(400, "VALIDATION_ERROR").blames("categoryId")

	for _, query := range []string{"tag=trip", "payee=bakery", "q=bak", "categoryId=" + fun} {
		require.Len(t, u.get("/api/v1/transaction?"+query).ok("TRANSACTIONS_FETCHED").at("transactions"), 1, query)
	}
	require.Empty(t, u.get("/api/v1/transaction?untagged=true").ok("TRANSACTIONS_FETCHED").at("transactions"))
	ended := u.patch("/api/v1/transaction/"+id, object{"splits": []any{}, "categoryId": food, "tags": []any{}}).ok("TRANSACTION_UPDATED").at("transaction")
	require.NotContains(t, ended, "splits")
	require.NotContains(t, ended, "tags")
}

func TestTags(t *testing.T) {
	t.Parallel()
	u, stranger := newUser(t), newUser(t)
	wallet, food := u.wallet("EUR", "0"), u.category("Food")
	for _, tags := range [][]any{{"Trip to Rome", "Work"}, {"work"}} {
		u.post("/api/v1/transaction", object{
			"amount": json.Number("1"), "currency": "EUR", "date": "2026-03-14", "walletId": wallet, "categoryId": food, "tags": tags,
		}).created("TRANSACTION_CREATED")
	}
	require.Equal(t, []any{
		object{"name": "Trip to Rome", "transactionCount": json.Number("1")}, object{"name": "Work", "transactionCount": json.Number("2")},
	}, u.get("/api/v1/tags").ok("TAGS_FETCHED").at("tags"))
	renamed := u.patch("/api/v1/tags/trip%20to%20rome", object{"name": "Rom", "color": "#112233"}).ok("TAG_UPDATED")
	require.Equal(t, object{"name": "Rom", "color": "#112233", "transactionCount": json.Number("1")}, renamed.at("tag"))
	u.patch("/api/v1/tags/rom", object{"name": "work"}).fails(409, "TAG_ALREADY_EXISTS").blames("name")
	merged := u.patch("/api/v1/tags/rom?merge=true", object{"name": "work"}).ok("TAG_UPDATED")
	require.Equal(t, object{"name": "Work", "transactionCount": json.Number("2")}, merged.at("tag"))
	stranger.patch("/api/v1/tags/work", object{"name": "x"}).fails(404, "TAG_NOT_FOUND")
	stranger.del("/api/v1/tags/work").fails(404, "TAG_NOT_FOUND")
	u.patch("/api/v1/tags/work", object{}).fails(400, "EMPTY_UPDATE")
	require.Equal(t, "Work", u.del("/api/v1/tags/WORK").ok("TAG_DELETED").at("name"))
	require.Empty(t, u.get("/api/v1/tags").ok("TAGS_FETCHED").at("tags"))
}
