// Package cookie reads and writes the session cookie, in which browsers keep a refresh token, and
// the cookie of a sign-in at an identity provider.
//
// The protos declare the fields that are sent in a cookie (options cookie and flow_cookie in
// rest.proto). The gateway only carries the value: package decode reads it into the request, and
// the gateway sets the value of the response. Auth decides whether a value is valid and whether a
// request may use it.
//
// The cookies are HttpOnly, so that scripts cannot read them. The session cookie is
// SameSite=Strict, so that browsers do not send it with requests from other sites. The other one is
// SameSite=Lax, because the provider's page leads to this site. The prefix __Host- makes browsers
// reject the cookie from other hosts of the domain, and without Secure. Browsers do not keep Secure
// cookies of http://localhost reliably. The cookie has another name and no Secure there.
package cookie

import (
	"net"
	"net/http"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// Kind is a cookie.
type Kind int

// The cookies of the options cookie and flow_cookie.
const (
	None Kind = iota
	Session
	Flow
)

// securePrefix begins the names of cookies with HTTPS.
const securePrefix = "__Host-"

// KindOf returns the cookie that a field is sent in.
func KindOf(field protoreflect.FieldDescriptor) Kind {
	switch {
	case proto.GetExtension(field.Options(), restv1.E_Cookie).(bool):
		return Session
	case proto.GetExtension(field.Options(), restv1.E_FlowCookie).(bool):
		return Flow
	}
	return None
}

// Read returns the value of the cookie, or "" if the request has none.
func Read(r *http.Request, kind Kind) string {
	c, err := r.Cookie(name(r, kind))
	if err != nil {
		return ""
	}
	return c.Value
}

// Set adds the header that changes the cookie in the browser that sent r.
func Set(header http.Header, r *http.Request, kind Kind, change *restv1.Cookie) {
	c := &http.Cookie{
		Name: name(r, kind), Value: change.GetValue(), MaxAge: int(change.GetMaxAge()), Path: "/",
		Secure: !isPlainLocal(r), HttpOnly: true, SameSite: http.SameSiteStrictMode,
	}
	if kind == Flow {
		c.SameSite = http.SameSiteLaxMode
	}
	header.Add("Set-Cookie", c.String())
}

// Site returns the origin of this site as the browser that sent r addresses it. Auth compares it
// with the header Origin.
func Site(r *http.Request) string {
	if isPlainLocal(r) {
		return "http://" + r.Host
	}
	return "https://" + r.Host
}

func name(r *http.Request, kind Kind) string {
	name := "coffer"
	if kind == Flow {
		name = "coffer-oidc"
	}
	if isPlainLocal(r) {
		return name
	}
	return securePrefix + name
}

// isPlainLocal reports whether a browser uses this machine without HTTPS. It does so only here,
// because browsers reject Secure cookies without HTTPS. A proxy reports HTTPS in X-Forwarded-Proto.
// A client that forges this header changes only its own cookie.
func isPlainLocal(r *http.Request) bool {
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		return false
	}
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") ||
		ip != nil && ip.IsLoopback()
}
