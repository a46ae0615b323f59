package admission

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/personaltoken"
)

// Gate admits requests by their token and the limits of their caller: a user, or an address without
// one. It is safe for concurrent use.
type Gate struct {
	Transfers *Transfers

	config GateConfig
	limits *rateLimit
}

// GateConfig is the configuration of a Gate.
type GateConfig struct {
	Verifier *caller.Verifier
	// Exchange accepts personal access tokens.
	Exchange *Exchange
	// Requests is the limit per second (RATE_LIMIT), and Hops the number of trusted proxies
	// (TRUST_PROXY_HOPS).
	Requests  float64
	Hops      int
	Transfers TransferLimits
}

// NewGate returns a gate.
func NewGate(config GateConfig) (*Gate, error) {
	perCaller, err := newRateLimit(config.Requests, time.Now)
	if err != nil {
		return nil, err
	}
	return &Gate{newTransfers(config.Transfers), config, perCaller}, nil
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
// and 401 takes precedence over 400. The called service verifies it again. A personal access token
// is replaced in the request by the access token that it was exchanged for, so that no service sees
// it.
func (g *Gate) Authenticate(r *http.Request) (caller.Identity, error) {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return caller.Identity{}, apierr.Unauthorized
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	if !ok || token == "" || !strings.EqualFold(scheme, "Bearer") {
		return caller.Identity{}, apierr.Unauthorized
	}
	if !personaltoken.Is(token) {
		return g.config.Verifier.Verify(r.Context(), token)
	}
	access, err := g.config.Exchange.accessToken(r.Context(), token, g.ClientAddress(r),
		func() error { return g.limits.check(g.bucket(r, caller.Identity{})) })
	if err != nil {
		return caller.Identity{}, err
	}
	user, err := g.config.Verifier.Verify(r.Context(), access)
	if err == nil {
		r.Header.Set("Authorization", "Bearer "+access)
	}
	return user, err
}

// EnterTransfer counts an upload or a download that begins. The caller must call leave at its end.
func (g *Gate) EnterTransfer(r *http.Request, user caller.Identity) (leave func(), err error) {
	return g.Transfers.enter(g.bucket(r, user))
}

// ClientAddress returns the address of the client, as far as trusted proxies report it.
func (g *Gate) ClientAddress(r *http.Request) string { return clientAddress(r, g.config.Hops) }

func (g *Gate) bucket(r *http.Request, user caller.Identity) string {
	if user != (caller.Identity{}) {
		return "user " + user.UserID.String()
	}
	return "address " + network(clientAddress(r, g.config.Hops))
}
