package auth

import (
	"strings"
	"time"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/seal"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

const (
	// cookieMode is the value of the parameter session that puts the refresh token into a cookie.
	cookieMode = "cookie"
	// webClient is the value of the header X-Coffer-Client that a request with the cookie needs.
	// Browsers send a header of this name to another site only if that site permits it, and the
	// gateway does not.
	webClient = "web"
	// sameCookieTime is the time for which a replaced cookie still gets its successor. Tabs that
	// start together send the same cookie, and a page that is reloaded may not have received the
	// new one.
	sameCookieTime = 20 * time.Second
)

// browserRequest is a request with the statements of a browser about the page that sent it.
// LoginRequest and RefreshRequest implement it. The gateway fills the fields from the headers and
// decides nothing (ADR 74).
type browserRequest interface {
	GetSite() string
	GetOrigin() string
	GetFetchSite() string
}

// isFromOwnSite reports whether a browser states that a page of this site has sent the request.
// Scripts cannot change Sec-Fetch-Site and Origin. Sec-Fetch-Site takes precedence, because the
// gateway does not know the site if a proxy changes the header Host.
func isFromOwnSite(r browserRequest) bool {
	if r.GetFetchSite() != "" {
		return r.GetFetchSite() == "same-origin"
	}
	return r.GetOrigin() != "" && strings.EqualFold(r.GetOrigin(), r.GetSite())
}

// isFromOtherSite reports whether a browser states that a page of another site has sent the
// request. Clients other than browsers state nothing.
func isFromOtherSite(r browserRequest) bool {
	return (r.GetOrigin() != "" || r.GetFetchSite() != "") && !isFromOwnSite(r)
}

func checkMode(mode string) *apierr.Field {
	if mode == "" || mode == cookieMode {
		return nil
	}
	return &apierr.Field{Name: "session", Message: "must be " + cookieMode}
}

type presentedToken struct {
	text string
	// cookie is set if the token was sent in the session cookie.
	cookie bool
}

// presented returns the refresh token of a request. One in the body takes precedence, because a
// client that sends it has chosen it. The cookie counts only in a request of this site's web
// application.
func presented(req *authv1.RefreshRequest) (presentedToken, error) {
	var problems apierr.Problems
	problems.Field(checkMode(req.GetSession()))
	inBody := req.GetRefreshToken() != ""
	anyCookie := req.GetCookie() != "" || req.GetSession() == cookieMode
	if !inBody && !anyCookie {
		problems.Invalid("refreshToken", "is required")
	}
	if err := problems.Err(); err != nil {
		return presentedToken{}, err
	}
	switch {
	case inBody && req.GetSession() == cookieMode && isFromOtherSite(req):
		return presentedToken{}, errForbiddenOrigin
	case inBody:
		return presentedToken{text: req.GetRefreshToken()}, nil
	case req.GetClient() != webClient || !isFromOwnSite(req):
		return presentedToken{}, errForbiddenOrigin
	case req.GetCookie() == "":
		return presentedToken{}, errInvalidRefreshToken
	}
	return presentedToken{text: req.GetCookie(), cookie: true}, nil
}

// newCookie returns the cookie with a refresh token. Its lifetime is the lifetime of the refresh
// token in it. The gateway adds the name and the attributes.
func (s *server) newCookie(refresh string) *restv1.Cookie {
	return &restv1.Cookie{Value: refresh, MaxAge: int32(s.config.RefreshTTL / time.Second)}
}

// successorKey returns the key that seals the successor of a token. It needs the token and the
// service key. With the token alone, the owner of an old token and a copy of the database could
// follow the successors up to the valid token.
func (s *server) successorKey(token string) seal.Key {
	return seal.NewKey(s.config.ServiceKey+"\x00"+token, "refresh successor")
}
