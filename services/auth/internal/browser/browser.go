// Package browser decides by the statements of a browser whether a page of this site has sent a
// request. Requests that set or read the session cookie depend on it (ADR 74).
package browser

import (
	"strings"

	"github.com/coffer-budget/coffer/internal/apierr"
)

// CookieMode is the value of the parameter session that puts the refresh token into a cookie.
const CookieMode = "cookie"

// Request is a request with the statements of a browser about the page that sent it. The requests
// that start or continue a session implement it. The gateway fills the fields from the headers and
// decides nothing (ADR 74).
type Request interface {
	GetSite() string
	GetOrigin() string
	GetFetchSite() string
}

// IsFromOwnSite reports whether a browser states that a page of this site has sent the request.
// Scripts cannot change Sec-Fetch-Site and Origin. Sec-Fetch-Site takes precedence, because the
// gateway does not know the site if a proxy changes the header Host.
func IsFromOwnSite(r Request) bool {
	if r.GetFetchSite() != "" {
		return r.GetFetchSite() == "same-origin"
	}
	return r.GetOrigin() != "" && strings.EqualFold(r.GetOrigin(), r.GetSite())
}

// IsFromOtherSite reports whether a browser states that a page of another site has sent the
// request. Clients other than browsers state nothing.
func IsFromOtherSite(r Request) bool {
	return (r.GetOrigin() != "" || r.GetFetchSite() != "") && !IsFromOwnSite(r)
}

// CheckMode returns the problem of the parameter session, or nil.
func CheckMode(mode string) *apierr.Field {
	if mode == "" || mode == CookieMode {
		return nil
	}
	return &apierr.Field{Name: "session", Message: "must be " + CookieMode}
}
