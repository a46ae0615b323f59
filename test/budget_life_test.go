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

func TestABudgetIsCreatedReadListedChangedAndDeletedAsTheSpecificationTells(t *testing.T) {
	t.Parallel()
	p, stranger := newPerson(t), newPerson(t)
	wallet, food, fun := p.wallet("EUR", "0"), p.category("Food"), p.category("Fun")
	body := aBudget(" Eating ", wallet, food)
	body["limit"], body["period"], body["currency"] = json.Number("123.4"), "MONTHLY", "eur"
	body["ownerId"], body["id"], body["role"] = stranger.id, stranger.id, "viewer"
	created := p.post("/api/v1/budgets", body).created("BUDGET_CREATED")
	for field, want := range map[string]string{
		"name": "Eating", "currency": "EUR", "limit": "123.40", "period": "monthly", "startDate": "2026-03-01",
		"walletId": wallet, "categoryIds.0": food, "ownerId": p.id, "role": "owner",
	} {
		require.Equal(t, want, created.text("budget."+field), field)
	}
	id := created.text("budget.id")
	require.Equal(t, "active", created.text("budget.status"))
	require.NotEqual(t, stranger.id, id)
	path := "/api/v1/budgets/" + id
	require.Equal(t, created.header.Get("ETag"), p.get(path).ok("BUDGET_FETCHED").header.Get("ETag"))
	require.Equal(t, id, p.get("/api/v1/budgets").ok("BUDGETS_FETCHED").text("budgets.0.id"))

	bank := p.wallet("USD", "0")
	for field, value := range map[string]any{
		"name": "Living", "currency": "USD", "limit": json.Number("9000"), "period": "weekly", "startDate": "2026-03-02",
		"endDate": "2026-12-31", "walletId": bank, "categoryIds": []any{food, fun},
	} {
		change := object{field: value, "ownerId": stranger.id}
		if field == "currency" {
			p.patch(path, change).fails(http.StatusBadRequest, "VALIDATION_ERROR").blames("limit")
			change["limit"] = json.Number("9000")
		}
		a := p.patch(path, change).ok("BUDGET_UPDATED")
		require.Equal(t, p.id, a.text("budget.ownerId"))
		switch v := value.(type) {
		case []any:
			require.ElementsMatch(t, v, a.list("budget.categoryIds"))
		case json.Number:
			require.True(t, strings.HasPrefix(a.text("budget."+field), v.String()), "%s", a.raw)
		default:
			require.Equal(t, v, a.text("budget."+field))
		}
	}
	for _, a := range []answer{created, p.patch(path, object{"name": "Life"}).ok("BUDGET_UPDATED")} {
		require.Equal(t, "0.00", a.text("budget.progress.spent"), "an answer to POST and PATCH is a whole budget: %s", a.raw)
	}
	require.Nil(t, p.patch(path, object{"endDate": nil, "name": "Living on"}).ok("BUDGET_UPDATED").at("budget.endDate"), "null removes it")
	p.invite(id, stranger, "viewer", "")
	require.Len(t, p.patch(path, object{"limit": 8000}).ok("BUDGET_UPDATED").list("budget.members"), 1)
	require.Equal(t, "8000.00", p.get(path).text("budget.progress.remaining"))

	require.Empty(t, stranger.get("/api/v1/budgets").list("budgets"))
	require.Equal(t, id, p.del(path).ok("BUDGET_DELETED").text("id"))
	p.get(path).fails(http.StatusNotFound, "BUDGET_NOT_FOUND")
	require.Empty(t, p.get("/api/v1/budgets").list("budgets"))
}

