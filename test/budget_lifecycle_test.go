package test

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestBudgetLifecycle creates, reads, lists, updates and deletes a budget, and compares each
// response with the specification.
func TestBudgetLifecycle(t *testing.T) {
	t.Parallel()
	me, stranger := newUser(t), newUser(t)
	wallet, food, fun := me.wallet("EUR", "0"), me.category("Food"), me.category("Fun")
	body := aBudget(" Eating ", wallet, food)
	body["limit"], body["period"], body["currency"] = json.Number("123.4"), "MONTHLY", "eur"
	body["ownerId"], body["id"], body["role"] = stranger.id, stranger.id, "viewer"
	created := me.post("/api/v1/budgets", body).created("BUDGET_CREATED")
	for field, want := range map[string]string{
		"name": "Eating", "currency": "EUR", "limit": "123.40", "period": "monthly",
		"startDate": "2026-03-01",
		"walletId":  wallet, "categoryIds.0": food, "ownerId": me.id, "role": "owner",
	} {
		require.Equal(t, want, created.text("budget."+field), field)
	}
	id := created.text("budget.id")
	require.Equal(t, "active", created.text("budget.status"))
	require.NotEqual(t, stranger.id, id)
	path := "/api/v1/budgets/" + id
	require.Equal(t, created.header.Get("ETag"),
		me.get(path).ok("BUDGET_FETCHED").header.Get("ETag"))
	require.Equal(t, id, me.get("/api/v1/budgets").ok("BUDGETS_FETCHED").text("budgets.0.id"))

	bank := me.wallet("USD", "0")
	for field, value := range map[string]any{
		"name": "Living", "currency": "USD", "limit": json.Number("9000"), "period": "weekly",
		"startDate": "2026-03-02",
		"endDate":   "2026-12-31", "walletId": bank, "categoryIds": []any{food, fun},
	} {
		change := object{field: value, "ownerId": stranger.id}
		if field == "currency" {
			me.patch(path, change).invalid("limit")
			change["limit"] = json.Number("9000")
		}
		reply := me.patch(path, change).ok("BUDGET_UPDATED")
		require.Equal(t, me.id, reply.text("budget.ownerId"))
		switch v := value.(type) {
		case []any:
			require.ElementsMatch(t, v, reply.list("budget.categoryIds"))
		case json.Number:
			require.True(t, strings.HasPrefix(reply.text("budget."+field), v.String()), "%s",
				reply.raw)
		default:
			require.Equal(t, v, reply.text("budget."+field))
		}
	}
	renamed := me.patch(path, object{"name": "Life"}).ok("BUDGET_UPDATED")
	for _, a := range []response{created, renamed} {
		require.Equal(t, "0.00", a.text("budget.progress.spent"),
			"POST and PATCH return the budget with its progress: %s", a.raw)
	}
	require.Nil(t, me.patch(path, object{"endDate": nil, "name": "Living on"}).ok("BUDGET_UPDATED").
		at("budget.endDate"), "null removes the end date")
	me.invite(id, stranger, "viewer", "")
	raised := me.patch(path, object{"limit": 8000}).ok("BUDGET_UPDATED")
	require.Len(t, raised.list("budget.members"), 1)
	require.Equal(t, "8000.00", me.get(path).text("budget.progress.remaining"))

	require.Empty(t, stranger.get("/api/v1/budgets").list("budgets"))
	require.Equal(t, id, me.del(path).ok("BUDGET_DELETED").text("id"))
	me.get(path).fails(404, "BUDGET_NOT_FOUND")
	require.Empty(t, me.get("/api/v1/budgets").list("budgets"))
}

