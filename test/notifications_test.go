package test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const reached = "budget.v1.budget.threshold_reached"

// notified waits until the user has n notifications of a type, and returns them: unread ones first,
// then by age, newest first.
func (u *user) notified(kind string, n int) []object {
	var found []object
	require.EventuallyWithT(u.t, func(c *assert.CollectT) {
		found = nil
		for _, v := range u.get("/api/v1/notifications").ok("NOTIFICATIONS_FETCHED").
			list("notifications") {
			if v.(object)["type"] == kind {
				found = append(found, v.(object))
			}
		}
		require.Len(c, found, n)
	}, time.Minute, 50*time.Millisecond)
	return found
}

// TestAlerts requires that owner and members are notified once of each threshold, and invited users
// are not.
func TestAlerts(t *testing.T) {
	t.Parallel()
	owner, member, invited := newUser(t), newUser(t), newUser(t)
	wallet, category := owner.wallet("EUR", "1000"), owner.category("Food")
	budget := owner.lasting("Food", wallet, category)
	owner.invite(budget, member, "viewer", "accepted")
	owner.invite(budget, invited, "viewer", "")

	owner.spend(wallet, category, "79.99")
	owner.spend(wallet, category, "0.01")
	for _, u := range []*user{owner, member} {
		n := u.notified(reached, 1)[0]
		require.Equal(t, object{
			"budgetId": budget, "budgetName": "Food", "ownerId": owner.id,
			"threshold": json.Number("80"), "windowStart": "2026-03-01",
			"windowEnd": "2035-12-31", "currency": "EUR", "limit": json.Number("100.00"),
			"spent": json.Number("80.00"),
		}, n["data"])
		require.Equal(t, false, n["read"])
		require.NotContains(t, n, "readAt")
	}
	owner.spend(wallet, category, "1")
	owner.spend(wallet, category, "30")
	alerts := owner.notified(reached, 2)
	require.Equal(t, json.Number("100"), alerts[0]["data"].(object)["threshold"])
	require.Equal(t, json.Number("111.00"), alerts[0]["data"].(object)["spent"])
	owner.spend(wallet, category, "100")

	// The alerts of another budget prove that everything before was checked.
	other := owner.category("Other")
	owner.invite(owner.lasting("Other", wallet, other), member, "viewer", "accepted")
	owner.spend(wallet, other, "100")
	owner.notified(reached, 4)
	member.notified(reached, 4)
	invited.notified("budget.v1.invitation.sent", 1)
	invited.notified(reached, 0)
}

// lasting creates a budget of 100 with one window that is current for years.
func (u *user) lasting(name, wallet, category string) string {
	body := aBudget(name, wallet, category)
	body["period"], body["endDate"] = "custom", "2035-12-31"
	return u.post("/api/v1/budgets", body).created("BUDGET_CREATED").text("budget.id")
}

// TestAlertsAfterImport imports one expense per week over three years: of 150 weeks, two raise
// alerts.
func TestAlertsAfterImport(t *testing.T) {
	t.Parallel()
	owner, member := newUser(t), newUser(t)
	wallet, category := owner.wallet("EUR", "0"), owner.category("Food")
	// Windows begin today, so that the test does not cross the end of one.
	today := time.Now().UTC().Truncate(24 * time.Hour)
	body := aBudget("Weekly", wallet, category)
	body["period"], body["startDate"] = "weekly", today.AddDate(0, 0, -7*148).Format(time.DateOnly)
	budget := owner.post("/api/v1/budgets", body).created("BUDGET_CREATED").text("budget.id")
	owner.invite(budget, member, "viewer", "accepted")
	var imported []object
	for week := -148; week < 2; week++ {
		e := expense(wallet, category, "500")
		e["date"] = today.AddDate(0, 0, 7*week).Format(time.DateOnly)
		imported = append(imported, e)
	}
	owner.post("/api/v1/transaction/batch", batch(imported...)).created("TRANSACTIONS_CREATED")

	// The alerts of another budget prove that everything before was checked.
	other := owner.category("Other")
	owner.invite(owner.lasting("Other", wallet, other), member, "viewer", "accepted")
	owner.spend(wallet, other, "100")
	for _, u := range []*user{owner, member} {
		var got []string
		for _, n := range u.notified(reached, 5) {
			if data := n["data"].(object); data["budgetId"] == budget {
				got = append(got,
					data["windowStart"].(string)+" "+data["threshold"].(json.Number).String())
			}
		}
		require.ElementsMatch(t, []string{
			today.Format(time.DateOnly) + " 80", today.Format(time.DateOnly) + " 100",
			today.AddDate(0, 0, -7).Format(time.DateOnly) + " 100",
		}, got)
	}
}

