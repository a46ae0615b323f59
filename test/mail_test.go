package test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// requireMailbox skips a test that sends or reads mails, if the tests run against BASE_URL.
func requireMailbox(t *testing.T) {
	t.Helper()
	if stack == nil {
		t.Skip("the installation at BASE_URL may send no mails, and its mails are unknown")
	}
}

// mailed returns the token of the link in the newest mail to an address whose text contains a
// substring. It waits for the mail.
func mailed(t *testing.T, to, substring string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	mail, err := stack.Mailbox.Await(ctx, strings.ToLower(to), substring)
	require.NoError(t, err)
	require.Len(t, mail.Links, 1)
	link, token, found := strings.Cut(mail.Links[0], "#")
	require.True(t, found)
	require.True(t, strings.HasPrefix(link, publicURL(stack.URL)+"/"), link)
	return token
}

func TestPasswordReset(t *testing.T) {
	t.Parallel()
	requireMailbox(t)
	me := newUser(t)
	session := *me
	forgot := object{"email": me.email}
	known := me.post("/api/v1/auth/password/forgot", forgot)
	require.Equal(t, http.StatusAccepted, known.status, "%s", known.raw)
	require.Equal(t, "MAIL_SENT", known.text("code"))
	anonymous := &user{t: t}
	unknown := anonymous.post("/api/v1/auth/password/forgot",
		object{"email": uuid.NewString() + "@example.com"})
	require.Equal(t, string(known.raw), string(unknown.raw))
	anonymous.post("/api/v1/auth/password/forgot", object{"email": "ada"}).invalid("email")
	key := uuid.NewString()
	anonymous.post("/api/v1/auth/password/forgot", forgot, "Idempotency-Key", key)
	anonymous.post("/api/v1/auth/password/forgot", object{"email": strings.ToUpper(me.email)},
		"Idempotency-Key", key).fails(409, "IDEMPOTENCY_KEY_CONFLICT")

	token := mailed(t, me.email, "/reset#")
	anonymous.post("/api/v1/auth/password/reset",
		object{"token": token, "password": "short"}).invalid("password")
	reset := object{"token": token, "password": "a new long secret"}
	anonymous.post("/api/v1/auth/password/reset", reset, "Idempotency-Key", key).
		ok("PASSWORD_RESET")
	reset["password"] = "another new long secret"
	anonymous.post("/api/v1/auth/password/reset", reset, "Idempotency-Key", key).
		fails(409, "IDEMPOTENCY_KEY_CONFLICT")
	anonymous.post("/api/v1/auth/password/reset", reset).fails(410, "LINK_EXPIRED")
	me.password = "a new long secret"
	me.signIn()
	// The services load ended sessions every 5 seconds.
	require.Eventually(t, func() bool {
		return session.get("/api/v1/wallet").status == http.StatusUnauthorized &&
			session.get("/api/v1/budgets").status == http.StatusUnauthorized
	}, 8*time.Second, 100*time.Millisecond)
	session.get("/api/v1/auth/me").fails(401, "UNAUTHORIZED")
}

// TestEmailLinks runs on a stack that does not require verified e-mails.
func TestEmailLinks(t *testing.T) {
	t.Parallel()
	requireMailbox(t)
	anonymous := &user{t: t}
	open := func(path, token string) response {
		return anonymous.post("/api/v1/auth/email/"+path, object{"token": token})
	}
	me := newUser(t)
	sent := me.post("/api/v1/auth/email/verification", object{})
	require.Equal(t, http.StatusAccepted, sent.status, "%s", sent.raw)
	token := mailed(t, me.email, "/verify#")
	open("revert", token).fails(410, "LINK_EXPIRED")
	open("verify", token).ok("EMAIL_VERIFIED")
	open("verify", token).fails(410, "LINK_EXPIRED")
	open("verify", "").invalid("token")
	require.Equal(t, true, me.get("/api/v1/auth/me").at("user.emailVerified"))
	require.Equal(t, "off", me.get("/api/v1/auth/me").text("emailVerification"))

	former := me.email
	move := func(u *user) {
		changed := u.patch("/api/v1/auth/me",
			object{"email": "new-" + u.email, "currentPassword": u.password}).ok("USER_UPDATED")
		require.Equal(t, false, changed.at("user.emailVerified"))
	}
	move(me)
	open("revert", mailed(t, former, "/revert#")).ok("EMAIL_REVERTED")
	me.get("/api/v1/auth/me").fails(401, "UNAUTHORIZED")
	me.signIn()
	require.Equal(t, former, me.get("/api/v1/auth/me").text("user.email"))

	other := newUser(t)
	former = other.email
	move(other)
	anonymous.post("/api/v1/auth/register",
		object{"name": "Eve", "email": former, "password": "a long enough secret"}).
		created("USER_REGISTERED")
	open("revert", mailed(t, former, "/revert#")).fails(409, "EMAIL_ALREADY_EXISTS")
}
