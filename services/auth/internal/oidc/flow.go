package oidc

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

const (
	// flowTTL is the time for the sign-in at the provider, and codeTTL that for the exchange of the
	// code after it.
	flowTTL = 10 * time.Minute
	codeTTL = time.Minute
	// maxReturnTo is the maximum length of the path to which the browser returns, in bytes of its
	// JSON, which the cookie contains. Browsers ignore cookies of more than 4096 bytes.
	maxReturnTo = 500
)

// flow is a round trip of a browser to a provider and back. The browser holds it in a cookie,
// sealed with the service key, so that any replica continues it and a start stores nothing.
type flow struct {
	Provider string
	// State, Nonce and Verifier bind the response of the provider, its ID token and its code to the
	// flow.
	State, Nonce, Verifier string
	ReturnTo               string
	// ExpiresAt is the end of the time for the sign-in at the provider.
	ExpiresAt time.Time
	// UserID and SessionID are set if the flow links an identity to the user.
	UserID, SessionID uuid.UUID
}

// end returns the time at which the code of the flow has expired, also if the provider has answered
// immediately before ExpiresAt. Until then the state is stored, and is not redeemed again.
func (f flow) end() time.Time { return f.ExpiresAt.Add(stepTimeout + codeTTL) }

// random returns 256 random bits.
func random() string {
	bits := make([]byte, 32)
	_, _ = rand.Read(bits) // never fails
	return base64.RawURLEncoding.EncodeToString(bits)
}

// hash returns the hash by which a state is stored.
func hash(text string) []byte {
	h := sha256.Sum256([]byte(text))
	return h[:]
}

func newFlow(provider, returnTo string, now time.Time) flow {
	return flow{
		Provider: provider, State: random(), Nonce: random(), Verifier: random(),
		ReturnTo: localPath(returnTo), ExpiresAt: now.Add(flowTTL),
	}
}

// localPath returns a path of this installation, and / for any other value. Browsers treat a
// backslash like a slash, and two of them begin the name of a host. They also shorten /./ to /, so
// no part of the path may have two.
func localPath(path string) string {
	u, err := url.Parse(path)
	encoded, _ := json.Marshal(path) // A string can be encoded.
	if err != nil || len(encoded) > maxReturnTo || u.Scheme != "" || u.Host != "" ||
		u.User != nil || !strings.HasPrefix(path, "/") || strings.Contains(u.Path, "//") ||
		strings.ContainsFunc(path, func(r rune) bool {
			return r <= ' ' || r == '\\' || r == '#' || r > '~'
		}) {
		return "/"
	}
	return path
}

// flowUse is the use of a sealed flow.
const flowUse = "flow"

// cookie returns the cookie of a flow.
func (s *Server) cookie(f flow, ttl time.Duration) (*restv1.Cookie, error) {
	text, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	sealed, err := s.sealer.Seal(text, flowUse)
	if err != nil {
		return nil, err
	}
	return &restv1.Cookie{
		Value: base64.RawURLEncoding.EncodeToString(sealed), MaxAge: int32(ttl / time.Second),
	}, nil
}

// open returns the flow of a cookie. It reports false for a cookie that this installation has not
// made, or of a flow that has ended.
func (s *Server) open(cookie string) (f flow, ok bool) {
	sealed, err := base64.RawURLEncoding.DecodeString(cookie)
	if err != nil {
		return flow{}, false
	}
	text, err := s.sealer.Open(sealed, flowUse)
	if err != nil || json.Unmarshal(text, &f) != nil {
		return flow{}, false
	}
	return f, s.Now().Before(f.end())
}