// TestAlertThresholds creates and updates the thresholds of a budget.
func TestAlertThresholds(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	wallet, category := me.wallet("EUR", "0"), me.category("Food")
	body := aBudget("Food", wallet, category)
	for _, bad := range []any{[]int{0}, []int{1001}, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}} {
		body["alertThresholds"] = bad
		me.post("/api/v1/budgets", body).invalid("alertThresholds")
	}
	body["alertThresholds"] = []any{"80"}
	me.post("/api/v1/budgets", body).invalid("alertThresholds[0]")
	body["alertThresholds"] = []int{50, 10, 50}
	a := me.post("/api/v1/budgets", body).created("BUDGET_CREATED")
	require.Equal(t, []any{json.Number("10"), json.Number("50")}, a.list("budget.alertThresholds"))
	path := "/api/v1/budgets/" + a.text("budget.id")

	lunch := expense(wallet, category, "10")
	lunch["date"] = time.Now().UTC().Format(time.DateOnly)
	me.record(lunch)
	me.notified(reached, 1)
	// A lower limit raises the percentage.
	me.patch(path, object{"limit": 20}).ok("BUDGET_UPDATED")
	me.notified(reached, 2)
	me.patch(path, object{"alertThresholds": []int{}}).ok("BUDGET_UPDATED")
	require.Empty(t, me.get(path).ok("BUDGET_FETCHED").list("budget.alertThresholds"))

	plain := me.post("/api/v1/budgets",
		aBudget("Plain", wallet, category)).created("BUDGET_CREATED")
	require.Equal(t, []any{json.Number("80"), json.Number("100")},
		plain.list("budget.alertThresholds"))
}

// TestUpdateNotification marks a notification as read and as unread. Another user cannot do that.
func TestUpdateNotification(t *testing.T) {
	t.Parallel()
	owner, member := newUser(t), newUser(t)
	wallet, category := owner.wallet("EUR", "0"), owner.category("Food")
	for range 3 {
		owner.invite(owner.budget(wallet, category), member, "editor", "")
	}
	all := member.notified("budget.v1.invitation.sent", 3)
	path := func(n object) string { return "/api/v1/notifications/" + n["id"].(string) }

	read := member.patch(path(all[0]), object{"read": true}).ok("NOTIFICATION_UPDATED")
	require.Equal(t, true, read.at("notification.read"))
	require.NotEmpty(t, read.text("notification.readAt"))
	list := member.get("/api/v1/notifications?limit=2").ok("NOTIFICATIONS_FETCHED")
	require.Equal(t, json.Number("2"), list.at("unreadCount"))
	require.Equal(t, []any{all[1]["id"], all[2]["id"]},
		[]any{list.at("notifications.0.id"), list.at("notifications.1.id")})
	list = member.get("/api/v1/notifications?limit=2&cursor=" + list.text("pagination.nextCursor"))
	require.Equal(t, all[0]["id"], list.at("notifications.0.id"))
	require.Equal(t, false, member.patch(path(all[0]), object{"read": false}).
		ok("NOTIFICATION_UPDATED").at("notification.read"))

	owner.patch(path(all[0]), object{"read": true}).fails(404, "NOTIFICATION_NOT_FOUND")
	member.patch("/api/v1/notifications/"+uuid.NewString(), object{"read": true}).
		fails(404, "NOTIFICATION_NOT_FOUND")
	member.patch("/api/v1/notifications/1", object{"read": true}).
		fails(400, "INVALID_NOTIFICATION_ID")
	member.patch(path(all[0]), object{"read": "yes"}).invalid("read")
	member.patch(path(all[0]), object{"type": "x"}).fails(400, "EMPTY_UPDATE")
}

// TestNotificationsFilterMarkDelete lists notifications by their read state, marks all as read and
// deletes one.
func TestNotificationsFilterMarkDelete(t *testing.T) {
	t.Parallel()
	owner, member := newUser(t), newUser(t)
	wallet, category := owner.wallet("EUR", "0"), owner.category("Food")
	for _, name := range []string{"A", "B", "C"} {
		owner.invite(owner.budgetNamed(name, wallet, category), member, "viewer", "")
	}
	all := member.notified("budget.v1.invitation.sent", 3)
	path := func(n object) string { return "/api/v1/notifications/" + n["id"].(string) }
	member.patch(path(all[0]), object{"read": true}).ok("NOTIFICATION_UPDATED")
	count := func(query string) int {
		return len(member.get("/api/v1/notifications" + query).ok("NOTIFICATIONS_FETCHED").
			list("notifications"))
	}
	require.Equal(t, 2, count("?read=false"))
	require.Equal(t, 1, count("?read=true"))
	member.get("/api/v1/notifications?read=1").invalid("read")

	require.Equal(t, json.Number("2"), member.patch("/api/v1/notifications", object{"read": true}).
		ok("NOTIFICATIONS_UPDATED").at("updatedCount"))
	require.Equal(t, 0, count("?read=false"))
	member.patch("/api/v1/notifications", object{"read": false}).invalid("read")
	member.patch("/api/v1/notifications", object{}).fails(400, "EMPTY_UPDATE")

	require.Equal(t, all[1]["id"], member.del(path(all[1])).ok("NOTIFICATION_DELETED").text("id"))
	require.Equal(t, 2, count(""))
	member.del(path(all[1])).fails(404, "NOTIFICATION_NOT_FOUND")
	owner.del(path(all[0])).fails(404, "NOTIFICATION_NOT_FOUND")
	member.del("/api/v1/notifications/1").fails(400, "INVALID_NOTIFICATION_ID")
}
