package auth

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/caller"
)

const (
	// activationDelay is how long a new key is published before it signs; verifiers reload the key set every 20 seconds.
	activationDelay = time.Minute
	// retireMargin covers the verifiers' leeway of a minute, and replicas that learn of the new key a little later.
	retireMargin = 5 * time.Minute
	// minKeyRotation leaves a key some time between the one before and the one after it.
	minKeyRotation = 5 * time.Minute

	refreshTokenBytes = 32
)

// privateKey is a signing key that this replica can use.
type privateKey struct {
	kid        string
	activeFrom time.Time
	key        ed25519.PrivateKey
}

// nextKey says from when another key should sign, if it is time to make one. keys are ordered by activeFrom.
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

// signerAt picks the key that signs now. keys are ordered by activeFrom and not empty.
func signerAt(keys []privateKey, now time.Time) privateKey {
	signer := keys[0]
	for _, k := range keys {
		if !k.activeFrom.After(now) {
			signer = k
		}
	}
	return signer
}

// spentKeys are those whose tokens have all expired. keys are ordered by active_from; the newest is never spent.
func spentKeys(keys []signingKey, now time.Time, accessTTL time.Duration) []string {
	var spent []string
	for i := range len(keys) - 1 {
		if lastSigned := keys[i+1].ActiveFrom; now.After(lastSigned.Add(accessTTL + retireMargin)) {
			spent = append(spent, keys[i].KID)
		}
	}
	return spent
}

// signAccessToken returns a JWT that is good from now on.
func signAccessToken(k privateKey, id caller.Identity, jti uuid.UUID, now time.Time, ttl time.Duration) (string, error) {
	token := jwt.NewWithClaims(jwt.SigningMethodEdDSA, caller.Claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer:    caller.Issuer,
			Audience:  jwt.ClaimStrings{caller.Audience},
			Subject:   id.UserID.String(),
			ExpiresAt: jwt.NewNumericDate(now.Add(ttl)),
			NotBefore: jwt.NewNumericDate(now),
			IssuedAt:  jwt.NewNumericDate(now),
			ID:        jti.String(),
		},
		SessionID: id.SessionID,
	})
	token.Header["kid"] = k.kid
	signed, err := token.SignedString(k.key)
	if err != nil {
		return "", fmt.Errorf("signing an access token: %w", err)
	}
	return signed, nil
}

// newRefreshToken returns 256 random bits as text.
func newRefreshToken() (string, error) {
	bits := make([]byte, refreshTokenBytes)
	if _, err := rand.Read(bits); err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(bits), nil
}

func hashRefreshToken(token string) []byte {
	h := sha256.Sum256([]byte(token))
	return h[:]
}
