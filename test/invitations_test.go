package test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// inviteByMail returns the path of a new invitation to a budget.
func (u *user) inviteByMail(budget, email string) string {
	path := "/api/v1/budgets/" + budget
	made := u.post(path+"/share?invite=true", object{"email": email}).created("BUDGET_SHARED")
	return path + "/invitations/" + made.text("member.invitationId")
}

func TestInvitationByMail(t *testing.T) {
	t.Parallel()
	requireMailbox(t)
	owner, stranger := newUser(t), newUser(t)
	wallet, category := owner.wallet("EUR", "0"), owner.category("Food")
	budget := owner.budgetNamed("Shared", wallet, category)
	path := "/api/v1/budgets/" + budget
	known, unknown := newUser(t), uuid.NewString()+"@example.com"

	invite := func(email string) object {
		body := object{"email": email, "role": "editor", "sharePercent": 30}
		made := owner.post(path+"/share?invite=true", body).created("BUDGET_SHARED")
		require.NotEmpty(t, made.header.Get("ETag"))
		require.Equal(t, email, made.text("member.email"))
		m := made.at("member").(object)
		requireListed(t, owner.get(path+"/members"), m)
		return m
	}
	first, second := invite(unknown), invite(known.email)
	for _, member := range []object{first, second} {
		require.NotContains(t, member, "id")
		require.NotContains(t, member, "memberId")
		require.Equal(t, "invited", member["status"])
		require.Empty(t, member["name"])
		for _, differs := range []string{"email", "invitationId", "invitedAt", "expiresAt"} {
			require.NotEmpty(t, member[differs])
			delete(member, differs)
		}
	}
	require.Equal(t, first, second)
	owner.post(path+"/share?invite=true", object{"email": unknown, "sharePercent": 30}).
		fails(409, "BUDGET_MEMBER_ALREADY_EXISTS")
	owner.post(path+"/share?invite=true",
		object{"email": uuid.NewString() + "@example.com", "sharePercent": 41}).
		fails(400, "BUDGET_SHARE_EXCEEDED")

	// The user with an account must verify the e-mail, or the installation not require that.
	requireInvited(t, known, budget)
	requireListed(t, owner.get(path+"/members"), second)

	anonymous := &user{t: t}
	open := func(token string) response {
		return anonymous.post("/api/v1/auth/invitation", object{"token": token})
	}
	token := mailed(t, unknown, "/join#")
	require.Equal(t, object{
		"code": "INVITATION_FETCHED", "message": "Invitation fetched", "email": unknown,
		"registered": false,
	}, open(token).ok("INVITATION_FETCHED").body)
	require.Equal(t, true, open(mailed(t, known.email, "/join#")).at("registered"))
	register := object{
		"name": "Mum", "email": unknown, "password": "a long enough secret",
		"invitationToken": token,
	}
	anonymous.post("/api/v1/auth/register", with(register, object{"email": stranger.email})).
		invalid("email")
	registered := anonymous.post("/api/v1/auth/register", register).created("USER_REGISTERED")
	require.Equal(t, true, registered.at("user.emailVerified"))
	anonymous.post("/api/v1/auth/register", register).fails(410, "INVITATION_EXPIRED")
	open(token).fails(410, "INVITATION_EXPIRED")
	open("").invalid("token")

	mum := &user{t: t, email: unknown, password: "a long enough secret"}
	mum.id = registered.text("user.id")
	mum.signIn()
	requireInvited(t, mum, budget)
	mum.patch(path+"/members/"+mum.id, object{"status": "accepted"}).ok("BUDGET_MEMBER_UPDATED")
	joined := owner.get(path + "/members/" + mum.id).ok("BUDGET_MEMBER_FETCHED")
	require.Equal(t, "accepted", joined.text("member.status"))
	require.Equal(t, "Mum", joined.text("member.name"))
}

// requireInvited waits until a user has an invitation to a budget.
func requireInvited(t *testing.T, u *user, budget string) {
	t.Helper()
	require.Eventually(t, func() bool {
		return contains(u.get("/api/v1/invitations").body, object{"budgetId": budget}, nil)
	}, time.Minute, 50*time.Millisecond)
}

func TestMailedInvitationErrors(t *testing.T) {
	t.Parallel()
	requireMailbox(t)
	owner, stranger := newUser(t), newUser(t)
	wallet, category := owner.wallet("EUR", "0"), owner.category("Food")
	budget := owner.budgetNamed("Shared", wallet, category)
	path := "/api/v1/budgets/" + budget + "/invitations/"
	invitation := owner.inviteByMail(budget, uuid.NewString()+"@example.com")
	resend := func(u *user, path, key string) response {
		return u.post(path+"/resend", object{}, "Idempotency-Key", key)
	}
	key := uuid.NewString()
	sent := resend(owner, invitation, key)
	require.Equal(t, http.StatusAccepted, sent.status, "%s", sent.raw)
	require.Equal(t, "MAIL_SENT", sent.text("code"))
	require.Equal(t, "true", resend(owner, invitation, key).header.Get("Idempotency-Replayed"))
	another := owner.inviteByMail(budget, uuid.NewString()+"@example.com")
	resend(owner, another, key).fails(409, "IDEMPOTENCY_KEY_CONFLICT")
	for _, call := range []func(u *user, path string) response{
		func(u *user, path string) response { return resend(u, path, uuid.NewString()) },
		func(u *user, path string) response { return u.del(path) },
	} {
		call(stranger, invitation).fails(403, "INSUFFICIENT_PERMISSIONS")
		call(owner, path+uuid.NewString()).fails(404, "INVITATION_NOT_FOUND")
		call(owner, path+"x").invalid("invitationId")
		call(owner, "/api/v1/budgets/x/invitations/"+uuid.NewString()).
			fails(400, "INVALID_BUDGET_ID")
		call(owner, "/api/v1/budgets/"+uuid.NewString()+"/invitations/"+uuid.NewString()).
			fails(404, "BUDGET_NOT_FOUND")
	}
	owner.del(invitation).ok("INVITATION_WITHDRAWN")
	owner.del(invitation).fails(404, "INVITATION_NOT_FOUND")
}
