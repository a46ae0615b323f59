package test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func aBudget(name, wallet, category string) object {
	return object{
		"name": name, "currency": "EUR", "limit": 100, "period": "monthly",
		"startDate": "2026-03-01", "walletId": wallet, "categoryIds": []string{category},
	}
}

func (u *user) budgetNamed(name, wallet, category string) string {
	return u.post("/api/v1/budgets", aBudget(name, wallet, category)).created("BUDGET_CREATED").
		text("budget.id")
}

func (u *user) budget(wallet, category string) string {
	return u.budgetNamed("Food "+uuid.NewString(), wallet, category)
}

// invite shares a budget with another user. If response is not empty, the other user answers the
// invitation.
func (u *user) invite(budget string, other *user, role, response string) {
	u.post("/api/v1/budgets/"+budget+"/share", object{"email": other.email, "role": role}).
		is(http.StatusCreated, "BUDGET_SHARED")
	if response != "" {
		a := other.patch("/api/v1/budgets/"+budget+"/members/"+other.id, object{"status": response})
		require.Equal(u.t, http.StatusOK, a.status, "%s", a.raw)
	}
}

// TestBudgetInvalidFields sends invalid fields to POST and PATCH.
func TestBudgetInvalidFields(t *testing.T) {
	t.Parallel()
	me, stranger := newUser(t), newUser(t)
	wallet, category := me.wallet("EUR", "0"), me.category("Food")
	id := me.budgetNamed("Food", wallet, category)
	me.post("/api/v1/budgets", aBudget("FOOD", wallet, category)).fails(409,
		"BUDGET_ALREADY_EXISTS")
	other := me.budgetNamed("Other", wallet, category)
	me.patch("/api/v1/budgets/"+other, object{"name": "food"}).fails(409, "BUDGET_ALREADY_EXISTS")
	for name, tc := range map[string]struct {
		field  string
		value  any
		status int
		code   string
	}{
		"no name":                 {"name", "", 400, "VALIDATION_ERROR"},
		"a limit of zero":         {"limit", 0, 400, "VALIDATION_ERROR"},
		"too many decimals":       {"limit", json.Number("0.001"), 400, "VALIDATION_ERROR"},
		"an unknown currency":     {"currency", "QQQ", 400, "UNSUPPORTED_CURRENCY"},
		"an unknown period":       {"period", "hourly", 400, "INVALID_BUDGET_PERIOD"},
		"an invalid start date":   {"startDate", "2026-02-30", 400, "INVALID_BUDGET_TIMEFRAME"},
		"an end before the start": {"endDate", "2020-01-01", 400, "INVALID_BUDGET_TIMEFRAME"},
		"a malformed wallet":      {"walletId", "x", 400, "WALLET_NOT_FOUND"},
		"another user's wallet": {
			"walletId", stranger.wallet("EUR", "0"), 404, "WALLET_NOT_FOUND",
		},
		"a malformed category": {
			"categoryIds", []string{"x"}, 400, "INVALID_CATEGORY_EXIST_PARAMS",
		},
		"no category": {
			"categoryIds", []string{}, 400, "INVALID_CATEGORY_EXIST_PARAMS",
		},
		"another user's category": {
			"categoryIds",
			[]string{category, stranger.category(uuid.NewString())},
			404, "INVALID_CATEGORY_EXIST_PARAMS",
		},
	} {
		t.Run(name, func(*testing.T) {
			body := aBudget("Wrong", wallet, category)
			body[tc.field] = tc.value
			me.post("/api/v1/budgets", body).fails(tc.status, tc.code)
			me.patch("/api/v1/budgets/"+id, object{tc.field: tc.value}).fails(tc.status, tc.code)
		})
	}
	me.get("/api/v1/budgets/"+id+"?at=x").fails(400, "INVALID_BUDGET_TIMEFRAME")
	require.Len(t, me.get("/api/v1/budgets").ok("BUDGETS_FETCHED").list("budgets"), 2)
}

