// Package caller verifies access tokens and carries the identity of the user for whom a request
// acts.
//
// The gateway and every service that accepts users' requests verify tokens. A Verifier holds auth's
// public keys and the ended sessions whose tokens have not expired. It loads both from auth in the
// background, so that an ended session is rejected everywhere within a minute. While auth is
// unavailable, the last loaded state is used. Until keys and sessions were loaded once, no token is
// accepted.
//
// A process creates a Verifier with NewVerifier and runs it with Verifier.Run. Package rpc and the
// gateway call Verify and store the identity in the context; handlers read it with ID or From.
// reload.go loads the state, trust.go decodes auth's responses, and scope.go has the scopes of
// personal access tokens.
package caller

import (
	"context"
	"crypto/ed25519"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/coffer-budget/coffer/internal/apierr"
)

const (
	// Issuer is the iss claim of every access token, and Audience the aud claim of those of
	// sessions.
	Issuer   = "coffer"
	Audience = "coffer"
	// ScopedAudience is the aud claim of access tokens with a scope. It differs from Audience, so
	// that a release that does not know scopes rejects them.
	ScopedAudience = "coffer-scoped"

	// leeway is the tolerated difference between the clocks of auth and this process.
	leeway = time.Minute
	// recent is the time after a sign-in for which operations with the option step_up are allowed.
	recent    = 10 * time.Minute
	cacheSize = 10_000
)

// Identity is a verified user.
type Identity struct {
	UserID uuid.UUID
	// SessionID is the session of the access token or, if the token has a scope, the id of the
	// personal access token.
	SessionID uuid.UUID
	// Scope is empty for the access token of a session, which opens all operations.
	Scope Scope
	// AuthTime is the time at which the user last proved the identity in the session. It is zero in
	// tokens with a scope, and in those of earlier releases.
	AuthTime time.Time
}

// Claims are the claims of an access token. The subject is the user's id.
type Claims struct {
	jwt.RegisteredClaims
	SessionID uuid.UUID        `json:"sid"`
	Scope     Scope            `json:"scope,omitempty"`
	AuthTime  *jwt.NumericDate `json:"auth_time,omitempty"`
}

// Verifier verifies access tokens. It caches verified tokens, because an EdDSA verification costs
// 70 us.
type Verifier struct {
	trust Trust
	now   func() time.Time
	log   *slog.Logger
	seen  *lru.Cache[string, verified]

	mu   sync.RWMutex
	keys map[string]ed25519.PublicKey
	// revoked holds the ended sessions, as in Revoked. A session is removed when its tokens have
	// expired, never earlier.
	revoked map[uuid.UUID]uint32
	// complete is set once every page of ended sessions was read. Before that, no token is
	// accepted.
	complete bool

	// loading guards the fields below. One caller loads while the others wait.
	loading sync.Mutex
	tried   time.Time
	pruned  time.Time
	cursor  string
}

type verified struct {
	Identity
	kid     string
	expires time.Time
}

// NewVerifier returns a verifier that loads from trust at first use, and every 5 seconds while Run
// runs.
func NewVerifier(trust Trust, now func() time.Time, log *slog.Logger) (*Verifier, error) {
	seen, err := lru.New[string, verified](cacheSize)
	if err != nil {
		return nil, err
	}
	return &Verifier{
		trust: trust, now: now, log: log, seen: seen, revoked: map[uuid.UUID]uint32{},
	}, nil
}

