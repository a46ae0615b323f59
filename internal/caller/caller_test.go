package caller

import (
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
)

var now = time.Date(2026, 3, 15, 12, 0, 0, 0, time.UTC)

// signer replaces the auth service: it signs tokens, and publishes keys and pages of ended
// sessions.
type signer struct {
	kid         string
	private     ed25519.PrivateKey
	keys        map[string]ed25519.PublicKey
	pages       map[string]Revoked
	unavailable error
	// failing holds the errors of single pages, asked the cursors of all calls.
	failing map[string]error
	asked   []string
	loads   int
	clock   time.Time
}

func newSigner(t *testing.T) (*signer, *Verifier) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	signer := &signer{
		kid: "k1", private: private, clock: now,
		keys: map[string]ed25519.PublicKey{"k1": public}, pages: map[string]Revoked{},
	}
	verifier, err := NewVerifier(Trust{
		Keys: func(context.Context) (map[string]ed25519.PublicKey, error) {
			signer.loads++
			return signer.keys, signer.unavailable
		},
		Revoked: func(_ context.Context, cursor string) (Revoked, error) {
			return signer.revoked(cursor)
		},
	}, func() time.Time { return signer.clock }, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	return signer, verifier
}

func (s *signer) revoked(cursor string) (Revoked, error) {
	s.asked = append(s.asked, cursor)
	return s.pages[cursor], errors.Join(s.unavailable, s.failing[cursor])
}

func claims() Claims {
	return Claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: Issuer, Audience: jwt.ClaimStrings{Audience},
			Subject:   uuid.Must(uuid.NewV7()).String(),
			ExpiresAt: jwt.NewNumericDate(now.Add(time.Hour)), NotBefore: jwt.NewNumericDate(now),
		},
		SessionID: uuid.Must(uuid.NewV7()),
	}
}

func (s *signer) sign(t *testing.T, c Claims) string {
	t.Helper()
	token := jwt.NewWithClaims(jwt.SigningMethodEdDSA, c)
	token.Header["kid"] = s.kid
	signed, err := token.SignedString(s.private)
	require.NoError(t, err)
	return signed
}

func TestVerify(t *testing.T) {
	t.Parallel()
	s, v := newSigner(t)
	c := claims()
	for range 2 {
		id, err := v.Verify(t.Context(), s.sign(t, c))
		require.NoError(t, err)
		require.Equal(t, Identity{UserID: uuid.MustParse(c.Subject), SessionID: c.SessionID}, id)
	}
	require.Equal(t, 1, s.loads)
}

func TestVerifyRejectsForeignTokens(t *testing.T) {
	t.Parallel()
	signer, verifier := newSigner(t)
	good := signer.sign(t, claims())
	b64 := base64.RawURLEncoding.EncodeToString
	payload := func(c string) string { return b64([]byte(c)) }
	const id = "0199f0c5-0000-7000-8000-000000000000"
	body := payload(`{"iss":"coffer","aud":"coffer","sub":"` + id + `","sid":"` + id +
		`","exp":4102444800}`)
	hs := b64([]byte(`{"alg":"HS256","kid":"k1"}`)) + "." + body
	mac := hmac.New(sha256.New, signer.keys["k1"])
	mac.Write([]byte(hs))
	foreign, _ := newSigner(t)
	changed := func(change func(*Claims)) string {
		c := claims()
		change(&c)
		return signer.sign(t, c)
	}
	strange := *signer
	strange.kid = "k2"
	embedded := jwt.NewWithClaims(jwt.SigningMethodEdDSA, claims())
	embedded.Header["jwk"] = map[string]string{
		"kty": "OKP", "crv": "Ed25519", "x": b64(foreign.keys["k1"]),
	}
	withJWK, err := embedded.SignedString(foreign.private)
	require.NoError(t, err)
	critical := jwt.NewWithClaims(jwt.SigningMethodEdDSA, claims())
	critical.Header["kid"] = signer.kid
	critical.Header["crit"] = []string{"b64"}
	withExtension, err := critical.SignedString(signer.private)
	require.NoError(t, err)
	for name, token := range map[string]string{
		"nothing":                       "",
		"no token":                      "abc",
		"cut short":                     good[:len(good)-2],
		"without a signature":           good[:len(good)-86],
		"with more behind it":           good + "A",
		"alg none":                      b64([]byte(`{"alg":"none"}`)) + "." + body + ".",
		"the public key as HMAC secret": hs + "." + b64(mac.Sum(nil)),
		"another installation's key":    foreign.sign(t, claims()),
		"an unknown kid":                strange.sign(t, claims()),
		"a key that it brings along":    withJWK,
		"a critical extension":          withExtension,
		"another issuer":                changed(func(c *Claims) { c.Issuer = "evil" }),
		"another audience": changed(func(c *Claims) {
			c.Audience = jwt.ClaimStrings{"other"}
		}),
		"no end": changed(func(c *Claims) { c.ExpiresAt = nil }),
		"not valid yet": changed(func(c *Claims) {
			c.NotBefore = jwt.NewNumericDate(now.Add(2 * time.Minute))
		}),
		"no user":    changed(func(c *Claims) { c.Subject = "root" }),
		"no session": changed(func(c *Claims) { c.SessionID = uuid.Nil }),
	} {
		_, err := verifier.Verify(t.Context(), token)
		require.ErrorIs(t, err, apierr.Unauthorized, name)
	}
}