// TestBudgetWindows checks the first and last day of a window of each period. The budgets start on
// a 31st, so windows in shorter months begin on their last day.
func TestBudgetWindows(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	wallet, category := me.wallet("EUR", "0"), me.category("Food")
	for _, tc := range []struct{ period, end, at, from, to string }{
		{"daily", "", "2026-02-10", "2026-02-10", "2026-02-10"},
		{"weekly", "", "2026-02-10", "2026-02-07", "2026-02-13"},
		{"biweekly", "", "2026-02-10", "2026-01-31", "2026-02-13"},
		{"monthly", "", "2026-02-27", "2026-01-31", "2026-02-27"},
		{"monthly", "", "2026-02-28", "2026-02-28", "2026-03-30"},
		{"monthly", "", "2026-03-31", "2026-03-31", "2026-04-29"},
		{"quarterly", "", "2026-05-01", "2026-04-30", "2026-07-30"},
		{"half_yearly", "", "2026-05-01", "2026-01-31", "2026-07-30"},
		{"yearly", "", "2027-01-30", "2026-01-31", "2027-01-30"},
		{"custom", "2026-06-15", "2026-03-01", "2026-01-31", "2026-06-15"},
	} {
		body := aBudget(tc.period+tc.at, wallet, category)
		body["period"], body["startDate"] = tc.period, "2026-01-31"
		if tc.end != "" {
			body["endDate"] = tc.end
		}
		id := me.post("/api/v1/budgets", body).created("BUDGET_CREATED").text("budget.id")
		a := me.get("/api/v1/budgets/" + id + "?at=" + tc.at).ok("BUDGET_FETCHED")
		window := a.texts("budget.progress.windowStart", "budget.progress.windowEnd")
		require.Equal(t, []string{tc.from, tc.to}, window, "%s at %s", tc.period, tc.at)
	}
	custom := aBudget("Open", wallet, category)
	custom["period"] = "custom"
	me.post("/api/v1/budgets", custom).fails(400, "INVALID_BUDGET_TIMEFRAME").blames("endDate")
	custom["endDate"] = "2036-03-02"
	me.post("/api/v1/budgets", custom).fails(400, "INVALID_BUDGET_TIMEFRAME")
}

func TestBudgetProgress(t *testing.T) {
	t.Parallel()
	// The progress is correct immediately after each write.
	t.Run("counts the transactions of its wallet, categories, currency and window",
		func(t *testing.T) {
			t.Parallel()
			me := newUser(t)
			wallet, other := me.wallet("EUR", "0"), me.wallet("EUR", "0")
			food, fun := me.category("Food"), me.category("Fun")
			id := me.budgetNamed("Food", wallet, food)
			create := func(change object) string {
				body := expense(wallet, food, "40")
				maps.Copy(body, change)
				return me.record(body)
			}
			progress := func(spent, remaining, percentage, state string) {
				a := me.get("/api/v1/budgets/" + id + "?at=2026-03-31").ok("BUDGET_FETCHED")
				got := a.texts("budget.progress.spent", "budget.progress.remaining",
					"budget.progress.percentage", "budget.progress.state")
				require.Equal(t, []string{spent, remaining, percentage, state}, got, "%s", a.raw)
			}
			progress("0.00", "100.00", "0", "ok")
			create(object{"walletId": other})
			create(object{"categoryId": fun})
			create(object{"date": "2026-02-28"})
			create(object{"date": "2026-04-01"})
			progress("0.00", "100.00", "0", "ok")
			first := create(nil)
			progress("40.00", "60.00", "40", "ok")
			create(object{"date": "2026-03-31T23:59:59.999Z"})
			create(object{"date": "2026-03-01"})
			progress("120.00", "-20.00", "120", "over")
			create(object{"type": "income", "amount": json.Number("25")})
			progress("95.00", "5.00", "95", "near")
			me.del("/api/v1/transaction/" + first).ok("TRANSACTION_DELETED")
			progress("55.00", "45.00", "55", "ok")
			create(object{"currency": "JPY", "amount": 700})
			progress("55.00", "45.00", "55", "ok")
			a := me.get("/api/v1/budgets/" + id + "?at=2026-03-31")
			require.Equal(t, "JPY", a.text("budget.progress.otherCurrencies.0.currency"))
		})
	t.Run("continues after a merge of its category", func(t *testing.T) {
		t.Parallel()
		me := newUser(t)
		wallet, food, groceries := me.wallet("EUR",
			"0"), me.category("Food"), me.category("Groceries")
		id := me.budget(wallet, food)
		me.spend(wallet, food, "40")
		me.del("/api/v1/categories/" + food + "?reassignTo=" + groceries).ok("CATEGORY_DELETED")
		me.spend(wallet, groceries, "30")
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			a := me.get("/api/v1/budgets/" + id + "?at=2026-03-31")
			assert.Equal(c, []any{groceries}, a.list("budget.categoryIds"))
			assert.Equal(c, "70.00", a.text("budget.progress.spent"))
		}, time.Minute, 20*time.Millisecond)
	})
}

