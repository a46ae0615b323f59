package auth

import (
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	"github.com/coffer-budget/coffer/services/auth/oidctest"
)

// TestFinishOidcRejectsTokens sends ID tokens that prove no identity for the flow.
func TestFinishOidcRejectsTokens(t *testing.T) {
	t.Parallel()
	claim := func(name string, value any) func(p *oidctest.Provider) {
		return func(p *oidctest.Provider) {
			p.Claims = func(claims map[string]any) { claims[name] = value }
		}
	}
	for name, change := range map[string]func(p *oidctest.Provider){
		"another nonce":    claim("nonce", "x"),
		"no nonce":         claim("nonce", ""),
		"another issuer":   claim("iss", "https://evil.example"),
		"another audience": claim("aud", "other"),
		"several audiences without an authorized party": claim("aud",
			[]string{oidctest.ClientID, "other"}),
		"no subject": claim("sub", ""),
		"an expired token": claim("exp",
			time.Date(2026, 3, 15, 11, 59, 59, 0, time.UTC).Unix()),
		"alg=none": func(p *oidctest.Provider) { p.Sign = oidctest.Unsigned },
		"no token": func(p *oidctest.Provider) {
			p.Sign = func(map[string]any) string { return "" }
		},
		"the key of another provider": func(p *oidctest.Provider) {
			p.Sign = oidctest.New(p.Issuer, p.Now).SignWithOwnKey
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := setupProvided(t, true)
			p.provider.Change(change)
			p.refusesSignIn(t, codes.Unauthenticated, "INVALID_OIDC_CODE")
		})
	}
}

// TestFinishOidcBindsFlow requires that an answer of the provider is accepted only in the browser
// that started the flow, once, and with the verifier of PKCE.
func TestFinishOidcBindsFlow(t *testing.T) {
	t.Parallel()
	p := setupProvided(t, true)
	invalid := func(t *testing.T, trip *trip) {
		t.Helper()
		code := p.finish(t, trip)
		p.refuses(t, codes.Unauthenticated, "INVALID_OIDC_CODE", func() error {
			_, err := p.exchange(t, trip, code)
			return err
		})
	}
	answered := func(t *testing.T) *trip {
		t.Helper()
		trip := p.start(t)
		p.authorize(t, trip)
		return trip
	}
	t.Run("no cookie", func(t *testing.T) {
		trip := answered(t)
		trip.cookie = ""
		invalid(t, trip)
	})
	t.Run("the cookie of another flow", func(t *testing.T) {
		trip, other := answered(t), p.start(t)
		trip.cookie = other.cookie
		invalid(t, trip)
	})
	t.Run("a changed cookie", func(t *testing.T) {
		trip := answered(t)
		first := "A"
		if strings.HasPrefix(trip.cookie, first) {
			first = "B"
		}
		trip.cookie = first + trip.cookie[1:]
		invalid(t, trip)
	})
	t.Run("the code of another flow", func(t *testing.T) {
		trip, other := answered(t), answered(t)
		trip.code = other.code
		invalid(t, trip)
	})
	t.Run("an answer after 10 minutes", func(t *testing.T) {
		trip := answered(t)
		p.clock.advance(10 * time.Minute)
		invalid(t, trip)
	})
	t.Run("a canceled sign-in", func(t *testing.T) {
		trip := p.start(t)
		resp, err := p.oidc.FinishOidc(t.Context(), &authv1.FinishOidcRequest{
			Provider: "home", State: stateOf(t, trip.url), Error: "access_denied",
			Cookie: trip.cookie,
		})
		require.NoError(t, err)
		_, code, _ := strings.Cut(resp.GetLocation(), "#oidc=")
		_, err = p.exchange(t, trip, code)
		requireReason(t, codes.Unauthenticated, "INVALID_OIDC_CODE", err)
	})
	t.Run("a replayed state", func(t *testing.T) {
		trip := answered(t)
		first := p.finish(t, trip)
		redeemed := p.provider.Redeemed()
		second := p.finish(t, trip)
		require.Equal(t, redeemed, p.provider.Redeemed(), "the provider is not asked again")
		_, err := p.exchange(t, trip, second)
		requireReason(t, codes.Unauthenticated, "INVALID_OIDC_CODE", err)
		_, err = p.exchange(t, trip, first)
		require.NoError(t, err, "the first code stays valid")

		late := answered(t)
		p.finish(t, late)
		p.clock.advance(time.Minute + time.Second)
		require.NoError(t, p.expire(t.Context()))
		p.finish(t, late)
		require.Equal(t, redeemed+1, p.provider.Redeemed(), "nor after the code has expired")
	})
}