// TestEachPeriodHasItsWindow asks on which days a window begins and ends; the start is a 31st, to see it clamped.
func TestEachPeriodHasItsWindow(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	wallet, category := p.wallet("EUR", "0"), p.category("Food")
	for _, c := range []struct{ period, end, at, from, to string }{
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
		body := aBudget(c.period+c.at, wallet, category)
		body["period"], body["startDate"] = c.period, "2026-01-31"
		if c.end != "" {
			body["endDate"] = c.end
		}
		id := p.post("/api/v1/budgets", body).created("BUDGET_CREATED").text("budget.id")
		a := p.get("/api/v1/budgets/" + id + "?at=" + c.at).ok("BUDGET_FETCHED")
		require.Equal(t, [2]string{c.from, c.to}, [2]string{a.text("budget.progress.windowStart"), a.text("budget.progress.windowEnd")}, "%s at %s", c.period, c.at)
	}
	custom := aBudget("Open", wallet, category)
	custom["period"] = "custom"
	p.post("/api/v1/budgets", custom).fails(http.StatusBadRequest, "INVALID_BUDGET_TIMEFRAME").blames("endDate")
	custom["endDate"] = "2036-03-02"
	p.post("/api/v1/budgets", custom).fails(http.StatusBadRequest, "INVALID_BUDGET_TIMEFRAME")
}

// TestProgressCountsWhatTheBudgetIsAboutAndNothingElse follows each write at once, in the list as well.
func TestProgressCountsWhatTheBudgetIsAboutAndNothingElse(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	wallet, other, food, fun := p.wallet("EUR", "0"), p.wallet("EUR", "0"), p.category("Food"), p.category("Fun")
	id := p.budgetNamed("Food", wallet, food)
	book := func(change object) string {
		body := expense(wallet, food, "40")
		maps.Copy(body, change)
		return p.post("/api/v1/transaction", body).created("TRANSACTION_CREATED").text("transaction.id")
	}
	progress := func(spent, remaining, percentage, state string) {
		a := p.get("/api/v1/budgets/" + id + "?at=2026-03-31").ok("BUDGET_FETCHED")
		require.Equal(t, [4]string{spent, remaining, percentage, state}, [4]string{
			a.text("budget.progress.spent"), a.text("budget.progress.remaining"), a.text("budget.progress.percentage"), a.text("budget.progress.state"),
		}, "%s", a.raw)
	}
	progress("0.00", "100.00", "0", "ok")
	book(object{"walletId": other})
	book(object{"categoryId": fun})
	book(object{"date": "2026-02-28"})
	book(object{"date": "2026-04-01"})
	progress("0.00", "100.00", "0", "ok")
	first := book(nil)
	progress("40.00", "60.00", "40", "ok")
	book(object{"date": "2026-03-31T23:59:59.999Z"})
	book(object{"date": "2026-03-01"})
	progress("120.00", "-20.00", "120", "over")
	book(object{"type": "income", "amount": json.Number("25")})
	progress("95.00", "5.00", "95", "near")
	p.del("/api/v1/transaction/" + first).ok("TRANSACTION_DELETED")
	progress("55.00", "45.00", "55", "ok")
	book(object{"currency": "JPY", "amount": 700})
	progress("55.00", "45.00", "55", "ok")
	a := p.get("/api/v1/budgets/" + id + "?at=2026-03-31")
	require.Equal(t, "JPY", a.text("budget.progress.otherCurrencies.0.currency"))
}

func TestABudgetGoesOnCountingWhenItsCategoryIsMergedIntoAnother(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	wallet, food, groceries := p.wallet("EUR", "0"), p.category("Food"), p.category("Groceries")
	id := p.budget(wallet, food)
	p.spend(wallet, food, "40")
	p.del("/api/v1/categories/" + food + "?reassignTo=" + groceries).ok("CATEGORY_DELETED")
	p.spend(wallet, groceries, "30")
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		a := p.get("/api/v1/budgets/" + id + "?at=2026-03-31")
		assert.Equal(c, []any{groceries}, a.list("budget.categoryIds"))
		assert.Equal(c, "70.00", a.text("budget.progress.spent"))
	}, 10*time.Second, 20*time.Millisecond)
}

