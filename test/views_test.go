package test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func aView(name, query string) object {
	return object{"name": name, "kind": "transactions", "query": query}
}

// TestViews stores the filters of a list, opens the list with them, and changes and deletes the
// view.
func TestViews(t *testing.T) {
	t.Parallel()
	me, stranger := newUser(t), newUser(t)
	wallet, food := me.wallet("EUR", "0"), me.category("Food")
	me.spend(wallet, food, "3")
	me.spend(wallet, me.category("Fun"), "4")
	query := "categoryId=" + food + "&sort=-amount"
	made := me.post("/api/v1/views", aView("Food", query)).created("VIEW_CREATED")
	require.Equal(t, `"1"`, made.header.Get("ETag"))
	view := me.get("/api/v1/views").ok("VIEWS_FETCHED").list("views")
	require.Equal(t, []any{made.at("view")}, view)
	listed := me.get("/api/v1/transaction?" + view[0].(object)["query"].(string))
	require.Len(t, listed.ok("TRANSACTIONS_FETCHED").list("transactions"), 1)
	require.Empty(t, stranger.get("/api/v1/views").ok("VIEWS_FETCHED").list("views"))

	path := "/api/v1/views/" + made.text("view.id")
	require.Equal(t, made.at("view"), me.get(path).ok("VIEW_FETCHED").at("view"))
	stranger.get(path).fails(404, "VIEW_NOT_FOUND")
	me.get("/api/v1/views/x").fails(400, "INVALID_VIEW_ID")
	stranger.patch(path, object{"name": "Mine"}).fails(404, "VIEW_NOT_FOUND")
	stranger.del(path).fails(404, "VIEW_NOT_FOUND")
	changed := me.patch(path, object{"name": "Meals", "query": ""}, "If-Match", `"1"`).
		ok("VIEW_UPDATED")
	require.Equal(t, "Meals", changed.text("view.name"))
	require.Equal(t, "transactions", changed.text("view.kind"))
	me.patch(path, object{"name": "Food"}, "If-Match", `"1"`).fails(412, "VERSION_MISMATCH")
	me.patch(path, object{}).fails(400, "EMPTY_UPDATE")
	me.patch(path, object{"query": "sort=payee"}).invalid("query")
	me.post("/api/v1/views", aView("", "")).invalid("name")
	me.post("/api/v1/views", with(aView("A", ""), object{"kind": "chart"})).invalid("kind")
	me.patch("/api/v1/views/x", object{"name": "A"}).fails(400, "INVALID_VIEW_ID")
	me.del("/api/v1/views/x").fails(400, "INVALID_VIEW_ID")
	me.del(path, "If-Match", `"1"`).fails(412, "VERSION_MISMATCH")
	me.del(path).ok("VIEW_DELETED")
	me.del(path).fails(404, "VIEW_NOT_FOUND")

	for range 50 {
		me.post("/api/v1/views", aView("Another", "")).created("VIEW_CREATED")
	}
	me.post("/api/v1/views", aView("One more", "")).fails(409, "LIMIT_REACHED").blames("view")
}

// longQuery is a query of a view of nearly the longest length, with values that all must be parsed.
func (c *costRun) longQuery() string {
	return strings.Repeat("categoryId="+c.ids["category"]+"&", 41)
}

// createdView creates and deletes a view, because a user may have 50.
func createdView(c *costRun) []worstRequest {
	return one("2000 characters", func() response {
		made := c.u.post("/api/v1/views", aView("Long", c.longQuery()))
		c.u.del("/api/v1/views/" + made.text("view.id")).ok("VIEW_DELETED")
		return made
	})
}

func changedView(c *costRun) []worstRequest {
	path := "/api/v1/views/" + c.ids["view"]
	return one("2000 characters", func() response {
		return c.u.patch(path, object{"query": c.longQuery()})
	})
}
