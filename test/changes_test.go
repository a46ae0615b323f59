package test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
)

func TestChanges(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	wallet, category := me.wallet("EUR", "10"), me.category("Food")
	first := me.spend(wallet, category, "1.50")
	second := me.spend(wallet, category, "2.50")

	// A second device copies the account, one object a page.
	objects, cursor := map[string]bool{}, ""
	for more := true; more; {
		page := me.get("/api/v1/changes?limit=1&cursor=" + cursor).ok("CHANGES_FETCHED")
		for _, kind := range []string{"wallets", "categories", "transactions"} {
			for _, o := range page.list("changes." + kind) {
				objects[o.(object)["id"].(string)] = true
			}
		}
		cursor, more = page.text("pagination.nextCursor"), page.text("pagination.hasMore") == "true"
		require.NotEmpty(t, cursor)
	}
	want := map[string]bool{wallet: true, category: true, first: true, second: true}
	require.Equal(t, want, objects)

	quiet := me.get("/api/v1/changes?cursor=" + cursor).ok("CHANGES_FETCHED")
	require.Equal(t, cursor, quiet.text("pagination.nextCursor"))
	require.Equal(t, "200", quiet.text("pagination.limit"))
	require.Equal(t, http.StatusNotModified,
		me.get("/api/v1/changes?cursor="+cursor, "If-None-Match", quiet.header.Get("ETag")).status)

	me.del("/api/v1/transaction/" + first).ok("TRANSACTION_DELETED")
	me.patch("/api/v1/settings", object{"weekStart": "sunday"}).ok("SETTINGS_UPDATED")
	news := me.get("/api/v1/changes?cursor=" + cursor).ok("CHANGES_FETCHED")
	deleted := news.list("deleted")
	require.Len(t, deleted, 1)
	require.Equal(t, "transaction", deleted[0].(object)["kind"])
	require.Equal(t, first, deleted[0].(object)["id"])
	require.Equal(t, json.Number("7.50"), news.list("changes.wallets")[0].(object)["balance"])
	require.Equal(t, "sunday", news.text("changes.settings.weekStart"))

	stranger := newUser(t)
	stranger.get("/api/v1/changes?cursor="+cursor).fails(400, "INVALID_CURSOR")
	require.Empty(t, stranger.get("/api/v1/changes").ok("CHANGES_FETCHED").
		list("changes.transactions"))
	me.get("/api/v1/changes?cursor=x").fails(400, "INVALID_CURSOR")
	me.get("/api/v1/changes?limit=0").invalid("limit")
	require.Equal(t, "1000", me.get("/api/v1/changes?limit=5000").text("pagination.limit"))
}

// TestChangesExpiredCursor deletes the tombstones of a user, as the sweep does after 180 days.
func TestChangesExpiredCursor(t *testing.T) {
	t.Parallel()
	if stack == nil {
		t.Skip("the test needs the database")
	}
	me := newUser(t)
	wallet, category := me.wallet("EUR", "10"), me.category("Food")
	spent := me.spend(wallet, category, "1.50")
	cursor := me.get("/api/v1/changes").ok("CHANGES_FETCHED").text("pagination.nextCursor")
	me.del("/api/v1/transaction/" + spent).ok("TRANSACTION_DELETED")
	conn, err := pgx.Connect(t.Context(), stack.Databases[""])
	require.NoError(t, err)
	defer conn.Close(t.Context())
	pgtest.Exec(t, conn, `UPDATE ledger.owners SET swept_seq = seq WHERE owner_id = $1`,
		me.get("/api/v1/auth/me").text("user.id"))
	me.get("/api/v1/changes?cursor="+cursor).fails(410, "SYNC_CURSOR_EXPIRED")
	fresh := me.get("/api/v1/changes").ok("CHANGES_FETCHED")
	require.Empty(t, fresh.list("changes.transactions"))
	me.get("/api/v1/changes?cursor=" + fresh.text("pagination.nextCursor")).ok("CHANGES_FETCHED")
}
