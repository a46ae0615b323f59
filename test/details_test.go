package test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDetailsOfTransactions(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	wallet, food, fun := me.wallet("EUR", "0"), me.category("Food"), me.category("Fun")
	body := func(with object) object {
		o := object{
			"amount": json.Number("10"), "currency": "EUR", "date": "2026-03-14",
			"walletId": wallet, "type": "expense",
		}
		for k, v := range with {
			o[k] = v
		}
		return o
	}
	part := func(category, amount string) object {
		return object{"categoryId": category, "amount": json.Number(amount)}
	}
	parts := []any{part(food, "10.5"), part(fun, "-0.5")}
	created := me.post("/api/v1/transaction", body(object{
		"payee": "Bakery", "notes": "a\nb", "tags": []any{"Trip", "TRIP"}, "externalId": "1",
		"splits": parts,
	})).created("TRANSACTION_CREATED").at("transaction").(object)
	id := created["id"].(string)
	require.Equal(t, []any{"Trip"}, created["tags"])
	require.Equal(t, "a\nb", created["notes"])
	require.NotContains(t, created, "categoryId")
	require.Len(t, created["splits"], 2)
	require.Equal(t, created, me.get("/api/v1/transaction/"+id).at("transaction"))

	me.post("/api/v1/transaction", body(object{"categoryId": food, "externalId": "1"})).
		fails(409, "TRANSACTION_DUPLICATE").blames("externalId")
	me.post("/api/v1/transaction/batch", object{"transactions": []any{
		body(object{"categoryId": food}), body(object{"categoryId": food, "externalId": "1"}),
	}}).
		fails(409, "TRANSACTION_DUPLICATE").blames("transactions[1].externalId")
	elsewhere := me.record(body(object{
		"categoryId": food, "externalId": "1", "walletId": me.wallet("EUR", "0"),
	}))
	me.patch("/api/v1/transaction/batch", changesOf(object{"id": elsewhere, "walletId": wallet})).
		fails(409, "TRANSACTION_DUPLICATE").blames("items[0].externalId")
	me.del("/api/v1/transaction/" + elsewhere).ok("TRANSACTION_DELETED")
	me.post("/api/v1/transaction", body(object{"splits": []any{part(food, "1"), part(fun, "2")}})).
		fails(400, "SPLIT_SUM_MISMATCH").blames("splits")
	me.post("/api/v1/transaction", body(object{"splits": parts, "categoryId": food})).
		invalid("categoryId")
	me.patch("/api/v1/transaction/"+id, object{"amount": json.Number("9")}).
		fails(400, "SPLIT_SUM_MISMATCH").blames("splits")
	me.patch("/api/v1/transaction/"+id, object{"splits": []any{}}).invalid("categoryId")

	for _, query := range []string{"tag=trip", "payee=bakery", "q=bak", "categoryId=" + fun} {
		require.Len(t, me.get("/api/v1/transaction?"+query).ok("TRANSACTIONS_FETCHED").
			at("transactions"), 1, query)
	}
	require.Empty(t, me.get("/api/v1/transaction?untagged=true").ok("TRANSACTIONS_FETCHED").
		at("transactions"))
	ended := me.patch("/api/v1/transaction/"+id, object{
		"splits": []any{}, "categoryId": food, "tags": []any{},
	}).ok("TRANSACTION_UPDATED").at("transaction")
	require.NotContains(t, ended, "splits")
	require.NotContains(t, ended, "tags")
}

