// Package caller is who a request acts for. The gateway and every service that users' requests reach verify the access token
// themselves, with auth's public keys.
package caller

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/coffer-budget/coffer/internal/apierr"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
)

const (
	// Issuer and Audience stand in every access token.
	Issuer   = "coffer"
	Audience = "coffer"

	leeway = time.Minute
	// A revoked session must stop working within a minute everywhere; auth adds its own part of the delay.
	reloadEvery = 20 * time.Second
	// An unknown kid may be a key that was made a moment ago, or somebody's noise.
	reloadAtMostEvery = time.Second
	cacheSize         = 10_000
)

// Identity is a verified user.
type Identity struct {
	UserID    uuid.UUID
	SessionID uuid.UUID
}

// Claims of an access token. The subject is the user's id.
type Claims struct {
	jwt.RegisteredClaims
	SessionID uuid.UUID `json:"sid"`
}

// Trust is what tokens are verified against: the public keys by kid, and the sessions that were revoked.
type Trust struct {
	Keys    map[string]ed25519.PublicKey
	Revoked map[uuid.UUID]bool
}

// Verifier verifies access tokens. It remembers those that it has seen, because an EdDSA verification costs 70 us.
type Verifier struct {
	load func(ctx context.Context) (Trust, error)
	now  func() time.Time
	log  *slog.Logger
	seen *lru.Cache[string, verified]

	mu      sync.RWMutex
	trust   Trust
	tried   time.Time
	loading sync.Mutex
}

type verified struct {
	Identity
	kid     string
	expires time.Time
}

// NewVerifier returns a verifier that gets its trust from load, at first use and then every 20 seconds while Run runs.
func NewVerifier(load func(ctx context.Context) (Trust, error), now func() time.Time, log *slog.Logger) (*Verifier, error) {
	seen, err := lru.New[string, verified](cacheSize)
	if err != nil {
		return nil, err
	}
	return &Verifier{load: load, now: now, log: log, seen: seen}, nil
}