func TestOwnerChangesRoleAndShare(t *testing.T) {
	t.Parallel()
	owner, friend := newPerson(t), newPerson(t)
	id := owner.budget(owner.wallet("EUR", "0"), owner.category("Food"))
	path := "/api/v1/budgets/" + id
	seat := path + "/members/" + friend.id
	owner.invite(id, friend, "viewer", "")
	require.Equal(t, "40.00", owner.patch(seat, object{"sharePercent": 40}).ok("BUDGET_MEMBER_UPDATED").text("member.sharePercent"))
	require.Equal(t, "40.00", friend.get("/api/v1/invitations").text("invitations.0.sharePercent"))
	friend.patch(seat, object{"status": "accepted"}).ok("BUDGET_MEMBER_UPDATED")
	changed := owner.patch(seat, object{"role": "editor", "sharePercent": nil}).ok("BUDGET_MEMBER_UPDATED")
	require.Equal(t, "editor", changed.text("member.role"))
	require.Equal(t, "accepted", changed.text("member.status"))
	require.NotContains(t, changed.at("member"), "sharePercent")
	friend.patch(path, object{"limit": 7}).ok("BUDGET_UPDATED")
	require.Len(t, friend.notified("budget.v1.member.updated", 2), 2)

	friend.patch(seat, object{"role": "viewer"}).fails(http.StatusForbidden, "INSUFFICIENT_PERMISSIONS")
	friend.patch(seat, object{"role": "viewer", "status": "rejected"}).fails(http.StatusForbidden, "INSUFFICIENT_PERMISSIONS")
	owner.patch(seat, object{"role": "viewer", "status": "rejected"}).fails(http.StatusForbidden, "INSUFFICIENT_PERMISSIONS")
	owner.patch(seat, object{"role": "owner", "sharePercent": 0}).fails(http.StatusBadRequest, "VALIDATION_ERROR").blames("role", "sharePercent")
	third := newPerson(t)
	owner.post(path+"/share", object{"email": third.email, "sharePercent": 90}).created("BUDGET_SHARED")
	owner.patch(seat, object{"sharePercent": 10.01}).fails(http.StatusBadRequest, "BUDGET_SHARE_EXCEEDED").blames("sharePercent")
	owner.patch(path+"/members/me", object{"role": "viewer"}).fails(http.StatusBadRequest, "INVALID_BUDGET_MEMBER_ID")
	owner.del(path+"/members/me").fails(http.StatusBadRequest, "INVALID_BUDGET_MEMBER_ID")
}

func TestAnInvitationIsAnsweredLeftAndRenewed(t *testing.T) {
	t.Parallel()
	owner, friend := newPerson(t), newPerson(t)
	id := owner.budget(owner.wallet("EUR", "0"), owner.category("Food"))
	path := "/api/v1/budgets/" + id
	seat := path + "/members/" + friend.id
	member := owner.post(path+"/share", object{"email": " " + strings.ToUpper(friend.email), "sharePercent": 50}).is(http.StatusCreated, "BUDGET_SHARED")
	for field, want := range map[string]string{
		"id": friend.id, "memberId": friend.id, "budgetId": id, "email": friend.email, "role": "viewer", "status": "pending", "sharePercent": "50.00",
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
	owner.patch(seat, object{"status": "accepted"}).fails(http.StatusForbidden, "INSUFFICIENT_PERMISSIONS")
	friend.get(path).fails(http.StatusForbidden, "INSUFFICIENT_PERMISSIONS")
	respond("accepted")
	friend.get(path).ok("BUDGET_FETCHED")
	respond("rejected")
	friend.get(path).fails(http.StatusForbidden, "INSUFFICIENT_PERMISSIONS")
	owner.post(path+"/share", object{"email": friend.email, "role": "editor"}).is(http.StatusCreated, "BUDGET_SHARED")
	require.Equal(t, "pending", owner.get(path+"/members").text("members.0.status"))
	respond("accepted")
	friend.patch(path, object{"limit": 7}).ok("BUDGET_UPDATED")

	gone := owner.del(seat)
	require.Equal(t, http.StatusOK, gone.status, "%s", gone.raw)
	friend.get(path).fails(http.StatusForbidden, "INSUFFICIENT_PERMISSIONS")
	require.Empty(t, owner.get(path+"/members").list("members"))
	owner.del(seat).fails(http.StatusNotFound, "BUDGET_MEMBER_NOT_FOUND")
}
