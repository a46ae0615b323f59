package oidc

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/coffer-budget/coffer/services/auth/internal/email"
)

const (
	// requestTimeout limits one request to a provider, and stepTimeout all requests of a step,
	// which is shorter than the deadline of the gateway.
	requestTimeout = 3 * time.Second
	stepTimeout    = 8 * time.Second
	// maxResponse is the maximum size of a response of a provider, in bytes.
	maxResponse = 1 << 20
	// discoveryKept is the time for which the description of a provider is used, and failureKept
	// the time for which no further request follows a failed one.
	discoveryKept = time.Hour
	failureKept   = 2 * time.Second
)

// signingAlgorithms are the accepted algorithms of ID tokens, if the provider lists them too.
var signingAlgorithms = []string{
	oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384,
	oidc.PS512, oidc.EdDSA,
}

// client is the client of an identity provider. It loads the description of the provider when that
// is needed, so that the service starts while the provider is unavailable.
type client struct {
	Provider
	name, redirectURL string
	http              *http.Client
	now               func() time.Time

	mu sync.Mutex
	// found is the description of the provider, and failed the error of the last attempt to load
	// it.
	found  *description
	failed error
	at     time.Time
}

// identity is an account at an identity provider.
type identity struct {
	Issuer, Subject, Name, Email string
	EmailVerified                bool
}

func newClient(name string, config Provider, publicURL string, now func() time.Time) *client {
	return &client{
		Provider: config, name: name, now: now,
		redirectURL: strings.TrimSuffix(publicURL, "/") + "/api/v1/auth/oidc/" + name + "/callback",
		http: &http.Client{
			Transport: limitedTransport{http.DefaultTransport}, Timeout: requestTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error {
				return http.ErrUseLastResponse
			},
		},
	}
}

// limitedTransport reads whole responses. It returns an error for one that is larger than
// maxResponse, and for a failure of the provider, so that all of them are errors of the request.
type limitedTransport struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t limitedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse+1))
	switch {
	case err != nil:
		return nil, err
	case len(body) > maxResponse:
		return nil, fmt.Errorf("the response is larger than %d bytes", maxResponse)
	case resp.StatusCode >= http.StatusInternalServerError:
		return nil, fmt.Errorf("the response has the status %d", resp.StatusCode)
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// description is what a provider publishes about itself.
type description struct {
	*oidc.Provider
	// keys loads the keys again if a token has an unknown one.
	keys       oidc.KeySet
	algorithms []string
}

// discover returns the description of the provider. Simultaneous calls share one request, which the
// end of ctx does not cancel. If the description cannot be loaded again, the last one is used.
func (c *client) discover(ctx context.Context) (*description, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	age := c.now().Sub(c.at)
	if c.found != nil && age < discoveryKept {
		return c.found, nil
	}
	if c.failed != nil && age < failureKept {
		return nil, c.failed
	}
	found, err := c.load(oidc.ClientContext(context.WithoutCancel(ctx), c.http))
	c.at, c.failed = c.now(), err
	if err == nil {
		c.found = found
	}
	if c.found != nil {
		return c.found, nil
	}
	return nil, err
}

// load requests the description of the provider. It returns an error unless all endpoints are as
// protected as the issuer, because secrets are sent to them, and their responses name the user. The
// UserInfo endpoint is optional.
func (c *client) load(ctx context.Context) (*description, error) {
	found, err := oidc.NewProvider(ctx, c.Issuer)
	if err != nil {
		return nil, err
	}
	var published struct {
		Keys       string   `json:"jwks_uri"`
		Algorithms []string `json:"id_token_signing_alg_values_supported"`
	}
	if err := found.Claims(&published); err != nil {
		return nil, err
	}
	scheme, _, _ := strings.Cut(c.Issuer, ":")
	for _, endpoint := range []string{
		found.Endpoint().AuthURL, found.Endpoint().TokenURL, published.Keys,
		cmp.Or(found.UserInfoEndpoint(), c.Issuer),
	} {
		u, err := url.Parse(endpoint)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != scheme {
			return nil, fmt.Errorf("the provider has the invalid endpoint %q", endpoint)
		}
	}
	return &description{
		Provider: found, keys: oidc.NewRemoteKeySet(ctx, published.Keys),
		algorithms: slices.DeleteFunc(published.Algorithms, func(algorithm string) bool {
			return !slices.Contains(signingAlgorithms, algorithm)
		}),
	}, nil
}

func (c *client) oauth(found *description) *oauth2.Config {
	endpoint := found.Endpoint()
	if c.ClientSecret == "" {
		endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	return &oauth2.Config{
		ClientID: c.ClientID, ClientSecret: c.ClientSecret, Endpoint: endpoint,
		RedirectURL: c.redirectURL, Scopes: []string{oidc.ScopeOpenID, "email", "profile"},
	}
}

// authURL returns the URL of the provider at which a flow continues.
func (c *client) authURL(ctx context.Context, f flow) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	found, err := c.discover(ctx)
	if err != nil {
		return "", err
	}
	return c.oauth(found).AuthCodeURL(f.State, oidc.Nonce(f.Nonce),
		oauth2.S256ChallengeOption(f.Verifier)), nil
}

// redeem exchanges the code of the provider for an identity. It returns an error that wraps
// errRejected if the provider has rejected the code, or if its response is not valid for the flow.
// Other errors mean that the provider is unavailable.
func (c *client) redeem(ctx context.Context, f flow, code string) (identity, error) {
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, c.http), stepTimeout)
	defer cancel()
	found, err := c.discover(ctx)
	if err != nil {
		return identity{}, err
	}
	token, err := c.oauth(found).Exchange(ctx, code, oauth2.VerifierOption(f.Verifier))
	if err != nil {
		response, ok := errors.AsType[*oauth2.RetrieveError](err)
		if ok && response.Response.StatusCode < http.StatusInternalServerError {
			return identity{}, fmt.Errorf("%w: %q", errRejected, response.ErrorCode)
		}
		return identity{}, err
	}
	raw, _ := token.Extra("id_token").(string)
	keys := &recordingKeys{KeySet: found.keys}
	verified, err := oidc.NewVerifier(c.Issuer, keys, &oidc.Config{
		ClientID: c.ClientID, SupportedSigningAlgs: found.algorithms, Now: c.now,
	}).Verify(ctx, raw)
	if keys.failed != nil {
		return identity{}, keys.failed
	}
	if err != nil {
		return identity{}, fmt.Errorf("%w: %w", errRejected, err)
	}
	return c.identityOf(ctx, found, token, verified, f)
}

