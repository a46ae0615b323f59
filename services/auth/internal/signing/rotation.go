package signing

import (
	"crypto/ed25519"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/caller"
)

const (
	// activationDelay is the time for which a new key is published before it signs. Verifiers
	// reload the keys every 5 seconds, so all of them know it by then.
	activationDelay = time.Minute
	// retireMargin is added to the lifetime of the tokens of a replaced key. It covers the leeway
	// of a minute that verifiers have, and replicas that load the new key late.
	retireMargin = 5 * time.Minute
	// MinRotation leaves each key some time between the activation of its predecessor and of its
	// successor.
	MinRotation = 5 * time.Minute
)

// privateKey is a signing key that this replica can use, because its service key opens it.
type privateKey struct {
	kid        string
	activeFrom time.Time
	key        ed25519.PrivateKey
}

// nextKey reports whether a new key is due, and the time from which it signs. keys are ordered by
// activeFrom. The first key of an installation signs immediately; there are no tokens to wait for.
// Any other key is due activationDelay before it must sign, so that rotation is the time between
// two activations.
func nextKey(keys []privateKey, now time.Time, rotation time.Duration) (from time.Time, due bool) {
	if len(keys) == 0 {
		return now, true
	}
	newest := keys[len(keys)-1].activeFrom
	if now.Before(newest.Add(rotation - activationDelay)) {
		return time.Time{}, false
	}
	return now.Add(activationDelay), true
}

// signerAt returns the key that signs at a time: the newest active one. keys are ordered by
// activeFrom and not empty. If none is active yet, it returns the first.
func signerAt(keys []privateKey, now time.Time) privateKey {
	signer := keys[0]
	for _, k := range keys {
		if !k.activeFrom.After(now) {
			signer = k
		}
	}
	return signer
}

// spentKeys returns the ids of the keys whose tokens have all expired. keys are ordered by
// ActiveFrom. A key signs until the next one becomes active, so the newest key is never spent.
func spentKeys(keys []Key, now time.Time, accessTTL time.Duration) []string {
	var spent []string
	for i := range len(keys) - 1 {
		if lastSigned := keys[i+1].ActiveFrom; now.After(lastSigned.Add(accessTTL + retireMargin)) {
			spent = append(spent, keys[i].KID)
		}
	}
	return spent
}

// sign returns a JWT (EdDSA) for a user and a session that is valid from now until now+ttl. The jti
// makes each token unique; no code compares it.
func sign(
	key privateKey, id caller.Identity, jti uuid.UUID, now time.Time, ttl time.Duration,
) (string, error) {
	audience := caller.Audience
	if id.Scope != "" {
		audience = caller.ScopedAudience
	}
	claims := caller.Claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer:    caller.Issuer,
			Audience:  jwt.ClaimStrings{audience},
			Subject:   id.UserID.String(),
			ExpiresAt: jwt.NewNumericDate(now.Add(ttl)),
			NotBefore: jwt.NewNumericDate(now),
			IssuedAt:  jwt.NewNumericDate(now),
			ID:        jti.String(),
		},
		SessionID: id.SessionID,
		Scope:     id.Scope,
	}
	if !id.AuthTime.IsZero() {
		claims.AuthTime = jwt.NewNumericDate(id.AuthTime)
	}
	token := jwt.NewWithClaims(jwt.SigningMethodEdDSA, claims)
	token.Header["kid"] = key.kid
	signed, err := token.SignedString(key.key)
	if err != nil {
		return "", fmt.Errorf("signing an access token: %w", err)
	}
	return signed, nil
}