// Verify returns the identity in a token, or apierr.Unauthorized, apierr.TokenExpired, or
// apierr.Unavailable until keys and ended sessions were loaded.
func (v *Verifier) Verify(ctx context.Context, token string) (Identity, error) {
	now := v.now()
	if seen, ok := v.seen.Get(token); ok {
		return v.admit(seen, now)
	}
	var claims Claims
	key := func(t *jwt.Token) (any, error) { return v.key(ctx, t) }
	parsed, err := jwt.ParseWithClaims(token, &claims, key,
		jwt.WithValidMethods([]string{jwt.SigningMethodEdDSA.Alg()}), jwt.WithIssuer(Issuer),
		jwt.WithAudience(Audience, ScopedAudience), jwt.WithExpirationRequired(),
		jwt.WithLeeway(leeway), jwt.WithTimeFunc(v.now), jwt.WithStrictDecoding())
	switch {
	case errors.Is(err, apierr.Unavailable):
		return Identity{}, apierr.Unavailable
	case errors.Is(err, jwt.ErrTokenExpired):
		return Identity{}, apierr.TokenExpired
	case err != nil:
		return Identity{}, apierr.Unauthorized
	}
	user, err := uuid.Parse(claims.Subject)
	// uuid.Nil stands for "no user" and must not become an owner.
	if err != nil || user == uuid.Nil || claims.SessionID == uuid.Nil {
		return Identity{}, apierr.Unauthorized
	}
	if slices.Contains(claims.Audience, ScopedAudience) == (claims.Scope == "") {
		return Identity{}, apierr.Unauthorized
	}
	kid, _ := parsed.Header["kid"].(string)
	id := Identity{UserID: user, SessionID: claims.SessionID, Scope: claims.Scope}
	if claims.AuthTime != nil {
		id.AuthTime = claims.AuthTime.UTC()
	}
	seen := verified{Identity: id, kid: kid, expires: claims.ExpiresAt.Add(leeway)}
	v.seen.Add(token, seen)
	return v.admit(seen, now)
}

// IsRecent reports whether a user proved the identity within the last 10 minutes. It is false for a
// time in the future beyond the leeway, which no clock of auth explains.
func (v *Verifier) IsRecent(id Identity) bool { return id.IsRecent(v.now()) }

// IsRecent is Verifier.IsRecent at a time.
func (id Identity) IsRecent(now time.Time) bool {
	age := now.Sub(id.AuthTime)
	return age <= recent && age >= -leeway
}

// admit checks the conditions that can change after a token was verified.
func (v *Verifier) admit(verified verified, now time.Time) (Identity, error) {
	if !now.Before(verified.expires) {
		return Identity{}, apierr.TokenExpired
	}
	v.mu.RLock()
	defer v.mu.RUnlock()
	if _, ended := v.revoked[verified.SessionID]; ended || v.keys[verified.kid] == nil {
		return Identity{}, apierr.Unauthorized
	}
	return verified.Identity, nil
}

// key returns the public key with the token's kid. It loads the keys if the kid is unknown, because
// auth may have rotated them. A token with critical extensions is invalid, because the verifier
// supports none (RFC 7515, section 4.1.11). The parser ignores the header.
func (v *Verifier) key(ctx context.Context, t *jwt.Token) (any, error) {
	if _, critical := t.Header["crit"]; critical {
		return nil, jwt.ErrTokenUnverifiable
	}
	kid, _ := t.Header["kid"].(string)
	if key := v.known(kid); key != nil {
		return key, nil
	}
	if err := v.reloadIfDue(ctx); err != nil {
		v.log.WarnContext(ctx, "failed to load keys and ended sessions", "error", err)
	}
	if key := v.known(kid); key != nil {
		return key, nil
	}
	if v.Ready() != nil {
		return nil, apierr.Unavailable
	}
	return nil, jwt.ErrTokenUnverifiable
}

// known returns nil for an unknown key, and for all keys until the ended sessions are known too.
func (v *Verifier) known(kid string) ed25519.PublicKey {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if !v.complete {
		return nil
	}
	return v.keys[kid]
}

type contextKey struct{}

// With returns a context that acts for id.
func With(ctx context.Context, id Identity) context.Context {
	return context.WithValue(ctx, contextKey{}, id)
}

// From returns the identity of the user for whom ctx acts. It returns false for public calls and
// calls between services.
func From(ctx context.Context) (Identity, bool) {
	id, ok := ctx.Value(contextKey{}).(Identity)
	return id, ok
}

// ID returns the id of the acting user, who owns the rows that a request reads and writes. Package
// rpc runs no RPC for users without one, so a handler never sees uuid.Nil.
func ID(ctx context.Context) uuid.UUID {
	id, _ := From(ctx)
	return id.UserID
}
