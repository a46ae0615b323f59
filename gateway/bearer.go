package gateway

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// authenticate verifies the token before the body is read. The called service verifies it again, because services do not trust
// the gateway with that. Here it rejects forged tokens early, and makes 401 take precedence over 400.
func (f *restServer) authenticate(ctx context.Context, r *http.Request) (caller.Identity, error) {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return caller.Identity{}, apierr.Unauthorized
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	if !ok || token == "" || !strings.EqualFold(scheme, "Bearer") {
		return caller.Identity{}, apierr.Unauthorized
	}
	return f.verifier.Verify(ctx, token)
}

// forwarded returns the request that grpc-gateway sees. It contains only what grpc-gateway converts to metadata: the token, if the
// RPC takes one, and the client's address.
func (f *restServer) forwarded(ctx context.Context, r *http.Request, route *route) *http.Request {
	header := http.Header{}
	if route.access == restv1.Access_ACCESS_UNSPECIFIED {
		header.Set("Authorization", r.Header.Get("Authorization"))
	}
	out := &http.Request{
		Method: r.Method, Header: header, Body: http.NoBody, URL: &url.URL{Path: r.URL.Path},
		// grpc-gateway sends it as x-forwarded-for.
		RemoteAddr: net.JoinHostPort(clientAddress(r, f.config.TrustProxyHops), "0"),
	}
	return out.WithContext(ctx)
}

// clientAddress returns the address of the peer, or with trusted proxies the peer of the outermost one. Entries further left in
// X-Forwarded-For were sent by the client and are not trusted.
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
