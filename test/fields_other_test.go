package test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// TestBudgetFieldsSurvive requires that each field of a budget and of a member survives
// create, PATCH, lists and events.
func TestBudgetFieldsSurvive(t *testing.T) {
	t.Parallel()
	me, friend := newUser(t), newUser(t)
	events := me.listen(t.Context(), "")
	defer events.close()
	ofReader := "it depends on the user who reads the budget"
	budget := fielded{
		message: &budgetv1.Budget{},
		create: object{
			"name": "Food", "currency": "EUR", "limit": 100, "period": "monthly",
			"startDate": "2026-03-01", "endDate": "2036-03-01",
			"walletId": me.wallet("EUR", "0"), "categoryIds": []any{me.category("Food")},
			"alertThresholds": []any{50},
		},
		change: object{
			"name": "Life", "currency": "USD", "limit": 200, "period": "weekly",
			"startDate": "2026-03-02", "endDate": "2036-03-02",
			"walletId": me.wallet("USD", "0"), "categoryIds": []any{me.category("Fun")},
			"alertThresholds": []any{60, 80},
		},
		unset: map[string]string{
			"membershipStatus": "the owner is no member", "ownerName": "the owner reads it",
		},
		unchanged: map[string]string{
			"id": assigned, "createdAt": byTime, "updatedAt": byTime,
			"status": "the dates decide it", "ownerId": "a budget keeps its owner",
			"role": ofReader,
		},
		notSent: map[string]string{
			"role": ofReader, "members": "they have events of their own",
			"progress": "transactions change it", "status": "the day decides it",
		},
	}
	before := me.post("/api/v1/budgets", budget.create).created("BUDGET_CREATED").
		at("budget").(object)
	path := "/api/v1/budgets/" + before["id"].(string)
	joined := me.joined(t, path, "BUDGET", fielded{message: &budgetv1.Member{}}, friend, events)
	after := me.patch(path, budget.change).ok("BUDGET_UPDATED").at("budget").(object)
	budget.requireFields(t, "budget", before, after)
	require.Equal(t, []any{joined}, after["members"])
	require.Equal(t, after, me.get(path).at("budget"))
	requireListed(t, me.get("/api/v1/budgets"), after)
	budget.awaitEvent(t, events, after)

	theirs := friend.get(path).at("budget").(object)
	fielded{message: &budgetv1.Budget{}}.requireFields(t, "budget of a member", nil, theirs)
	requireListed(t, friend.get("/api/v1/budgets"), theirs)
	delete(after, "role")
	require.True(t, hasFields(theirs, after, nil), "%v", theirs)
}

// joined shares a budget or goal with a friend who accepts, requires the fields of the member, and
// returns it. kind is the prefix of the codes.
func (u *user) joined(
	t *testing.T, path, kind string, member fielded, friend *user, events *listener,
) object {
	t.Helper()
	member.create = object{"email": friend.email, "role": "viewer", "sharePercent": 10}
	member.change = object{"role": "editor", "sharePercent": 20}
	member.unchanged = map[string]string{
		"id": assigned, "memberId": assigned, strings.ToLower(kind) + "Id": assigned,
		"name": "the user changes it", "email": "the user changes it", "invitedAt": byTime,
	}
	member.unset = map[string]string{
		"invitationId": "TestInvitationByMail", "expiresAt": "TestInvitationByMail",
	}
	member.notSent = map[string]string{
		"id": "memberId is the same", "name": "the user changes it",
		"email": "the user changes it", "status": "the event of the answer has it",
		"invitedAt": byTime, "respondedAt": byTime,
	}
	invited := u.post(path+"/share", member.create).created(kind + "_SHARED").at("member").(object)
	mine := path + "/members/" + friend.id
	friend.patch(mine, object{"status": "accepted"}).ok(kind + "_MEMBER_UPDATED")
	joined := u.patch(mine, member.change).ok(kind + "_MEMBER_UPDATED").at("member").(object)
	member.requireFields(t, "member", invited, joined)
	require.Equal(t, joined, u.get(mine).at("member"))
	requireListed(t, u.get(path+"/members"), joined)
	member.awaitEvent(t, events, joined)
	return joined
}