// TestExchangeOidcOnce requires that a code has an effect at most once, for 60 seconds, and in one
// browser.
func TestExchangeOidcOnce(t *testing.T) {
	t.Parallel()
	p := setupProvided(t, true)
	finished := func(t *testing.T) (*trip, string) {
		t.Helper()
		trip := p.start(t)
		p.authorize(t, trip)
		return trip, p.finish(t, trip)
	}
	t.Run("20 requests in parallel", func(t *testing.T) {
		trip, code := finished(t)
		var group sync.WaitGroup
		var signedIn atomic.Int32
		for range 20 {
			group.Go(func() {
				if _, err := p.exchange(t, trip, code); err == nil {
					signedIn.Add(1)
				}
			})
		}
		group.Wait()
		require.Equal(t, int32(1), signedIn.Load())
	})
	t.Run("a repeated Idempotency-Key", func(t *testing.T) {
		trip, code := finished(t)
		req := &authv1.ExchangeOidcRequest{Code: code, Cookie: trip.cookie, IdempotencyKey: "k"}
		first, err := p.oidc.ExchangeOidc(t.Context(), req)
		require.NoError(t, err)
		again, err := p.oidc.ExchangeOidc(t.Context(), req)
		require.NoError(t, err)
		require.True(t, again.GetReplayed())
		require.Equal(t, first.GetAccessToken(), again.GetAccessToken())
	})
	t.Run("the browser of another user", func(t *testing.T) {
		trip, code := finished(t)
		other := p.start(t)
		_, err := p.exchange(t, other, code)
		requireReason(t, codes.Unauthenticated, "INVALID_OIDC_CODE", err)
		_, err = p.exchange(t, trip, "oidc_other")
		requireReason(t, codes.Unauthenticated, "INVALID_OIDC_CODE", err)
		_, err = p.exchange(t, trip, code)
		require.NoError(t, err)
	})
	t.Run("60 seconds after a long sign-in at the provider", func(t *testing.T) {
		trip := p.start(t)
		p.authorize(t, trip)
		p.clock.advance(10*time.Minute - time.Second)
		code := p.finish(t, trip)
		p.clock.advance(time.Minute - time.Second)
		_, err := p.exchange(t, trip, code)
		require.NoError(t, err)
	})
	t.Run("after 60 seconds", func(t *testing.T) {
		trip, code := finished(t)
		p.clock.advance(time.Minute)
		_, err := p.exchange(t, trip, code)
		requireReason(t, codes.Unauthenticated, "INVALID_OIDC_CODE", err)
	})
}

// TestFinishOidcSimultaneously requires that 20 answers with one state redeem the code once.
func TestFinishOidcSimultaneously(t *testing.T) {
	t.Parallel()
	p := setupProvided(t, true)
	trip := p.start(t)
	p.authorize(t, trip)
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			_, err := p.oidc.FinishOidc(t.Context(), &authv1.FinishOidcRequest{
				Provider: "home", State: trip.state, Code: trip.code, Cookie: trip.cookie,
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	require.Equal(t, 1, p.provider.Redeemed())
}

func TestFinishOidcAfterKeyRotation(t *testing.T) {
	t.Parallel()
	p := setupProvided(t, true)
	_, err := p.signIn(t)
	require.NoError(t, err)
	p.provider.Rotate()
	_, err = p.signIn(t)
	require.NoError(t, err)
}

// TestExchangeOidcIsBlind requires that unknown and known e-mails cause the same statements, so
// that the time does not differ either.
func TestExchangeOidcIsBlind(t *testing.T) {
	t.Parallel()
	p := setupProvided(t, false)
	p.register(t, "known@example.com")
	recorder := &statements{}
	post{bundle: p.bundle}.record(t, recorder)
	p.configure(false, "")
	run := func(email string) []string {
		p.provider.Change(func(p *oidctest.Provider) { p.User.Email = email })
		recorder.reset()
		_, err := p.signIn(t)
		requireReason(t, codes.AlreadyExists, "OIDC_ACCOUNT_EXISTS", err)
		return recorder.all()
	}
	// pgx prepares statements with their first use.
	run("first@example.com")
	known := run("known@example.com")
	require.NotEmpty(t, known)
	require.Equal(t, known, run("unknown@example.com"))
}

// stateOf returns the state in the URL of the provider.
func stateOf(t *testing.T, location string) string {
	t.Helper()
	u, err := url.Parse(location)
	require.NoError(t, err)
	return u.Query().Get("state")
}
