package test

import (
	"encoding/json"
	"net/http"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// shareGoal shares a goal with a user, who accepts. It returns the path of the member.
func (u *user) shareGoal(goal string, with *user, role string) string {
	path := "/api/v1/goals/" + goal
	u.post(path+"/share", object{"email": with.email, "role": role}).created("GOAL_SHARED")
	member := path + "/members/" + with.id
	with.patch(member, object{"status": "accepted"}).ok("GOAL_MEMBER_UPDATED")
	return member
}

// TestSharedGoal saves for a goal with two users. Each sees the own wallets only, and the same
// savings.
func TestSharedGoal(t *testing.T) {
	t.Parallel()
	me, friend := newUser(t), newUser(t)
	mine, theirs := me.wallet("EUR", "100"), friend.wallet("EUR", "100")
	goal := me.goal("Trip", "150")
	path := "/api/v1/goals/" + goal
	me.post(path+"/share", object{"email": friend.email, "role": "editor"}).created("GOAL_SHARED")
	invited := friend.get("/api/v1/goals/invitations").ok("GOAL_INVITATIONS_FETCHED").
		list("invitations")
	require.Len(t, invited, 1)
	require.Equal(t, "Trip", invited[0].(object)["goalName"])
	require.Empty(t, friend.get("/api/v1/goals").list("goals"))
	require.Empty(t, friend.get("/api/v1/invitations").list("invitations"))
	friend.get(path).fails(404, "GOAL_NOT_FOUND")
	sent := friend.notified("budget.v1.invitation.sent", 1)[0]["data"].(object)
	require.Equal(t, goal, sent["goalId"])
	require.NotContains(t, sent, "budgetId")
	member := path + "/members/" + friend.id
	friend.patch(member, object{"status": "accepted"}).ok("GOAL_MEMBER_UPDATED")

	me.assign(goal, mine, "100")
	given := friend.assign(goal, theirs, "50")
	for _, u := range []*user{me, friend} {
		seen := u.get(path).ok("GOAL_FETCHED").at("goal").(object)
		require.Equal(t, json.Number("150.00"), seen["progress"].(object)["saved"])
		require.Equal(t, []any{seen}, u.get("/api/v1/goals").list("goals"))
		reached := u.notified("budget.v1.goal.reached", 1)[0]["data"].(object)
		require.Equal(t, json.Number("150.00"), reached["saved"])
	}
	require.NotContains(t, string(friend.get(path+"/assignments").raw), mine)
	require.NotContains(t, string(friend.get("/api/v1/goals").raw), mine)
	require.NotContains(t, string(me.get(path+"/assignments").raw), theirs)
	require.NotContains(t, string(me.get("/api/v1/goals").raw), theirs)
	friend.post(path+"/assignments", assigns(mine, "1")).fails(404, "WALLET_NOT_FOUND")
	friend.post(path+"/assignments", assigns(mine, "-1")).fails(409, "ASSIGNMENT_EXCEEDS_GOAL")
	me.del(path+"/assignments/"+given).fails(404, "ASSIGNMENT_NOT_FOUND")

	friend.del(member).ok("GOAL_MEMBER_REMOVED")
	require.Equal(t, json.Number("100.00"), me.get(path).at("goal.progress.saved"))
	require.Len(t, me.get(path+"/assignments").list("assignments"), 1)
	require.Empty(t, friend.get("/api/v1/goals").list("wallets"))
	friend.get(path).fails(404, "GOAL_NOT_FOUND")
	require.Len(t, me.notified("budget.v1.member.removed", 1), 1)
}

// TestSharedGoalErrors causes the errors of members and invitations of goals.
func TestSharedGoalErrors(t *testing.T) {
	t.Parallel()
	me, friend, stranger := newUser(t), newUser(t), newUser(t)
	goal := me.goal("Trip", "150")
	path := "/api/v1/goals/" + goal
	share := func(u *user, body object) response { return u.post(path+"/share", body) }
	share(me, object{"email": me.email}).fails(400, "CANNOT_INVITE_SELF")
	share(me, object{"email": uuid.NewString() + "@example.com"}).fails(404, "USER_NOT_FOUND")
	share(me, object{"email": "x", "role": "owner", "sharePercent": 101}).
		invalid("email", "role", "sharePercent")
	share(stranger, object{"email": me.email}).fails(404, "GOAL_NOT_FOUND")
	me.post("/api/v1/goals/x/share", object{"email": friend.email}).fails(400, "INVALID_GOAL_ID")
	share(me, object{"email": friend.email, "sharePercent": 60}).created("GOAL_SHARED")
	share(me, object{"email": friend.email}).fails(409, "GOAL_MEMBER_ALREADY_EXISTS")
	share(me, object{"email": stranger.email, "sharePercent": 41}).
		fails(400, "GOAL_SHARE_EXCEEDED")

	member := path + "/members/" + friend.id
	stranger.patch(member, object{"status": "accepted"}).fails(404, "GOAL_NOT_FOUND")
	stranger.get(member).fails(404, "GOAL_NOT_FOUND")
	stranger.get(path+"/members").fails(404, "GOAL_NOT_FOUND")
	stranger.del(member).fails(404, "GOAL_NOT_FOUND")
	friend.patch(member, object{"status": "maybe"}).fails(400, "INVALID_INVITE_RESPONSE")
	friend.patch(member, object{"role": "editor"}).fails(403, "INSUFFICIENT_PERMISSIONS")
	me.patch(member, object{"sharePercent": 100.5}).invalid("sharePercent")
	// An invitation is accepted once, also by many requests at once.
	var accepting sync.WaitGroup
	for range 20 {
		accepting.Go(func() {
			friend.patch(member, object{"status": "accepted"}).ok("GOAL_MEMBER_UPDATED")
		})
	}
	accepting.Wait()
	require.Len(t, me.notified("budget.v1.invitation.answered", 1), 1)
	share(friend, object{"email": stranger.email}).fails(403, "INSUFFICIENT_PERMISSIONS")
	friend.patch(path, object{"name": "Mine"}).fails(403, "INSUFFICIENT_PERMISSIONS")
	friend.del(path).fails(403, "INSUFFICIENT_PERMISSIONS")
	friend.post(path+"/assignments", assigns(friend.wallet("EUR", "1"), "1")).
		fails(403, "INSUFFICIENT_PERMISSIONS")
	share(me, object{"email": stranger.email, "sharePercent": 40}).created("GOAL_SHARED")
	me.patch(member, object{"sharePercent": 61}).fails(400, "GOAL_SHARE_EXCEEDED")
	friend.del(path+"/members/"+stranger.id).fails(403, "INSUFFICIENT_PERMISSIONS")
	for _, call := range []func(path string) response{
		func(path string) response { return me.get(path) },
		func(path string) response { return me.del(path) },
		func(path string) response { return me.patch(path, object{"role": "editor"}) },
	} {
		call(path+"/members/x").fails(400, "INVALID_GOAL_MEMBER_ID")
		call(path+"/members/"+uuid.NewString()).fails(404, "GOAL_MEMBER_NOT_FOUND")
		call("/api/v1/goals/x/members/"+friend.id).fails(400, "INVALID_GOAL_ID")
		call("/api/v1/goals/"+uuid.NewString()+"/members/"+friend.id).fails(404, "GOAL_NOT_FOUND")
	}
	me.get("/api/v1/goals/x/members").fails(400, "INVALID_GOAL_ID")
	friend.patch(member, object{"status": "rejected"}).ok("GOAL_MEMBER_UPDATED")
	friend.patch(member, object{"status": "accepted"}).fails(403, "INSUFFICIENT_PERMISSIONS")
	me.get("/api/v1/goals/invitations?cursor=x").fails(400, "INVALID_CURSOR")
	me.get(path+"/members?cursor=x").fails(400, "INVALID_CURSOR")
}

// inviteToGoal invites an e-mail by mail, and returns the path of the invitation.
func (u *user) inviteToGoal(goal, email string) string {
	path := "/api/v1/goals/" + goal
	made := u.post(path+"/share?invite=true", object{"email": email}).created("GOAL_SHARED")
	return path + "/invitations/" + made.text("member.invitationId")
}

// TestSharedGoalByMail invites an e-mail without an account, whose user registers with the link of
// the mail, and withdraws another invitation.
func TestSharedGoalByMail(t *testing.T) {
	t.Parallel()
	requireMailbox(t)
	me, stranger := newUser(t), newUser(t)
	goal, email := me.goal("Trip", "150"), uuid.NewString()+"@example.com"
	invitation := me.inviteToGoal(goal, email)
	require.Contains(t, invitation, goal)
	token := mailed(t, email, "/join#")
	registered := (&user{t: t}).post("/api/v1/auth/register", object{
		"name": "Mum", "email": email, "password": "a long enough secret",
		"invitationToken": token,
	}).created("USER_REGISTERED")
	mum := &user{t: t, email: email, password: "a long enough secret"}
	mum.id = registered.text("user.id")
	mum.signIn()
	mum.notified("budget.v1.invitation.sent", 1)
	member := "/api/v1/goals/" + goal + "/members/" + mum.id
	mum.patch(member, object{"status": "accepted"}).ok("GOAL_MEMBER_UPDATED")
	require.Equal(t, "Mum", me.get(member).ok("GOAL_MEMBER_FETCHED").text("member.name"))

	another := me.inviteToGoal(goal, uuid.NewString()+"@example.com")
	key := uuid.NewString()
	resend := func(u *user, path string) response {
		return u.post(path+"/resend", object{}, "Idempotency-Key", key)
	}
	require.Equal(t, http.StatusAccepted, resend(me, another).status)
	require.Equal(t, "true", resend(me, another).header.Get("Idempotency-Replayed"))
	resend(me, me.inviteToGoal(goal, uuid.NewString()+"@example.com")).
		fails(409, "IDEMPOTENCY_KEY_CONFLICT")
	key = ""
	for _, call := range []func(u *user, path string) response{
		resend,
		func(u *user, path string) response { return u.del(path) },
	} {
		call(stranger, another).fails(404, "GOAL_NOT_FOUND")
		call(mum, another).fails(403, "INSUFFICIENT_PERMISSIONS")
		path := "/api/v1/goals/" + goal + "/invitations/"
		call(me, path+uuid.NewString()).fails(404, "INVITATION_NOT_FOUND")
		call(me, path+"x").invalid("invitationId")
		call(me, "/api/v1/goals/x/invitations/"+uuid.NewString()).fails(400, "INVALID_GOAL_ID")
	}
	me.del(another).ok("INVITATION_WITHDRAWN")
	me.del(another).fails(404, "INVITATION_NOT_FOUND")
}