func TestUpdateMemberRoleAndShare(t *testing.T) {
	t.Parallel()
	owner, friend := newUser(t), newUser(t)
	id := owner.budget(owner.wallet("EUR", "0"), owner.category("Food"))
	path := "/api/v1/budgets/" + id
	seat := path + "/members/" + friend.id
	owner.invite(id, friend, "viewer", "")
	require.Equal(t, "40.00", owner.patch(seat, object{"sharePercent": 40}).
		ok("BUDGET_MEMBER_UPDATED").text("member.sharePercent"))
	require.Equal(t, "40.00", friend.get("/api/v1/invitations").text("invitations.0.sharePercent"))
	friend.patch(seat, object{"status": "accepted"}).ok("BUDGET_MEMBER_UPDATED")
	changed := owner.patch(seat, object{"role": "editor", "sharePercent": nil}).
		ok("BUDGET_MEMBER_UPDATED")
	require.Equal(t, "editor", changed.text("member.role"))
	require.Equal(t, "accepted", changed.text("member.status"))
	require.NotContains(t, changed.at("member"), "sharePercent")
	friend.patch(path, object{"limit": 7}).ok("BUDGET_UPDATED")
	require.Len(t, friend.notified("budget.v1.member.updated", 2), 2)

	friend.patch(seat, object{"role": "viewer"}).fails(403, "INSUFFICIENT_PERMISSIONS")
	friend.patch(seat, object{"role": "viewer", "status": "rejected"}).
		fails(403, "INSUFFICIENT_PERMISSIONS")
	owner.patch(seat, object{"role": "viewer", "status": "rejected"}).
		fails(403, "INSUFFICIENT_PERMISSIONS")
	owner.patch(seat, object{"role": "owner", "sharePercent": 0}).invalid("role", "sharePercent")
	third := newUser(t)
	owner.post(path+"/share", object{"email": third.email, "sharePercent": 90}).
		created("BUDGET_SHARED")
	owner.patch(seat, object{"sharePercent": 10.01}).fails(400, "BUDGET_SHARE_EXCEEDED").
		blames("sharePercent")
	owner.patch(path+"/members/me", object{"role": "viewer"}).fails(400, "INVALID_BUDGET_MEMBER_ID")
	owner.del(path+"/members/me").fails(400, "INVALID_BUDGET_MEMBER_ID")
	owner.get(path+"/members/me").fails(400, "INVALID_BUDGET_MEMBER_ID")
}

// TestInvitationLifecycle sends an invitation, accepts it, leaves the budget, renews the invitation
// and removes the member.
func TestInvitationLifecycle(t *testing.T) {
	t.Parallel()
	owner, friend := newUser(t), newUser(t)
	id := owner.budget(owner.wallet("EUR", "0"), owner.category("Food"))
	path := "/api/v1/budgets/" + id
	seat := path + "/members/" + friend.id
	member := owner.post(path+"/share", object{
		"email": " " + strings.ToUpper(friend.email), "sharePercent": 50,
	}).is(http.StatusCreated, "BUDGET_SHARED")
	for field, want := range map[string]string{
		"id": friend.id, "memberId": friend.id, "budgetId": id, "email": friend.email,
		"role": "viewer", "status": "pending", "sharePercent": "50.00",
	} {
		require.Equal(t, want, member.text("member."+field), field)
	}
	respond := func(status string) {
		for range 2 {
			a := friend.patch(seat, object{"status": status})
			require.Equal(t, http.StatusOK, a.status, "%s", a.raw)
			require.Equal(t, status, a.text("member.status"))
		}
	}
	owner.patch(seat, object{"status": "accepted"}).fails(403, "INSUFFICIENT_PERMISSIONS")
	friend.get(path).fails(403, "INSUFFICIENT_PERMISSIONS")
	respond("accepted")
	friend.get(path).ok("BUDGET_FETCHED")
	respond("rejected")
	friend.get(path).fails(403, "INSUFFICIENT_PERMISSIONS")
	owner.post(path+"/share", object{"email": friend.email, "role": "editor"}).
		is(http.StatusCreated, "BUDGET_SHARED")
	require.Equal(t, "pending", owner.get(path+"/members").text("members.0.status"))
	respond("accepted")
	friend.patch(path, object{"limit": 7}).ok("BUDGET_UPDATED")

	gone := owner.del(seat)
	require.Equal(t, http.StatusOK, gone.status, "%s", gone.raw)
	friend.get(path).fails(403, "INSUFFICIENT_PERMISSIONS")
	require.Empty(t, owner.get(path+"/members").list("members"))
	owner.del(seat).fails(404, "BUDGET_MEMBER_NOT_FOUND")
}