// Run keeps the trust fresh until ctx ends. While auth is away the last one stays in force.
func (v *Verifier) Run(ctx context.Context) {
	for {
		if err := v.reload(ctx); err != nil && ctx.Err() == nil {
			v.log.WarnContext(ctx, "loading the key set", "error", err)
		}
		pause := reloadEvery
		if v.Ready() != nil {
			pause = reloadAtMostEvery
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// Ready returns an error until a key set has been loaded.
func (v *Verifier) Ready() error {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.trust.Keys == nil {
		return errors.New("there is no key set yet")
	}
	return nil
}

// Verify returns the identity in a token, or apierr.Unauthorized, apierr.TokenExpired, or apierr.Unavailable while no
// key set could be had.
func (v *Verifier) Verify(ctx context.Context, token string) (Identity, error) {
	now := v.now()
	if s, ok := v.seen.Get(token); ok {
		return v.admit(s, now)
	}
	var claims Claims
	parsed, err := jwt.ParseWithClaims(token, &claims, func(t *jwt.Token) (any, error) { return v.key(ctx, t) },
		jwt.WithValidMethods([]string{jwt.SigningMethodEdDSA.Alg()}), jwt.WithIssuer(Issuer), jwt.WithAudience(Audience),
		jwt.WithExpirationRequired(), jwt.WithLeeway(leeway), jwt.WithTimeFunc(v.now), jwt.WithStrictDecoding())
	switch {
	case errors.Is(err, apierr.Unavailable):
		return Identity{}, apierr.Unavailable
	case errors.Is(err, jwt.ErrTokenExpired):
		return Identity{}, apierr.TokenExpired
	case err != nil:
		return Identity{}, apierr.Unauthorized
	}
	user, err := uuid.Parse(claims.Subject)
	// Nobody is uuid.Nil: what belongs to nobody must not have an owner.
	if err != nil || user == uuid.Nil || claims.SessionID == uuid.Nil {
		return Identity{}, apierr.Unauthorized
	}
	kid, _ := parsed.Header["kid"].(string)
	s := verified{Identity: Identity{UserID: user, SessionID: claims.SessionID}, kid: kid, expires: claims.ExpiresAt.Add(leeway)}
	v.seen.Add(token, s)
	return v.admit(s, now)
}

// admit checks what may have changed since a token was verified.
func (v *Verifier) admit(s verified, now time.Time) (Identity, error) {
	if !now.Before(s.expires) {
		return Identity{}, apierr.TokenExpired
	}
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.trust.Revoked[s.SessionID] || v.trust.Keys[s.kid] == nil {
		return Identity{}, apierr.Unauthorized
	}
	return s.Identity, nil
}

func (v *Verifier) key(ctx context.Context, t *jwt.Token) (any, error) {
	kid, _ := t.Header["kid"].(string)
	if key := v.known(kid); key != nil {
		return key, nil
	}
	if err := v.reloadIfDue(ctx); err != nil {
		v.log.WarnContext(ctx, "loading the key set", "error", err)
	}
	if key := v.known(kid); key != nil {
		return key, nil
	}
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.trust.Keys == nil {
		return nil, apierr.Unavailable
	}
	return nil, jwt.ErrTokenUnverifiable
}

func (v *Verifier) known(kid string) ed25519.PublicKey {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.trust.Keys[kid]
}

// reloadIfDue lets one caller load for all who wait.
func (v *Verifier) reloadIfDue(ctx context.Context) error {
	v.loading.Lock()
	defer v.loading.Unlock()
	v.mu.RLock()
	due := v.now().Sub(v.tried) >= reloadAtMostEvery
	v.mu.RUnlock()
	if !due {
		return nil
	}
	return v.loadTrust(ctx)
}

func (v *Verifier) reload(ctx context.Context) error {
	v.loading.Lock()
	defer v.loading.Unlock()
	return v.loadTrust(ctx)
}

// loadTrust needs the lock of loading.
func (v *Verifier) loadTrust(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	trust, err := v.load(ctx)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tried = v.now()
	if err != nil {
		return err
	}
	v.trust = trust
	return nil
}

// FromAuth loads the trust from the auth service.
func FromAuth(client authv1.AuthServiceClient) func(ctx context.Context) (Trust, error) {
	return func(ctx context.Context) (Trust, error) {
		set, err := client.GetKeySet(ctx, &authv1.GetKeySetRequest{})
		if err != nil {
			return Trust{}, fmt.Errorf("fetching the key set: %w", err)
		}
		revoked, err := client.ListRevokedSessions(ctx, &authv1.ListRevokedSessionsRequest{})
		if err != nil {
			return Trust{}, fmt.Errorf("fetching revoked sessions: %w", err)
		}
		trust := Trust{Keys: map[string]ed25519.PublicKey{}, Revoked: map[uuid.UUID]bool{}}
		for _, k := range set.GetKeys() {
			x, err := base64.RawURLEncoding.DecodeString(k.GetX())
			if err != nil || len(x) != ed25519.PublicKeySize {
				return Trust{}, fmt.Errorf("key %q of the key set is malformed", k.GetKid())
			}
			trust.Keys[k.GetKid()] = x
		}
		for _, id := range revoked.GetSessionIds() {
			session, err := uuid.Parse(id)
			if err != nil {
				return Trust{}, fmt.Errorf("a revoked session's id is malformed: %w", err)
			}
			trust.Revoked[session] = true
		}
		return trust, nil
	}
}

type contextKey struct{}

// With returns a context that acts for id.
func With(ctx context.Context, id Identity) context.Context {
	return context.WithValue(ctx, contextKey{}, id)
}

// From returns whom the context acts for; false for public and service calls.
func From(ctx context.Context) (Identity, bool) {
	id, ok := ctx.Value(contextKey{}).(Identity)
	return id, ok
}

// ID is the acting user. The rpc package lets no user's RPC run without one, so uuid.Nil owns nothing.
func ID(ctx context.Context) uuid.UUID {
	id, _ := From(ctx)
	return id.UserID
}