// TestBudgetPermissions tries the operations on a budget as owner, editor, viewer, invited user and
// stranger.
func TestBudgetPermissions(t *testing.T) {
	t.Parallel()
	owner := newUser(t)
	editor := newUser(t)
	viewer := newUser(t)
	invited := newUser(t)
	stranger := newUser(t)
	wallet, category := owner.wallet("EUR", "0"), owner.category("Food")
	id := owner.budget(wallet, category)
	owner.invite(id, editor, "editor", "accepted")
	owner.invite(id, viewer, "viewer", "accepted")
	owner.invite(id, invited, "viewer", "")
	path := "/api/v1/budgets/" + id
	ok := func(a response) { require.Equal(t, http.StatusOK, a.status, "%s", a.raw) }
	rejected := func(a response) { a.fails(403, "INSUFFICIENT_PERMISSIONS") }
	require.Equal(t, "You do not have permission to perform this action",
		stranger.get(path).text("message"))

	for who, me := range map[string]*user{"owner": owner, "editor": editor, "viewer": viewer} {
		reply := me.get(path)
		ok(reply)
		require.Equal(t, who, reply.text("budget.role"))
		require.Equal(t, "0.00", reply.text("budget.progress.spent"))
		ok(me.get(path + "/members"))
		require.Equal(t, who == "owner", reply.at("budget.ownerName") == nil,
			"members read the owner's name: %s", reply.raw)
		limits := me.get(path + "/limits").ok("BUDGET_LIMITS_FETCHED").list("limits")
		require.Len(t, limits, 1)
		require.Equal(t, object{
			"limit": reply.at("budget.limit"), "currency": "EUR",
			"from": reply.text("budget.createdAt")[:10],
		}, limits[0])
	}
	ok(owner.patch(path, object{"limit": 60}))
	ok(editor.patch(path, object{"limit": 70}))
	rejected(viewer.patch(path, object{"limit": 80}))
	for _, u := range []*user{editor, viewer, invited, stranger} {
		rejected(u.post(path+"/share", object{"email": stranger.email}))
		rejected(u.del(path))
		rejected(u.del(path + "/members/" + owner.id))
	}
	rejected(stranger.get(path + "/members"))
	rejected(stranger.get(path + "/limits"))
	rejected(invited.get(path + "/limits"))
	rejected(stranger.patch(path, object{"limit": 1}))
	rejected(editor.patch(path+"/members/"+invited.id, object{"status": "accepted"}))
	require.Len(t, invited.get("/api/v1/invitations").list("invitations"), 1)
	require.Empty(t, invited.get("/api/v1/budgets").list("budgets"))
	name := invited.get("/api/v1/invitations").text("invitations.0.budgetName")
	ok(owner.patch(path, object{"name": "Secret"}))
	require.Equal(t, []any{map[string]any{
		"id": id, "name": name, "ownerId": owner.id, "role": "viewer",
		"membershipStatus": "pending",
	}},
		invited.get("/api/v1/budgets?include=invited").ok("BUDGETS_FETCHED").list("budgets"),
		"the contents of the invitation and nothing newer")
	ok(invited.patch(path+"/members/"+invited.id, object{"response": "rejected"}))
	ok(editor.del(path + "/members/" + editor.id))
	ok(owner.del(path))
}

func TestShareBudgetErrors(t *testing.T) {
	t.Parallel()
	owner, friend, third := newUser(t), newUser(t), newUser(t)
	id := owner.budget(owner.wallet("EUR", "0"), owner.category("Food"))
	path := "/api/v1/budgets/" + id
	share := func(body object) response { return owner.post(path+"/share", body) }
	share(object{"email": "nobody"}).invalid("email")
	share(object{"email": uuid.NewString() + "@example.com"}).fails(404, "USER_NOT_FOUND")
	share(object{"email": strings.ToUpper(owner.email)}).fails(400, "CANNOT_INVITE_SELF")
	share(object{"email": friend.email, "role": "owner"}).invalid("role")
	share(object{"email": friend.email, "sharePercent": 0}).invalid("sharePercent")
	share(object{"email": friend.email, "sharePercent": json.Number("60.5")}).
		is(201, "BUDGET_SHARED")
	share(object{"email": friend.email}).fails(409, "BUDGET_MEMBER_ALREADY_EXISTS")
	share(object{"email": third.email, "sharePercent": 40}).fails(400, "BUDGET_SHARE_EXCEEDED")

	friend.patch(path+"/members/"+friend.id, object{"status": "maybe"}).
		fails(400, "INVALID_INVITE_RESPONSE")
	friend.patch(path+"/members/"+friend.id, object{}).fails(400, "INVALID_INVITE_RESPONSE")
	owner.del(path+"/members/"+third.id).fails(404, "BUDGET_MEMBER_NOT_FOUND")
	owner.patch(path+"/members/"+third.id, object{"status": "accepted"}).
		fails(404, "BUDGET_MEMBER_NOT_FOUND")
	for bad, want := range map[string]struct {
		status int
		code   string
	}{"x": {400, "INVALID_BUDGET_ID"}, uuid.NewString(): {404, "BUDGET_NOT_FOUND"}} {
		path := "/api/v1/budgets/" + bad
		owner.get(path).fails(want.status, want.code)
		owner.patch(path, object{"name": "A"}).fails(want.status, want.code)
		owner.del(path).fails(want.status, want.code)
		owner.get(path+"/members").fails(want.status, want.code)
		owner.post(path+"/share", object{"email": friend.email}).fails(want.status, want.code)
		owner.del(path+"/members/"+friend.id).fails(want.status, want.code)
		friend.patch(path+"/members/"+friend.id, object{"status": "accepted"}).
			fails(want.status, want.code)
	}
}

// TestGetBudgetOfDeletedWallet requires that the budget remains, without progress.
func TestGetBudgetOfDeletedWallet(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	wallet := u.wallet("EUR", "0")
	id := u.budget(wallet, u.category("Food"))
	u.del("/api/v1/wallet/" + wallet).ok("WALLET_DELETED")
	require.Nil(t, u.get("/api/v1/budgets/"+id).ok("BUDGET_FETCHED").at("budget.progress"))
}