// recordingKeys keeps the error of keys that could not be loaded. The error of the library does not
// wrap it.
type recordingKeys struct {
	oidc.KeySet
	failed error
}

// VerifySignature implements oidc.KeySet.
func (k *recordingKeys) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	payload, err := k.KeySet.VerifySignature(ctx, token)
	if request, ok := errors.AsType[*url.Error](err); ok {
		k.failed = request
	}
	return payload, err
}

// claims are the claims of an ID token and of a response of the UserInfo endpoint.
type claims struct {
	AuthorizedParty string `json:"azp"`
	Name            string `json:"name"`
	Email           string `json:"email"`
	// EmailVerified is a boolean. Some providers send it as a string.
	EmailVerified any `json:"email_verified"`
}

// identityOf returns the identity of a verified ID token. Providers may send the e-mail only in the
// response of the UserInfo endpoint.
func (c *client) identityOf(
	ctx context.Context, found *description, token *oauth2.Token, verified *oidc.IDToken, f flow,
) (identity, error) {
	var has claims
	if err := verified.Claims(&has); err != nil {
		return identity{}, fmt.Errorf("%w: %w", errRejected, err)
	}
	switch {
	case verified.Nonce == "" || verified.Nonce != f.Nonce:
		return identity{}, fmt.Errorf("%w: another nonce", errRejected)
	case len(verified.Audience) > 1 && has.AuthorizedParty != c.ClientID:
		return identity{}, fmt.Errorf("%w: another authorized party", errRejected)
	case verified.Subject == "" || len(verified.Subject) > 255:
		return identity{}, fmt.Errorf("%w: no subject of 1 to 255 characters", errRejected)
	}
	if has.Email == "" && found.UserInfoEndpoint() != "" {
		info, err := found.UserInfo(ctx, oauth2.StaticTokenSource(token))
		if err != nil {
			return identity{}, err
		}
		if info.Subject != verified.Subject {
			return identity{}, fmt.Errorf("%w: user info of another subject", errRejected)
		}
		// The ID token may have verified another e-mail than this one.
		has = claims{Name: has.Name}
		if err := info.Claims(&has); err != nil {
			return identity{}, fmt.Errorf("%w: %w", errRejected, err)
		}
	}
	address, problem := email.Parse(has.Email)
	if problem != nil {
		address = ""
	}
	return identity{
		// Tokens of Google may have the issuer without its scheme.
		Issuer: c.Issuer, Subject: verified.Subject, Name: has.Name, Email: address,
		EmailVerified: address != "" &&
			(has.EmailVerified == true || has.EmailVerified == "true"),
	}, nil
}
