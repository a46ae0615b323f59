package test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestRegister(t *testing.T) {
	t.Parallel()
	t.Run("creates a user who can sign in", func(t *testing.T) {
		t.Parallel()
		anonymous := &user{t: t}
		email := "Ada." + uuid.NewString() + "@Example.COM"
		reply := anonymous.post("/api/v1/auth/register", object{
			"name": " Ada ", "email": " " + email, "password": "a long enough secret",
		}).created("USER_REGISTERED")
		require.Equal(t, "Ada", reply.text("user.name"))
		require.Equal(t, strings.ToLower(email), reply.text("user.email"))
		require.NotContains(t, string(reply.raw), "secret")
		anonymous.post("/api/v1/auth/register", object{
			"name": "Eve", "email": strings.ToUpper(email), "password": "another long secret",
		}).fails(409, "EMAIL_ALREADY_EXISTS")

		login := anonymous.post("/api/v1/auth/login",
			object{"email": email, "password": "a long enough secret"}).ok("LOGIN_SUCCESS")
		require.Equal(t, login.text("accessToken"), login.text("token"))
		require.Equal(t, "Bearer", login.text("tokenType"))
		require.Equal(t, "3600", login.text("expiresIn"))
		require.Equal(t, reply.text("user.id"), login.text("user.id"))
		require.NotContains(t, login.text("refreshToken"), ".")

		wrong := anonymous.post("/api/v1/auth/login",
			object{"email": email, "password": "not the secret"}).fails(401, "INVALID_CREDENTIALS")
		unknown := anonymous.post("/api/v1/auth/login", object{
			"email": "no" + email, "password": "not the secret",
		}).fails(401, "INVALID_CREDENTIALS")
		require.Equal(t, wrong.text("message"), unknown.text("message"))
		anonymous.post("/api/v1/auth/login", object{}).invalid("email", "password")
	})
	t.Run("rejects invalid fields", func(t *testing.T) {
		t.Parallel()
		anonymous := &user{t: t}
		for name, tc := range map[string]struct{ field, value string }{
			"no name":               {"name", " "},
			"a long name":           {"name", strings.Repeat("x", 101)},
			"no e-mail":             {"email", "ada"},
			"an e-mail with a name": {"email", "Ada <ada@example.com>"},
			"a short password":      {"password", "1234567"},
			"a long password":       {"password", strings.Repeat("x", 129)},
			"a well-known password": {"password", "password123"},
		} {
			t.Run(name, func(*testing.T) {
				body := object{"name": "Ada", "email": uuid.NewString() +
					"@example.com", "password": "a long enough secret"}
				body[tc.field] = tc.value
				anonymous.post("/api/v1/auth/register", body).invalid(tc.field)
			})
		}
		same := uuid.NewString() + "@example.com"
		anonymous.post("/api/v1/auth/register",
			object{"name": "Ada", "email": same, "password": same}).invalid("password")
	})
}

func TestRefresh(t *testing.T) {
	t.Parallel()
	t.Run("accepts a token once and ends the session when it is reused", func(t *testing.T) {
		t.Parallel()
		me := newUser(t)
		anonymous := &user{t: t}
		second := anonymous.post("/api/v1/auth/refresh", object{"refreshToken": me.refreshToken})
		require.Equal(t, http.StatusOK, second.status, "%s", second.raw)
		require.NotEqual(t, me.refreshToken, second.text("refreshToken"))
		anonymous.post("/api/v1/auth/refresh", object{"refreshToken": me.refreshToken}).
			fails(401, "INVALID_REFRESH_TOKEN")
		anonymous.post("/api/v1/auth/refresh", object{"refreshToken": second.text("refreshToken")}).
			fails(401, "INVALID_REFRESH_TOKEN")
		anonymous.post("/api/v1/auth/refresh", object{"refreshToken": "x"}).
			fails(401, "INVALID_REFRESH_TOKEN")
		anonymous.post("/api/v1/auth/refresh", object{}).invalid("refreshToken")
	})
}