func TestIsRecent(t *testing.T) {
	t.Parallel()
	signer, verifier := newSigner(t)
	at := func(auth time.Time) Identity {
		c := claims()
		if !auth.IsZero() {
			c.AuthTime = jwt.NewNumericDate(auth)
		}
		id, err := verifier.Verify(t.Context(), signer.sign(t, c))
		require.NoError(t, err)
		return id
	}
	require.True(t, verifier.IsRecent(at(now)))
	require.True(t, verifier.IsRecent(at(now.Add(-10*time.Minute))))
	require.False(t, verifier.IsRecent(at(now.Add(-10*time.Minute-time.Second))))
	require.True(t, verifier.IsRecent(at(now.Add(time.Minute))), "the clock of auth is ahead")
	require.False(t, verifier.IsRecent(at(now.Add(2*time.Minute))))
	require.False(t, verifier.IsRecent(at(time.Time{})), "a token of an earlier release")
}

func TestVerifyToleratesOneMinuteAfterExpiry(t *testing.T) {
	t.Parallel()
	signer, verifier := newSigner(t)
	token := signer.sign(t, claims())
	for _, seen := range []bool{false, true} {
		signer.clock = now.Add(time.Hour + 59*time.Second)
		_, err := verifier.Verify(t.Context(), token)
		require.NoError(t, err, seen)
		signer.clock = now.Add(time.Hour + 61*time.Second)
		_, err = verifier.Verify(t.Context(), token)
		require.ErrorIs(t, err, apierr.TokenExpired, seen)
	}
	late := claims()
	late.ExpiresAt = jwt.NewNumericDate(now.Add(-2 * time.Minute))
	_, err := verifier.Verify(t.Context(), signer.sign(t, late))
	require.ErrorIs(t, err, apierr.TokenExpired)
}

func TestVerifyRejectsCachedTokenAfterRevocation(t *testing.T) {
	t.Parallel()
	signer, verifier := newSigner(t)
	first, second := claims(), claims()
	tokens := []string{signer.sign(t, first), signer.sign(t, second)}
	for _, token := range tokens {
		_, err := verifier.Verify(t.Context(), token)
		require.NoError(t, err)
	}
	signer.pages[""] = Revoked{
		Sessions: map[uuid.UUID]uint32{first.SessionID: seconds(now.Add(time.Hour))},
	}
	require.NoError(t, verifier.Reload(t.Context()))
	_, err := verifier.Verify(t.Context(), tokens[0])
	require.ErrorIs(t, err, apierr.Unauthorized)
	_, err = verifier.Verify(t.Context(), tokens[1])
	require.NoError(t, err)

	signer.keys = map[string]ed25519.PublicKey{"k9": make(ed25519.PublicKey, ed25519.PublicKeySize)}
	require.NoError(t, verifier.Reload(t.Context()))
	_, err = verifier.Verify(t.Context(), tokens[1])
	require.ErrorIs(t, err, apierr.Unauthorized)
}

func TestVerifyLoadsUnknownKeyOncePerSecond(t *testing.T) {
	t.Parallel()
	signer, verifier := newSigner(t)
	_, err := verifier.Verify(t.Context(), signer.sign(t, claims()))
	require.NoError(t, err)
	next, _ := newSigner(t)
	next.kid = "k2"
	signer.keys = map[string]ed25519.PublicKey{"k1": signer.keys["k1"], "k2": next.keys["k1"]}
	// Many tokens with unknown keys cause one call of auth.
	for range 10 {
		_, err = verifier.Verify(t.Context(), next.sign(t, claims()))
		require.ErrorIs(t, err, apierr.Unauthorized)
	}
	require.Equal(t, 1, signer.loads)
	signer.clock = now.Add(reloadAtMostEvery)
	_, err = verifier.Verify(t.Context(), next.sign(t, claims()))
	require.NoError(t, err)
	require.Equal(t, 2, signer.loads)
}

func TestVerifyWhileAuthIsUnavailable(t *testing.T) {
	t.Parallel()
	signer, verifier := newSigner(t)
	signer.unavailable = errors.New("connection refused")
	token := signer.sign(t, claims())
	_, err := verifier.Verify(t.Context(), token)
	require.ErrorIs(t, err, apierr.Unavailable)
	require.Error(t, verifier.Ready())

	signer.unavailable, signer.clock = nil, now.Add(reloadAtMostEvery)
	_, err = verifier.Verify(t.Context(), token)
	require.NoError(t, err)
	signer.unavailable = errors.New("connection refused")
	require.Error(t, verifier.Reload(t.Context()))
	require.NoError(t, verifier.Ready())
	_, err = verifier.Verify(t.Context(), signer.sign(t, claims()))
	require.NoError(t, err)
}

func TestFromWithoutIdentity(t *testing.T) {
	t.Parallel()
	_, ok := From(t.Context())
	require.False(t, ok)
	require.Equal(t, uuid.Nil, ID(t.Context()))
	id := Identity{UserID: uuid.Must(uuid.NewV7())}
	require.Equal(t, id.UserID, ID(With(t.Context(), id)))
}
