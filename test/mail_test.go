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

// mailed returns the token of the link in the newest mail to an address whose text contains a
// substring. It waits for the mail.
func mailed(t *testing.T, to, substring string) string {
	t.Helper()
	if stack == nil {
		t.Skip("the mails of the installation at BASE_URL are unknown")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	mail, err := stack.Mailbox.Await(ctx, strings.ToLower(to), substring)
	require.NoError(t, err)
	require.Len(t, mail.Links, 1)
	link, token, found := strings.Cut(mail.Links[0], "#")
	require.True(t, found)
	require.True(t, strings.HasPrefix(link, stack.URL+"/"), link)
	return token
}

func TestPasswordReset(t *testing.T) {
	t.Parallel()
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
	anonymous.post("/api/v1/auth/password/forgot", forgot, "Idempotency-Key", key)

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
