package auth

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/app"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	"github.com/coffer-budget/coffer/services/auth/internal/oidc"
	"github.com/coffer-budget/coffer/services/auth/oidctest"
)

// provided is a service with an identity provider.
type provided struct {
	*bundle
	provider *oidctest.Provider
	server   *httptest.Server
}

func setupProvided(t *testing.T, signUp bool) *provided {
	t.Helper()
	p := &provided{bundle: setup(t)}
	p.server = httptest.NewServer(http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) { p.provider.ServeHTTP(w, r) }))
	t.Cleanup(p.server.Close)
	p.provider = oidctest.New(p.server.URL, p.clock.now)
	p.configure(signUp, "")
	return p
}

// setupProvidedMail is setupProvided with mail, and with accounts for new identities.
func setupProvidedMail(t *testing.T) (*provided, post) {
	t.Helper()
	p, mails := setupProvided(t, true), setupMail(t)
	p.bundle = mails.bundle
	p.configure(true, "")
	p.provider.Change(func(provider *oidctest.Provider) { provider.Now = p.clock.now })
	return p, mails
}

// configure replaces the server by one with this configuration.
func (p *provided) configure(signUp bool, domains string) {
	p.config.Mail.PublicURL = "https://coffer.example.com"
	p.config.OIDC = oidc.Config{SignUp: signUp, Providers: app.Named[oidc.Provider]{
		Names: []string{"home"}, Of: map[string]oidc.Provider{"home": {
			Issuer: p.server.URL, ClientID: oidctest.ClientID, ClientSecret: oidctest.Secret,
			Label: "Home", AllowedDomains: domains,
		}},
	}}
	p.oidc = p.newOidc(slog.New(slog.DiscardHandler))
	p.factors.Issuers = p.config.OIDC.Issuers()
}

// trip is a flow in a browser.
type trip struct {
	// url is the URL of the provider, and cookie the cookie of the browser.
	url, cookie string
	// state and code are the answer of the provider.
	state, code string
}

func (p *provided) start(t *testing.T) *trip {
	t.Helper()
	resp, err := p.oidc.StartOidc(t.Context(), &authv1.StartOidcRequest{Provider: "home"})
	require.NoError(t, err)
	return &trip{url: resp.GetLocation(), cookie: resp.GetCookie().GetValue()}
}

// authorize opens the page of the provider.
func (p *provided) authorize(t *testing.T, trip *trip) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, trip.url, nil)
	require.NoError(t, err)
	resp, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	back, err := resp.Location()
	require.NoError(t, err)
	require.Equal(t, "https://coffer.example.com/api/v1/auth/oidc/home/callback",
		back.Scheme+"://"+back.Host+back.Path)
	trip.state, trip.code = back.Query().Get("state"), back.Query().Get("code")
}

// finish opens the callback and returns the code in the fragment.
func (p *provided) finish(t *testing.T, trip *trip) string {
	t.Helper()
	resp, err := p.oidc.FinishOidc(t.Context(), &authv1.FinishOidcRequest{
		Provider: "home", State: trip.state, Code: trip.code, Cookie: trip.cookie,
	})
	require.NoError(t, err)
	path, code, ok := strings.Cut(resp.GetLocation(), "#oidc=")
	require.True(t, ok, resp.GetLocation())
	require.Equal(t, "/", path)
	if c := resp.GetCookie(); c != nil {
		require.Equal(t, int32(60), c.GetMaxAge())
		trip.cookie = c.GetValue()
	}
	return code
}

func (p *provided) exchange(
	t *testing.T, trip *trip, code string,
) (*authv1.ExchangeOidcResponse, error) {
	t.Helper()
	return p.oidc.ExchangeOidc(t.Context(),
		&authv1.ExchangeOidcRequest{Code: code, Cookie: trip.cookie, UserAgent: "Firefox"})
}

// signIn follows a whole flow.
func (p *provided) signIn(t *testing.T) (*authv1.ExchangeOidcResponse, error) {
	t.Helper()
	trip := p.start(t)
	p.authorize(t, trip)
	return p.exchange(t, trip, p.finish(t, trip))
}

// link follows a whole flow that links an identity to the user of a session.
func (p *provided) link(t *testing.T, access string) (*authv1.ExchangeOidcResponse, error) {
	t.Helper()
	started, err := p.oidc.LinkOidc(p.as(t, access), &authv1.LinkOidcRequest{Provider: "home"})
	require.NoError(t, err)
	trip := &trip{url: started.GetUrl(), cookie: started.GetCookie().GetValue()}
	p.authorize(t, trip)
	return p.exchange(t, trip, p.finish(t, trip))
}

func (p *provided) refusesSignIn(t *testing.T, code codes.Code, reason string) {
	t.Helper()
	p.refuses(t, code, reason, func() error {
		_, err := p.signIn(t)
		return err
	})
}

