package test

import (
	"cmp"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/auth/oidctest"
)

// identityProvider serves all stacks of the tests. It signs in the user of the parameter
// login_hint.
var identityProvider = func() *httptest.Server {
	var provider *oidctest.Provider
	server := httptest.NewServer(http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) { provider.ServeHTTP(w, r) }))
	provider = oidctest.New(server.URL, time.Now)
	return server
}()

// withProvider adds the variables of the identity provider to an environment.
func withProvider(environment map[string]string) map[string]string {
	for name, value := range map[string]string{
		"OIDC_PROVIDERS": "home", "OIDC_SIGNUP": "true", "OIDC_HOME_LABEL": "Home",
		"OIDC_HOME_ISSUER": identityProvider.URL, "OIDC_HOME_CLIENT_ID": oidctest.ClientID,
		"OIDC_HOME_CLIENT_SECRET": oidctest.Secret,
	} {
		environment[name] = value
	}
	return environment
}

// surfer follows single steps of a flow, with the cookies of a browser.
type surfer struct {
	*user
	cookie string
}

// open requests a URL and returns the target of its redirect.
func (b *surfer) open(target string) *url.URL {
	req, err := http.NewRequest(http.MethodGet, target, nil)
	require.NoError(b.t, err)
	req.Header.Set("Cookie", b.cookie)
	resp, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(b.t, err)
	require.NoError(b.t, resp.Body.Close())
	require.Equal(b.t, http.StatusFound, resp.StatusCode, target)
	for _, c := range resp.Cookies() {
		b.cookie = c.Name + "=" + c.Value
		disclose(c.Value)
	}
	location, err := resp.Location()
	require.NoError(b.t, err)
	return location
}

// signInAt opens the page of the provider as a user, and returns the code in the fragment.
func (b *surfer) signInAt(provider, email string) string {
	back := b.open(provider + "&login_hint=" + url.QueryEscape(email))
	base, err := url.Parse(cmp.Or(b.base, baseURL))
	require.NoError(b.t, err)
	back.Scheme, back.Host = base.Scheme, base.Host
	disclose(back.Query().Get("code"), back.Query().Get("state"))
	_, code, ok := strings.Cut(b.open(back.String()).Fragment, "oidc=")
	require.True(b.t, ok)
	disclose(code)
	return code
}

// start starts a sign-in and returns the URL of the provider.
func (b *surfer) start() string {
	return b.open(cmp.Or(b.base, baseURL) + "/api/v1/auth/oidc/home/start").String()
}

// startLink starts a link and returns the URL of the provider.
func (b *surfer) startLink() string {
	reply := b.post("/api/v1/auth/oidc/home/link", object{}).ok("OIDC_LINK_STARTED")
	cookie, err := http.ParseSetCookie(reply.header.Get("Set-Cookie"))
	require.NoError(b.t, err)
	b.cookie = cookie.Name + "=" + cookie.Value
	disclose(cookie.Value)
	return reply.text("url")
}

func (b *surfer) exchange(code string) response {
	return b.post("/api/v1/auth/oidc/exchange", object{"code": code}, "Cookie", b.cookie)
}

// linkIdentity links an identity to the user and returns its id.
func (u *user) linkIdentity() string {
	b := &surfer{user: u}
	b.exchange(b.signInAt(b.startLink(), uuid.NewString()+"@example.com")).ok("OIDC_LINKED")
	list := u.get("/api/v1/auth/oidc/identities").ok("OIDC_IDENTITIES_FETCHED").list("identities")
	return list[len(list)-1].(object)["id"].(string)
}

func TestOidc(t *testing.T) {
	t.Parallel()
	if stack == nil {
		t.Skip("the installation at BASE_URL has another identity provider")
	}
	email := uuid.NewString() + "@example.com"
	b := &surfer{user: &user{t: t, email: email}}
	listed := b.get("/api/v1/auth/oidc").ok("OIDC_PROVIDERS_FETCHED")
	require.Equal(t, "home", listed.text("providers.0.name"))
	code := b.signInAt(b.start(), email)
	req := object{"code": code}
	b.post("/api/v1/auth/oidc/exchange", req, "Cookie", b.cookie, "Origin", "https://evil.example").
		fails(403, "FORBIDDEN_ORIGIN")
	(&user{t: t}).post("/api/v1/auth/oidc/exchange", req).fails(401, "INVALID_OIDC_CODE")
	in := b.post("/api/v1/auth/oidc/exchange", req, "Cookie", b.cookie, "Idempotency-Key", "k").
		ok("LOGIN_SUCCESS")
	require.Equal(t, email, in.text("user.email"))
	b.post("/api/v1/auth/oidc/exchange", object{"code": "x"}, "Cookie", b.cookie,
		"Idempotency-Key", "k").fails(409, "IDEMPOTENCY_KEY_CONFLICT")
	b.exchange(code).fails(401, "INVALID_OIDC_CODE")

	b.token = in.text("accessToken")
	me := b.get("/api/v1/auth/me").ok("USER_FETCHED")
	require.Equal(t, true, me.at("withoutPassword"))
	own := b.get("/api/v1/auth/oidc/identities").ok("OIDC_IDENTITIES_FETCHED")
	require.Equal(t, email, own.text("identities.0.email"))
	path := "/api/v1/auth/oidc/identities/" + own.text("identities.0.id")
	b.del(path).fails(409, "LAST_FACTOR")
	other := &surfer{user: newUser(t)}
	other.del(path).fails(404, "OIDC_IDENTITY_NOT_FOUND")
	other.exchange(other.signInAt(other.startLink(), email)).fails(409, "OIDC_ALREADY_LINKED")
	stranger := &surfer{user: &user{t: t}}
	stranger.exchange(stranger.signInAt(stranger.start(), other.email)).
		fails(409, "OIDC_ACCOUNT_EXISTS")
	id := other.linkIdentity()
	other.del("/api/v1/auth/oidc/identities/" + id).ok("OIDC_UNLINKED")
	b.get("/api/v1/auth/oidc/other/start").fails(404, "OIDC_PROVIDER_NOT_FOUND")
	b.get("/api/v1/auth/oidc/other/callback").fails(404, "OIDC_PROVIDER_NOT_FOUND")
	b.post("/api/v1/auth/oidc/other/link", object{}).fails(404, "OIDC_PROVIDER_NOT_FOUND")
	b.patch("/api/v1/auth/password", object{"newPassword": "a long enough secret"}).
		ok("PASSWORD_CHANGED")
	b.del(path).ok("OIDC_UNLINKED")
}

// identities records the examples of identity providers.
func (r *recorder) identities(me *user) {
	const path = "/api/v1/auth/oidc"
	r.texts[identityProvider.URL] = "https://login.example.com"
	r.call(me, http.MethodGet, path, nil)
	b := &surfer{user: me}
	at := me.post(path+"/home/link", object{})
	r.texts[at.text("url")] = "https://login.example.com/authorize?client_id=coffer&state=..."
	r.record(http.MethodPost, path+"/home/link", object{}, at)
	cookie, err := http.ParseSetCookie(at.header.Get("Set-Cookie"))
	require.NoError(r.t, err)
	b.cookie = cookie.Name + "=" + cookie.Value
	body := object{"code": b.signInAt(at.text("url"), me.email)}
	linked := b.post(path+"/exchange", body, "Cookie", b.cookie)
	r.texts[body["code"].(string)] = "oidc_..."
	r.record(http.MethodPost, path+"/exchange", body, linked)
	list := r.call(me, http.MethodGet, path+"/identities", nil)
	r.call(me, http.MethodDelete, path+"/identities/"+list.text("identities.0.id"), nil)
}