// TestGoalFieldsSurvive does the same with a goal.
func TestGoalFieldsSurvive(t *testing.T) {
	t.Parallel()
	me, friend := newUser(t), newUser(t)
	events := me.listen(t.Context(), "")
	defer events.close()
	goal := fielded{
		message: &budgetv1.Goal{},
		create: object{
			"name": "Trip", "currency": "EUR", "target": 900, "targetDate": "2030-01-01",
			"icon": "🏝", "note": "Two weeks",
		},
		change: object{
			"name": "Car", "target": 8000, "targetDate": "2031-01-01", "icon": "🚗",
			"note": "Used", "archived": true,
		},
		unset: map[string]string{
			"reachedAt": "nothing is saved", "ownerName": "the owner reads it",
		},
		unchanged: map[string]string{
			"id": assigned, "createdAt": byTime, "updatedAt": byTime,
			"ownerId": "a goal keeps its owner", "currency": "assignments are not converted",
			"role": "it depends on the user who reads the goal",
		},
		notSent: map[string]string{
			"progress": "assignments change it",
			"role":     "it depends on the user who reads the goal",
		},
	}
	before := me.post("/api/v1/goals", goal.create).created("GOAL_CREATED").at("goal").(object)
	path := "/api/v1/goals/" + before["id"].(string)
	me.joined(t, path, "GOAL", fielded{message: &budgetv1.GoalMember{}}, friend, events)
	after := me.patch(path, goal.change).ok("GOAL_UPDATED").at("goal").(object)
	goal.requireFields(t, "goal", before, after)
	require.Equal(t, after, me.get(path).at("goal"))
	requireListed(t, me.get("/api/v1/goals"), after)
	goal.awaitEvent(t, events, after)
}

// TestWebhookFieldsSurvive does the same with a webhook, which no event describes.
func TestWebhookFieldsSurvive(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	webhook := fielded{
		message: &budgetv1.Webhook{},
		create: object{
			"url": "https://example.com/hook", "events": []any{"budget.v1.*.*"},
			"description": "Ours", "enabled": true,
		},
		change: object{
			"url": "https://example.org/hook", "events": []any{"ledger.v1.*.*"},
			"description": "Theirs", "enabled": false,
		},
		unset: map[string]string{
			"enabled": "the change disables the webhook", "disabledReason": "Coffer sets it",
		},
		unchanged: map[string]string{"id": assigned, "createdAt": byTime, "updatedAt": byTime},
	}
	before := me.post("/api/v1/webhooks", webhook.create).created("WEBHOOK_CREATED").
		at("webhook").(object)
	path := "/api/v1/webhooks/" + before["id"].(string)
	require.Equal(t, before, me.get(path).at("webhook"))
	after := me.patch(path, webhook.change).ok("WEBHOOK_UPDATED").at("webhook").(object)
	webhook.requireFields(t, "webhook", before, after)
	require.Equal(t, after, me.get(path).at("webhook"))
	requireListed(t, me.get("/api/v1/webhooks"), after)
}

// TestUserFieldsSurvive does the same with a user, whom no list has.
func TestUserFieldsSurvive(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	events := me.listen(t.Context(), "")
	defer events.close()
	user := fielded{
		message: &authv1.User{},
		change: object{
			"name": "Grace", "email": "new-" + me.email, "currentPassword": me.password,
		},
		unchanged: map[string]string{"id": assigned, "createdAt": byTime},
		unset:     map[string]string{"emailVerified": "the user has not opened the link"},
	}
	before := me.get("/api/v1/auth/me").ok("USER_FETCHED").at("user").(object)
	after := me.patch("/api/v1/auth/me", user.change).ok("USER_UPDATED").at("user").(object)
	user.requireFields(t, "user", before, after)
	require.Equal(t, after, me.get("/api/v1/auth/me").at("user"))
	user.awaitEvent(t, events, after)
}

// TestAttachmentFieldsSurvive does the same with an attachment, which no operation changes
// and whose GET returns the file.
func TestAttachmentFieldsSurvive(t *testing.T) {
	t.Parallel()
	u, transaction := withTransaction(t)
	events := u.listen(t.Context(), "")
	defer events.close()
	created := u.attach(transaction, "menu.txt", "Soup").created("ATTACHMENT_CREATED").
		at("attachment").(object)
	attachment := fielded{message: &ledgerv1.Attachment{}}
	attachment.requireFields(t, "attachment", nil, created)
	requireListed(t, u.get("/api/v1/transaction/"+transaction+"/attachments"), created)
	attachment.awaitEvent(t, events, created)
}