// TestExchangeOidcSignsUp requires that a first sign-in creates an account only if the installation
// permits it, and that later ones find it by issuer and subject.
func TestExchangeOidcSignsUp(t *testing.T) {
	t.Parallel()
	p := setupProvided(t, true)
	first, err := p.signIn(t)
	require.NoError(t, err)
	require.Equal(t, "ada@example.com", first.GetUser().GetEmail())
	require.Equal(t, "Ada", first.GetUser().GetName())
	require.True(t, first.GetUser().GetEmailVerified())
	require.NotEmpty(t, first.GetRefreshToken())
	require.NotEmpty(t, first.GetDeviceKey())
	me, err := p.GetMe(p.as(t, first.GetAccessToken()), &authv1.GetMeRequest{})
	require.NoError(t, err)
	require.True(t, me.GetWithoutPassword())
	require.Equal(t, []string{"login_succeeded", "registered"},
		p.auditTypes(p.as(t, first.GetAccessToken()), t))

	p.provider.Change(func(p *oidctest.Provider) { p.User.Email = "grace@example.com" })
	p.configure(false, "")
	again, err := p.signIn(t)
	require.NoError(t, err)
	require.Equal(t, first.GetUser().GetId(), again.GetUser().GetId())
	require.Equal(t, "ada@example.com", again.GetUser().GetEmail(), "a new e-mail has no effect")

	t.Run("no password signs in", func(t *testing.T) {
		for _, password := range []string{goodPassword, "x"} {
			_, err := p.Login(t.Context(),
				&authv1.LoginRequest{Email: "ada@example.com", Password: password})
			requireReason(t, codes.Unauthenticated, "INVALID_CREDENTIALS", err)
		}
	})
	t.Run("the session mode cookie", func(t *testing.T) {
		trip := p.start(t)
		p.authorize(t, trip)
		req := &authv1.ExchangeOidcRequest{
			Code: p.finish(t, trip), Cookie: trip.cookie, Session: "cookie",
			Site: "https://coffer.example.com", Origin: "https://evil.example",
		}
		p.refuses(t, codes.PermissionDenied, "FORBIDDEN_ORIGIN", func() error {
			_, err := p.oidc.ExchangeOidc(t.Context(), req)
			return err
		})
		req.Origin = req.GetSite()
		got, err := p.oidc.ExchangeOidc(t.Context(), req)
		require.NoError(t, err)
		require.Empty(t, got.GetRefreshToken())
		require.NotEmpty(t, got.GetCookie().GetValue())
	})
}

// TestExchangeOidcUnknownAndKnownEmails requires that nothing reveals which e-mails have an
// account, unless the user owns the e-mail and the installation creates accounts.
func TestExchangeOidcUnknownAndKnownEmails(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name             string
		signUp, verified bool
	}{{"no sign-up", false, true}, {"an e-mail that is not verified", true, false}} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := setupProvided(t, tc.signUp)
			p.register(t, "ada@example.com")
			for _, address := range []string{"ada@example.com", "unknown@example.com", ""} {
				p.provider.Change(func(p *oidctest.Provider) {
					p.User.Email, p.User.EmailVerified = address, tc.verified
				})
				p.refusesSignIn(t, codes.AlreadyExists, "OIDC_ACCOUNT_EXISTS")
			}
		})
	}
	t.Run("an account is never taken by its e-mail", func(t *testing.T) {
		t.Parallel()
		p := setupProvided(t, true)
		p.register(t, "ada@example.com")
		p.refusesSignIn(t, codes.AlreadyExists, "OIDC_ACCOUNT_EXISTS")
	})
}

func TestExchangeOidcRequiresSecondFactor(t *testing.T) {
	t.Parallel()
	p := setupProvided(t, true)
	first, err := p.signIn(t)
	require.NoError(t, err)
	protected := p.protect(p.as(t, first.GetAccessToken()), t, "ada@example.com")
	second, err := p.signIn(t)
	require.NoError(t, err)
	require.Equal(t, "MFA_REQUIRED", second.GetCode())
	require.Empty(t, second.GetAccessToken())
	require.Empty(t, second.GetRefreshToken())
	require.Nil(t, second.GetUser())
	require.Equal(t, []string{"totp", "recovery"}, second.GetMethods())
	require.NoError(t, protected.second(second.GetMfaToken(), protected.code(t)))
}

func TestExchangeOidcAllowedDomains(t *testing.T) {
	t.Parallel()
	p := setupProvided(t, true)
	_, err := p.signIn(t)
	require.NoError(t, err)
	p.configure(true, "example.org, other.example")
	p.refusesSignIn(t, codes.Unauthenticated, "INVALID_OIDC_CODE")
	p.configure(true, "example.org, EXAMPLE.com")
	_, err = p.signIn(t)
	require.NoError(t, err)
	p.provider.Change(func(p *oidctest.Provider) { p.User.EmailVerified = false })
	p.refusesSignIn(t, codes.Unauthenticated, "INVALID_OIDC_CODE")
}

func TestExchangeOidcDuringDeletion(t *testing.T) {
	t.Parallel()
	p := setupProvided(t, true)
	p.config.DeletionGrace = 72 * time.Hour
	p.deletions = p.newDeletions(slog.New(slog.DiscardHandler))
	first, err := p.signIn(t)
	require.NoError(t, err)
	_, err = p.deletions.DeleteAccount(p.as(t, first.GetAccessToken()),
		&authv1.DeleteAccountRequest{Email: "ada@example.com"})
	require.NoError(t, err)
	p.oidc = p.newOidc(slog.New(slog.DiscardHandler))
	p.refusesSignIn(t, codes.PermissionDenied, "ACCOUNT_DELETION_PENDING")
}

// TestExchangeOidcRequiresVerifiedEmail sends the link again, like a sign-in with the password.
func TestExchangeOidcRequiresVerifiedEmail(t *testing.T) {
	t.Parallel()
	p, mails := setupProvidedMail(t)
	_, err := p.signIn(t)
	require.NoError(t, err)
	pgtest.Exec(t, p.db, `UPDATE users SET email_verified_at = NULL`)
	p.config.Mail.Verification = verificationRequired
	p.refusesSignIn(t, codes.PermissionDenied, "EMAIL_NOT_VERIFIED")
	require.NoError(t, mails.confirm(t, mails.token(t, adaMail)))
	_, err = p.signIn(t)
	require.NoError(t, err)
}
