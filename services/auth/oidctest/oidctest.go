// Package oidctest is an OpenID Connect provider for tests and for development, on this machine.
//
// It implements the parts of the protocol that a client of the authorization code flow uses:
// discovery, keys, authorization, token and UserInfo, with PKCE S256. It signs users in without a
// page: the authorization endpoint redirects at once, as User, or as a user whose subject and
// e-mail are the parameter login_hint. A test changes the fields of the provider to send wrong
// responses.
package oidctest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// ClientID and Secret are those of the client.
const (
	ClientID = "coffer"
	Secret   = "provider secret"
)

// User is an account at the provider.
type User struct {
	Subject, Name, Email string
	EmailVerified        bool
}

// Provider is an identity provider. Its fields are changed with Change.
type Provider struct {
	// Issuer is the URL of the provider.
	Issuer string
	// User is the user who signs in.
	User User
	// Now is the time of the tokens.
	Now func() time.Time
	// Claims changes the claims of an ID token.
	Claims func(claims map[string]any)
	// Sign signs the claims of an ID token.
	Sign func(claims map[string]any) string
	// Before is called before each request is handled. It reports false if it has answered.
	Before func(w http.ResponseWriter, r *http.Request) bool

	mu    sync.Mutex
	key   *ecdsa.PrivateKey
	kid   string
	codes map[string]grant
	// redeemed counts the requests of tokens.
	redeemed int
}

// grant is a code that the client can exchange.
type grant struct {
	nonce, challenge, redirectURI string
	user                          User
}

// New returns a provider that a server serves at a URL.
func New(issuer string, now func() time.Time) *Provider {
	p := &Provider{
		Issuer: issuer, Now: now, codes: map[string]grant{},
		User: User{Subject: "1", Name: "Ada", Email: "ada@example.com", EmailVerified: true},
	}
	p.Rotate()
	return p
}

// Change calls change while no request is handled.
func (p *Provider) Change(change func(p *Provider)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(p)
}

// Redeemed returns the number of requests of tokens.
func (p *Provider) Redeemed() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.redeemed
}

// Rotate replaces the key that signs tokens.
func (p *Provider) Rotate() {
	key, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader) // never fails
	p.Change(func(p *Provider) { p.key, p.kid = key, random() })
}

// ServeHTTP implements http.Handler.
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.Before != nil && !p.Before(w, r) {
		return
	}
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		write(w, http.StatusOK, map[string]any{
			"issuer": p.Issuer, "authorization_endpoint": p.Issuer + "/authorize",
			"token_endpoint": p.Issuer + "/token", "jwks_uri": p.Issuer + "/keys",
			"userinfo_endpoint":                     p.Issuer + "/userinfo",
			"id_token_signing_alg_values_supported": []string{"ES256", "none"},
		})
	case "/keys":
		write(w, http.StatusOK, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{
			Key: p.key.Public(), KeyID: p.kid, Algorithm: "ES256", Use: "sig",
		}}})
	case "/authorize":
		p.authorize(w, r)
	case "/token":
		p.redeem(w, r)
	case "/userinfo":
		write(w, http.StatusOK, map[string]any{
			"sub": p.User.Subject, "email": p.User.Email, "email_verified": p.User.EmailVerified,
		})
	default:
		http.NotFound(w, r)
	}
}

// authorize redirects to the client with a code.
func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("client_id") != ClientID || q.Get("response_type") != "code" ||
		q.Get("code_challenge_method") != "S256" {
		http.Error(w, "invalid request", http.StatusBadRequest)
		return
	}
	code, user := random(), p.User
	if hint := q.Get("login_hint"); hint != "" {
		user.Subject, user.Email = hint, hint
	}
	p.codes[code] = grant{
		nonce: q.Get("nonce"), challenge: q.Get("code_challenge"),
		redirectURI: q.Get("redirect_uri"), user: user,
	}
	answer := url.Values{"code": {code}, "state": {q.Get("state")}}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+answer.Encode(), http.StatusFound)
}

// redeem exchanges a code for tokens, once.
func (p *Provider) redeem(w http.ResponseWriter, r *http.Request) {
	p.redeemed++
	granted, ok := p.codes[r.FormValue("code")]
	delete(p.codes, r.FormValue("code"))
	challenge := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	id, secret, _ := r.BasicAuth()
	if !ok || base64.RawURLEncoding.EncodeToString(challenge[:]) != granted.challenge ||
		r.FormValue("redirect_uri") != granted.redirectURI {
		write(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
		return
	}
	if id != ClientID || secret != url.QueryEscape(Secret) {
		write(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
		return
	}
	now := p.Now()
	claims := map[string]any{
		"iss": p.Issuer, "sub": granted.user.Subject, "aud": ClientID, "nonce": granted.nonce,
		"iat": now.Unix(), "exp": now.Add(time.Minute).Unix(), "name": granted.user.Name,
		"email": granted.user.Email, "email_verified": granted.user.EmailVerified,
	}
	if p.Claims != nil {
		p.Claims(claims)
	}
	sign := p.Sign
	if sign == nil {
		sign = p.sign
	}
	write(w, http.StatusOK, map[string]any{
		"access_token": random(), "token_type": "Bearer", "expires_in": 60,
		"id_token": sign(claims),
	})
}

// sign signs claims with the present key.
func (p *Provider) sign(claims map[string]any) string {
	signer, err := jose.NewSigner(jose.SigningKey{
		Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: p.key, KeyID: p.kid},
	}, nil)
	if err != nil {
		return err.Error()
	}
	token, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		return err.Error()
	}
	return token
}

// Unsigned returns an ID token with alg=none.
func Unsigned(claims map[string]any) string {
	text, _ := json.Marshal(claims) // The claims of a test can be encoded.
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(`{"alg":"none"}`)) + "." + encode(text) + "."
}

func random() string {
	bits := make([]byte, 16)
	_, _ = rand.Read(bits) // never fails
	return base64.RawURLEncoding.EncodeToString(bits)
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// SignWithOwnKey signs claims as this provider.
func (p *Provider) SignWithOwnKey(claims map[string]any) string { return p.sign(claims) }
