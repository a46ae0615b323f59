package test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// budget creates a budget in March 2026. Its progress is read for this month, so that it does not
// depend on the day of the test.
func (r *recorder) budget(u *user, wallet, category string) (id string) {
	id = r.call(u, http.MethodPost, "/api/v1/budgets", object{
		"name": "Food", "currency": "EUR", "limit": json.Number("400.00"), "period": "monthly",
		"startDate": "2026-03-01", "walletId": wallet,
		"categoryIds":     []any{category},
		"alertThresholds": []any{json.Number("80"), json.Number("100")},
	}).text("budget.id")
	r.call(u, http.MethodPatch, "/api/v1/budgets/"+id, object{"limit": json.Number("350.00")})
	return id
}

// goals creates a goal and saves all of it today. The progress of a goal that still needs money
// depends on the month of the test.
func (r *recorder) goals(u *user, wallet string) {
	id := r.call(u, http.MethodPost, "/api/v1/goals", object{
		"name": "Trip", "currency": "EUR", "target": json.Number("900.00"), "icon": "🏝",
	}).text("goal.id")
	path := "/api/v1/goals/" + id
	assignment := r.call(u, http.MethodPost, path+"/assignments", object{
		"walletId": wallet, "amount": json.Number("900.00"),
		"date": time.Now().UTC().Format(time.DateOnly),
	}).text("assignment.id")
	r.call(u, http.MethodPatch, path,
		object{"targetDate": "2027-06-30", "note": "Two weeks at the sea"})
	r.call(u, http.MethodGet, "/api/v1/goals?archived=false&limit=50", nil)
	r.call(u, http.MethodGet, path, nil)
	r.call(u, http.MethodGet, path+"/assignments?limit=50", nil)
	r.call(u, http.MethodDelete, path+"/assignments/"+assignment, nil)
	r.call(u, http.MethodDelete, path, nil)
}

// sharedGoal shares a goal, and invites an e-mail by mail.
func (r *recorder) sharedGoal(u, member *user) {
	id := u.goal("Trip", "900")
	path := "/api/v1/goals/" + id
	r.call(u, http.MethodPost, path+"/share",
		object{"email": member.email, "role": "editor", "sharePercent": json.Number("50")})
	r.call(member, http.MethodGet, "/api/v1/goals/invitations?limit=50", nil)
	r.call(member, http.MethodPatch, path+"/members/"+member.id, object{"status": "accepted"})
	r.call(u, http.MethodGet, path+"/members?limit=50", nil)
	r.call(u, http.MethodGet, path+"/members/"+member.id, nil)
	r.call(u, http.MethodDelete, path+"/members/"+member.id, nil)
	email := fmt.Sprintf("mum-%d@example.com", time.Now().UnixNano())
	r.texts[email] = "mum@example.com"
	invitation := u.inviteToGoal(id, email)
	r.call(u, http.MethodPost, invitation+"/resend", object{})
	r.call(u, http.MethodDelete, invitation, nil)
}

// sharing shares the budget. The invitation becomes a notification and an entry of the audit trail
// later.
func (r *recorder) sharing(owner, member *user, budget string) {
	path := "/api/v1/budgets/" + budget
	r.call(owner, http.MethodPost, path+"/share",
		object{"email": member.email, "role": "editor", "sharePercent": json.Number("50")})
	r.call(member, http.MethodGet, "/api/v1/invitations?limit=50", nil)
	sent := member.notified("budget.v1.invitation.sent", 1)[0]["id"].(string)
	r.call(member, http.MethodGet, "/api/v1/notifications?read=false&limit=50", nil)
	require.EventuallyWithT(r.t, func(c *assert.CollectT) {
		require.Equal(c, "invitation_sent", owner.get("/api/v1/auth/audit").text("entries.0.type"))
	}, time.Minute, 50*time.Millisecond)
	r.call(owner, http.MethodGet, "/api/v1/auth/audit?limit=2", nil)
	r.event(member)
	r.call(member, http.MethodPatch, path+"/members/"+member.id, object{"status": "accepted"})
	r.call(owner, http.MethodGet, path+"/members?limit=50", nil)
	r.call(owner, http.MethodGet, path+"/members/"+member.id, nil)
	r.call(owner, http.MethodGet, path+"/limits?limit=50", nil)
	r.call(owner, http.MethodGet, path+"?at=2026-03-20", nil)
	r.call(owner, http.MethodGet, "/api/v1/budgets?at=2026-03-20&limit=50", nil)
	r.call(member, http.MethodPatch, "/api/v1/notifications/"+sent, object{"read": true})
	r.call(member, http.MethodPatch, "/api/v1/notifications", object{"read": true})
	r.call(member, http.MethodDelete, "/api/v1/notifications/"+sent, nil)
	r.mailedInvitation(owner, path)
	r.call(owner, http.MethodDelete, path+"/members/"+member.id, nil)
	r.call(owner, http.MethodDelete, path, nil)
}

// mailedInvitation invites an e-mail by mail, opens the link, and withdraws the invitation. The
// share has the example of a member.
func (r *recorder) mailedInvitation(owner *user, path string) {
	email := fmt.Sprintf("mum-%d@example.com", time.Now().UnixNano())
	r.texts[email] = "mum@example.com"
	invitation := owner.post(path+"/share?invite=true", object{"email": email}).
		created("BUDGET_SHARED").text("member.invitationId")
	r.call(&user{t: r.t}, http.MethodPost, "/api/v1/auth/invitation",
		object{"token": mailed(r.t, email, "/join#")})
	r.call(owner, http.MethodPost, path+"/invitations/"+invitation+"/resend", object{})
	r.call(owner, http.MethodDelete, path+"/invitations/"+invitation, nil)
}

// event records the invitation in the live stream.
func (r *recorder) event(u *user) {
	stream := u.listen(r.t.Context(), "")
	defer stream.close()
	u.category("Travel")
	r.examples["streamEvents"] = &example{
		Responses: map[string]any{"200": r.stable("", stream.next().data)},
	}
}

// webhooks disables the webhook before it has deliveries, so that they wait.
func (r *recorder) webhooks(me *user) {
	id := r.call(me, http.MethodPost, "/api/v1/webhooks", object{
		"url": "https://example.com/coffer", "events": []any{"budget.v1.*.*"},
		"description": "Alerts",
	}).text("webhook.id")
	path := "/api/v1/webhooks/" + id
	r.call(me, http.MethodPatch, path, object{"enabled": false})
	r.call(me, http.MethodGet, path, nil)
	r.call(me, http.MethodGet, "/api/v1/webhooks?limit=50", nil)
	r.call(me, http.MethodPost, path+"/secret", nil)
	delivery := r.call(me, http.MethodPost, path+"/test", nil).text("delivery.id")
	r.call(me, http.MethodGet, path+"/deliveries?status=pending&limit=50", nil)
	r.call(me, http.MethodPost, path+"/deliveries/"+delivery+"/redeliver", nil)
	r.call(me, http.MethodDelete, path, nil)
}
