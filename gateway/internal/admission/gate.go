package admission

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
)

// Gate admits requests by their token and the limits of their caller: a user, or an address without
// one. It is safe for concurrent use.
type Gate struct {
	Transfers *Transfers

	verifier *caller.Verifier
	limits   *rateLimit
	// hops is the number of trusted proxies.
	hops int
}

// NewGate returns a gate. requests is the limit per second (RATE_LIMIT) and hops the number of
// trusted proxies (TRUST_PROXY_HOPS).
func NewGate(
	verifier *caller.Verifier, requests float64, hops int, limits TransferLimits,
) (*Gate, error) {
	perCaller, err := newRateLimit(requests, time.Now)
	if err != nil {
		return nil, err
	}
	return &Gate{newTransfers(limits), verifier, perCaller, hops}, nil
}

// Admit checks the token, unless the RPC is public, and the rate, and writes the headers of the
// rate limiter. A request without a valid token counts against its address, which limits guesses;
// then 429 takes precedence over 401.
func (g *Gate) Admit(
	r *http.Request, public bool, weight int, header http.Header,
) (user caller.Identity, err error) {
	var unknown error
	if !public {
		user, unknown = g.Authenticate(r)
	}
	return user, cmp.Or(g.limits.take(g.bucket(r, user), weight, header), unknown)
}

// Authenticate verifies the token before the body is read, so that forged tokens are rejected early
// and 401 takes precedence over 400. The called service verifies it again.
func (g *Gate) Authenticate(r *http.Request) (caller.Identity, error) {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return caller.Identity{}, apierr.Unauthorized
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	if !ok || token == "" || !strings.EqualFold(scheme, "Bearer") {
		return caller.Identity{}, apierr.Unauthorized
	}
	return g.verifier.Verify(r.Context(), token)
}

// EnterTransfer counts an upload or a download that begins. The caller must call leave at its end.
func (g *Gate) EnterTransfer(r *http.Request, user caller.Identity) (leave func(), err error) {
	return g.Transfers.enter(g.bucket(r, user))
}

// ClientAddress returns the address of the client, as far as trusted proxies report it.
func (g *Gate) ClientAddress(r *http.Request) string { return clientAddress(r, g.hops) }

func (g *Gate) bucket(r *http.Request, user caller.Identity) string {
	if user != (caller.Identity{}) {
		return "user " + user.UserID.String()
	}
	return "address " + network(clientAddress(r, g.hops))
}