func TestTags(t *testing.T) {
	t.Parallel()
	me, stranger := newUser(t), newUser(t)
	wallet, food := me.wallet("EUR", "0"), me.category("Food")
	for _, tags := range [][]any{{"Trip to Rome", "Work"}, {"work"}} {
		me.record(object{
			"amount": json.Number("1"), "currency": "EUR", "date": "2026-03-14", "walletId": wallet,
			"categoryId": food, "tags": tags,
		})
	}
	require.Equal(t, []any{
		object{"name": "Trip to Rome", "transactionCount": json.Number("1")},
		object{"name": "Work", "transactionCount": json.Number("2")},
	}, me.get("/api/v1/tags").ok("TAGS_FETCHED").at("tags"))
	renamed := me.patch("/api/v1/tags/trip%20to%20rome", object{"name": "Rom", "color": "#112233"}).
		ok("TAG_UPDATED")
	require.Equal(t, object{
		"name": "Rom", "color": "#112233", "transactionCount": json.Number("1"),
	}, renamed.at("tag"))
	me.patch("/api/v1/tags/rom", object{"name": "work"}).fails(409, "TAG_ALREADY_EXISTS").
		blames("name")
	merged := me.patch("/api/v1/tags/rom?merge=true", object{"name": "work"}).ok("TAG_UPDATED")
	require.Equal(t, object{"name": "Work", "transactionCount": json.Number("2")}, merged.at("tag"))
	stranger.patch("/api/v1/tags/work", object{"name": "x"}).fails(404, "TAG_NOT_FOUND")
	stranger.del("/api/v1/tags/work").fails(404, "TAG_NOT_FOUND")
	me.patch("/api/v1/tags/work", object{}).fails(400, "EMPTY_UPDATE")
	require.Equal(t, "Work", me.del("/api/v1/tags/WORK").ok("TAG_DELETED").at("name"))
	require.Empty(t, me.get("/api/v1/tags").ok("TAGS_FETCHED").at("tags"))
}

// TestRefundParts compares what all answers say about an expense of 10 with a refund of 20 (ADR
// 103).
func TestRefundParts(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	wallet, food, fun := me.wallet("EUR", "0"), me.category("Food"), me.category("Fun")
	foodBudget, funBudget := me.budget(wallet, food), me.budget(wallet, fun)
	part := func(category, amount string) object {
		return object{"categoryId": category, "amount": json.Number(amount)}
	}
	me.record(object{
		"amount": 10, "currency": "EUR", "date": "2026-03-14", "walletId": wallet,
		"type": "expense", "tags": []any{"Trip"},
		"splits": []any{part(food, "30"), part(fun, "-20")},
	})
	sums := func(row any) [3]string {
		fields := row.(object)
		text := func(name string) string { return fmt.Sprint(fields[name]) }
		count := text("transactionCount")
		if fields["transactionCount"] == nil {
			count = text("count")
		}
		return [3]string{text("income"), text("expense"), count}
	}
	whole, none := [3]string{"0.00", "10.00", "1"}, "<nil>"
	for _, window := range []string{
		"from=2026-03-01&to=2026-03-31", "from=2026-03-02&to=2026-03-20",
	} {
		summary := me.get("/api/v1/dashboard/summary?include=daily&include=tags&" + window).
			ok("DASHBOARD_SUMMARY_FETCHED")
		require.Equal(t, whole, sums(summary.list("summary.totals")[0]))
		require.Equal(t, [3]string{"0.00", "10.00", none},
			sums(summary.list("summary.byWallet")[0]))
		require.Equal(t, [3]string{"0.00", "10.00", none}, sums(summary.list("summary.daily")[0]))
		require.Equal(t, [3]string{"0.00", "10.00", none}, sums(summary.list("summary.trend")[11]))
		require.Equal(t, whole, sums(summary.list("summary.byTag")[0]))
		categories := summary.list("summary.byCategory")
		require.Len(t, categories, 2)
		require.Equal(t, [3]string{"0.00", "30.00", none}, sums(categories[0]))
		require.Equal(t, [3]string{"0.00", "-20.00", none}, sums(categories[1]))
		require.Equal(t, []string{"100", "0"}, []string{
			fmt.Sprint(categories[0].(object)["percentage"]),
			fmt.Sprint(categories[1].(object)["percentage"]),
		})

		list := func(query string) []any {
			return me.get("/api/v1/transaction?include=totals&" + window + query).
				ok("TRANSACTIONS_FETCHED").list("totals")
		}
		for _, query := range []string{
			"", "&type=expense", "&tag=trip", "&walletId=" + wallet,
			"&categoryId=" + food + "&categoryId=" + fun,
		} {
			require.Equal(t, whole, sums(list(query)[0]), query)
		}
		require.Equal(t, [3]string{"0.00", "30.00", "1"}, sums(list("&categoryId=" + food)[0]))
		require.Equal(t, [3]string{"0.00", "-20.00", "1"}, sums(list("&categoryId=" + fun)[0]))
		require.Empty(t, list("&type=income"))
	}
	require.Equal(t, "30.00", me.get("/api/v1/budgets/"+foodBudget+"?at=2026-03-20").
		text("budget.progress.spent"))
	require.Equal(t, "-20.00", me.get("/api/v1/budgets/"+funBudget+"?at=2026-03-20").
		text("budget.progress.spent"))
}