func TestListAudit(t *testing.T) {
	t.Parallel()
	owner, me := newUser(t), newUser(t)
	(&user{t: t}).post("/api/v1/auth/login", object{"email": me.email, "password": "not it"},
		"User-Agent", "guesser").fails(401, "INVALID_CREDENTIALS")
	budget := owner.budget(owner.wallet("EUR", "0"), owner.category("Food"))
	owner.post("/api/v1/budgets/"+budget+"/share", object{"email": me.email}).
		is(http.StatusCreated, "BUDGET_SHARED")
	var types []string
	require.Eventually(t, func() bool {
		types = nil
		for _, e := range me.get("/api/v1/auth/audit").ok("AUDIT_FETCHED").list("entries") {
			types = append(types, e.(object)["type"].(string))
		}
		return len(types) >= 4
	}, time.Minute, 50*time.Millisecond)
	require.ElementsMatch(t,
		[]string{"registered", "login_succeeded", "login_failed", "invitation_sent"}, types)
	page := me.get("/api/v1/auth/audit?limit=1").ok("AUDIT_FETCHED")
	require.NotEmpty(t, page.text("pagination.nextCursor"))
	me.get("/api/v1/auth/audit?cursor=x").fails(400, "INVALID_CURSOR")
	me.get("/api/v1/auth/audit?limit=-1").invalid("limit")
}

// TestAccount changes profile, sessions and password of one user.
func TestAccount(t *testing.T) {
	t.Parallel()
	me, other := newUser(t), newUser(t)
	require.Equal(t, me.email, me.get("/api/v1/auth/me").text("user.email"))
	require.Equal(t, "Ada L.", me.patch("/api/v1/auth/me", object{"name": "Ada L."}).
		text("user.name"))
	me.patch("/api/v1/auth/me", object{"name": ""}).invalid("name")
	me.patch("/api/v1/auth/me", object{"email": other.email}).invalid("currentPassword")
	me.patch("/api/v1/auth/me", object{"email": other.email, "currentPassword": "wrong password"}).
		fails(401, "INVALID_CREDENTIALS")
	me.patch("/api/v1/auth/me", object{"email": other.email, "currentPassword": me.password}).
		fails(409, "EMAIL_ALREADY_EXISTS")

	first := *me
	me.signIn()
	sessions := me.get("/api/v1/auth/sessions").list("sessions")
	require.Len(t, sessions, 2)
	for _, s := range sessions {
		if s.(object)["current"] != true {
			a := me.del("/api/v1/auth/sessions/" + s.(object)["id"].(string))
			require.Equal(t, http.StatusOK, a.status, "%s", a.raw)
		}
	}
	(&user{t: t}).post("/api/v1/auth/refresh", object{"refreshToken": first.refreshToken}).
		fails(401, "INVALID_REFRESH_TOKEN")
	me.del("/api/v1/auth/sessions/x").fails(400, "INVALID_SESSION_ID")
	me.del("/api/v1/auth/sessions/"+uuid.NewString()).fails(404, "SESSION_NOT_FOUND")

	me.post("/api/v1/auth/reauthenticate", object{}).invalid("password")
	me.post("/api/v1/auth/reauthenticate", object{"password": "not it"}).
		fails(401, "INVALID_CREDENTIALS")
	me.token = me.post("/api/v1/auth/reauthenticate", object{"password": me.password}).
		ok("REAUTHENTICATED").text("accessToken")

	change := object{"currentPassword": "not it", "newPassword": "quite another secret"}
	me.patch("/api/v1/auth/password", change).fails(401, "INVALID_CREDENTIALS")
	change["currentPassword"], change["newPassword"] = me.password, "short"
	me.patch("/api/v1/auth/password", change).invalid("newPassword")
	change["newPassword"] = "quite another secret"
	a := me.patch("/api/v1/auth/password", change)
	require.Equal(t, http.StatusOK, a.status, "%s", a.raw)
	me.post("/api/v1/auth/login", object{"email": me.email, "password": me.password}).
		fails(401, "INVALID_CREDENTIALS")
	me.password = "quite another secret"
	me.signIn()
	a = me.post("/api/v1/auth/logout", object{})
	require.Equal(t, http.StatusOK, a.status, "%s", a.raw)
	me.get("/api/v1/auth/me").fails(401, "UNAUTHORIZED")
}

func TestGetKeySet(t *testing.T) {
	t.Parallel()
	a := (&user{t: t}).get("/.well-known/jwks.json")
	require.Equal(t, http.StatusOK, a.status)
	require.Equal(t, []string{"OKP", "Ed25519"}, a.texts("keys.0.kty", "keys.0.crv"))
	require.Nil(t, a.at("keys.0.d"))
}
