package gateway

import (
	"cmp"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// admit checks the token and the rate before anything of the body is read, and extends the time to
// read a form. A request without a valid token counts against its address, so guessing tokens is
// limited. Then 429 takes precedence over 401.
func (h *rpcHandler) admit(w http.ResponseWriter, r *http.Request, entry *logEntry) error {
	var unknown error
	if h.route.access == restv1.Access_ACCESS_UNSPECIFIED {
		entry.user, unknown = h.authenticate(r)
	}
	if err := cmp.Or(h.limits.take(h.bucket(r, entry.user), h.route.weight, w.Header()), unknown); err != nil {
		return err
	}
	if h.route.multipart {
		if err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(multipartDeadline + readReserve)); err != nil {
			h.log.WarnContext(r.Context(), "failed to extend the time to read", "error", err)
		}
	}
	return nil
}

// authenticate verifies the token before the body is read. The called service verifies it again,
// because services do not trust the gateway with that. Here it rejects forged tokens early, and
// makes 401 take precedence over 400.
func (s *restServer) authenticate(r *http.Request) (caller.Identity, error) {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return caller.Identity{}, apierr.Unauthorized
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	if !ok || token == "" || !strings.EqualFold(scheme, "Bearer") {
		return caller.Identity{}, apierr.Unauthorized
	}
	return s.verifier.Verify(r.Context(), token)
}

// clientAddress returns the address of the peer, or with trusted proxies the peer of the outermost
// one. Entries further left in X-Forwarded-For were sent by the client and are not trusted.
// trustedHops is TRUST_PROXY_HOPS. An entry that is not an address, for example because a proxy
// does not append to the header, counts as the peer.
func clientAddress(r *http.Request, trustedHops int) string {
	peer, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		peer = r.RemoteAddr
	}
	if trustedHops <= 0 {
		return peer
	}
	seen := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	claimed, err := netip.ParseAddr(strings.TrimSpace(seen[max(0, len(seen)-trustedHops)]))
	if err != nil {
		return peer
	}
	return claimed.String()
}
