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

// authenticate verifies the token before anything of the request is read. The service that is called does it again: a
// gateway is not trusted with that. Here it sheds forgeries early, and lets 401 win over 400.
func (f *front) authenticate(ctx context.Context, r *http.Request) (caller.Identity, error) {
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

// forwarded is the request as grpc-gateway may see it. What it makes metadata of is the token, where the RPC takes one,
// and the client's address.
func (f *front) forwarded(ctx context.Context, r *http.Request, route *route) *http.Request {
	header := http.Header{}
	if route.access == restv1.Access_ACCESS_UNSPECIFIED {
		header.Set("Authorization", r.Header.Get("Authorization"))
	}
	out := &http.Request{
		Method: r.Method, Header: header, Body: http.NoBody, URL: &url.URL{Path: r.URL.Path},
		// grpc-gateway makes x-forwarded-for of it.
		RemoteAddr: net.JoinHostPort(clientAddress(r, f.config.TrustProxyHops), "0"),
	}
	return out.WithContext(ctx)
}

// clientAddress is the peer, or what the outermost of the trusted proxies saw as its peer. Entries further left in
// X-Forwarded-For were written by the client.
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
