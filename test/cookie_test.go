package test

import (
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// localHost and localSite are the host and the origin of the stack as a browser on this machine
// sees it. Without HTTPS, only such a host gets a cookie that a browser accepts, and the stack at
// BASE_URL may be on another machine.
const (
	localHost = "coffer.localhost"
	localSite = "http://" + localHost
)

// browser is a user whose refresh token is in the session cookie.
type browser struct {
	*user
	cookie string
}

// newBrowser registers a user and signs in as the console does.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	b := &browser{user: newUser(t)}
	b.host = localHost
	a := b.post("/api/v1/auth/login?session=cookie", object{
		"email": b.email, "password": b.password,
	}, "Origin", localSite, "Sec-Fetch-Site", "same-origin").ok("LOGIN_SUCCESS")
	require.NotContains(t, a.body, "refreshToken")
	b.token, b.refreshToken = a.text("accessToken"), ""
	b.cookie = b.setCookie(a)
	return b
}

// setCookie returns the value of the session cookie that a response sets, after checking its
// attributes.
func (b *browser) setCookie(reply response) string {
	values := reply.header.Values("Set-Cookie")
	require.Len(b.t, values, 1)
	set, err := http.ParseSetCookie(values[0])
	require.NoError(b.t, err)
	require.Equal(b.t, "coffer", set.Name, "the stack is on localhost without HTTPS")
	require.True(b.t, set.HttpOnly)
	require.Equal(b.t, http.SameSiteStrictMode, set.SameSite)
	require.Equal(b.t, "/", set.Path)
	require.Empty(b.t, set.Domain)
	require.Equal(b.t, 720*3600, set.MaxAge)
	require.NotContains(b.t, string(reply.raw), set.Value)
	return set.Value
}

// refresh sends a refresh with a cookie from a page of an origin.
func (b *browser) refresh(cookie, client, origin, fetchSite string) response {
	headers := []string{"Cookie", "other=1; coffer=" + cookie}
	for name, value := range map[string]string{
		"X-Coffer-Client": client, "Origin": origin, "Sec-Fetch-Site": fetchSite,
	} {
		if value != "" {
			headers = append(headers, name, value)
		}
	}
	u := &user{t: b.t, host: localHost}
	return u.post("/api/v1/auth/refresh?session=cookie", nil, headers...)
}

func TestCookieSession(t *testing.T) {
	t.Parallel()
	browser := newBrowser(t)
	// Several tabs send the same cookie at once.
	tabs := make([]response, 4)
	var all sync.WaitGroup
	for i := range tabs {
		all.Go(func() {
			tabs[i] = browser.refresh(browser.cookie, "web", localSite, "same-origin")
		})
	}
	all.Wait()
	first := tabs[0]
	for _, tab := range tabs {
		require.NotContains(t, tab.ok("TOKEN_REFRESHED").body, "refreshToken")
		require.Equal(t, browser.setCookie(first), browser.setCookie(tab))
		browser.token = tab.text("accessToken")
		require.Equal(t, browser.email, browser.get("/api/v1/auth/me").text("user.email"))
	}
	require.NotEqual(t, browser.cookie, browser.setCookie(first))

	out := browser.post("/api/v1/auth/logout", nil, "Cookie", "coffer="+browser.setCookie(first)).
		ok("LOGOUT_SUCCESS")
	require.Equal(t, "coffer=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict",
		out.header.Get("Set-Cookie"))
	browser.refresh(browser.setCookie(first), "web", localSite, "same-origin").
		fails(401, "INVALID_REFRESH_TOKEN")
	browser.get("/api/v1/auth/me").fails(401, "UNAUTHORIZED")
}

func TestCookieStolenTokenEndsTheSession(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	next := b.setCookie(b.refresh(b.cookie, "web", localSite, "same-origin").ok("TOKEN_REFRESHED"))
	(&user{t: t, host: localHost}).post("/api/v1/auth/refresh", object{"refreshToken": b.cookie}).
		fails(401, "INVALID_REFRESH_TOKEN")
	b.refresh(next, "web", localSite, "same-origin").fails(401, "INVALID_REFRESH_TOKEN")
}

// TestCookieAttacks replays a victim's cookie as other sites and programs can.
func TestCookieAttacks(t *testing.T) {
	t.Parallel()
	browser := newBrowser(t)
	for _, row := range [][3]string{
		{"", localSite, "same-origin"},
		{"curl", localSite, "same-origin"},
		{"web", "", ""},
		{"web", "https://evil.example", ""},
		{"web", "null", ""},
		{"web", "https://evil.example", "cross-site"},
		{"web", localSite, "same-site"},
		{"web", localSite, "cross-site"},
		{"web", localSite, "none"},
		{"web", localSite + ".evil.example", ""},
		{"web", "http://localhost", ""},
		{"web", localSite + "/", ""},
	} {
		browser.refresh(browser.cookie, row[0], row[1], row[2]).fails(403, "FORBIDDEN_ORIGIN")
	}
	evil := []string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"}
	browser.post("/api/v1/auth/login?session=cookie",
		object{"email": browser.email, "password": browser.password},
		evil...).fails(403, "FORBIDDEN_ORIGIN")
	browser.post("/api/v1/auth/login", object{"email": browser.email, "password": browser.password},
		evil...).
		ok("LOGIN_SUCCESS")
	browser.post("/api/v1/auth/login?session=body",
		object{"email": browser.email, "password": browser.password}).
		invalid("session")
	(&user{t: t, host: localHost}).post("/api/v1/auth/refresh?session=token",
		object{"refreshToken": "x"}).invalid("session")
	// The cookie is no token for any other operation.
	(&user{t: t, host: localHost}).get("/api/v1/auth/me", "Cookie", "coffer="+browser.cookie,
		"X-Coffer-Client", "web").fails(401, "UNAUTHORIZED")
	(&user{t: t, host: localHost}).post("/api/v1/auth/logout", nil, "Cookie",
		"coffer="+browser.cookie, "X-Coffer-Client", "web").fails(401, "UNAUTHORIZED")
	// The secure name counts only with HTTPS.
	(&user{t: t, host: localHost}).post(
		"/api/v1/auth/refresh?session=cookie", nil, "Cookie", "__Host-coffer="+browser.cookie,
		"X-Coffer-Client", "web", "Origin", localSite,
	).fails(401, "INVALID_REFRESH_TOKEN")
	browser.refresh(browser.cookie, "web", localSite, "same-origin").ok("TOKEN_REFRESHED")
}
