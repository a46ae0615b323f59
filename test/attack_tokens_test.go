package test

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/seal"
)

var unpadded = base64.RawURLEncoding

// token returns a JWT of any header and claims, with the signature that sign returns.
func token(t *testing.T, header object, claims any, sign func(text []byte) []byte) string {
	t.Helper()
	part := func(v any) string {
		text, err := json.Marshal(v)
		require.NoError(t, err)
		return unpadded.EncodeToString(text)
	}
	text := part(header) + "." + part(claims)
	return text + "." + unpadded.EncodeToString(sign([]byte(text)))
}

// signingKey reads auth's private key from the database, which an attacker cannot do. A token with
// its signature can only be rejected because of its header or claims.
func (s *attackRun) signingKey(
	t *testing.T,
) (kid string, public ed25519.PublicKey, private ed25519.PrivateKey) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.stack.Databases[""])
	require.NoError(t, err)
	defer conn.Close(t.Context())
	var sealed []byte
	require.NoError(t, conn.QueryRow(
		t.Context(), `SELECT kid, public_key, sealed_private_key FROM auth.signing_keys`,
	).Scan(&kid, &public, &sealed))
	seed, err := seal.NewKey(s.stack.ServiceKey, "signing key").Open(sealed, kid)
	require.NoError(t, err)
	return kid, public, ed25519.NewKeyFromSeed(seed)
}

// forgeries returns invalid tokens by their defect.
func (s *attackRun) forgeries(t *testing.T) map[string]string {
	t.Helper()
	kid, public, private := s.signingKey(t)
	_, foreign, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	now := time.Now()
	claims := func(change object) object {
		return with(object{
			"iss": "coffer", "aud": []string{"coffer"}, "sub": s.victimIDs["user"],
			"sid": s.victimIDs["session"],
			"iat": now.Unix(), "nbf": now.Unix(), "exp": now.Add(time.Hour).Unix(),
		}, change)
	}
	header := func(change object) object {
		return with(object{"alg": "EdDSA", "typ": "JWT", "kid": kid}, change)
	}
	by := func(key ed25519.PrivateKey) func([]byte) []byte {
		return func(text []byte) []byte { return ed25519.Sign(key, text) }
	}
	mac := func(secret []byte) func([]byte) []byte {
		return func(text []byte) []byte {
			h := hmac.New(sha256.New, secret)
			h.Write(text)
			return h.Sum(nil)
		}
	}
	nothing := func([]byte) []byte { return nil }
	jwk := object{
		"kty": "OKP", "crv": "Ed25519",
		"x": unpadded.EncodeToString(foreign.Public().(ed25519.PublicKey)),
	}
	genuine := token(t, header(nil), claims(nil), by(private))
	// The token without a defect is accepted, so each of the following is rejected because of its
	// only defect.
	(&user{t: t, base: s.stack.URL, token: genuine}).get("/api/v1/auth/me").ok("USER_FETCHED")
	headed := func(change object, sign func([]byte) []byte) string {
		return token(t, header(change), claims(nil), sign)
	}
	claiming := func(change object) string {
		return token(t, header(nil), claims(change), by(private))
	}
	noAlg := object{"typ": "JWT", "kid": kid}
	critical := object{"crit": []string{"b64"}, "b64": false}
	jweHeader := unpadded.EncodeToString([]byte(`{"alg":"dir","enc":"A128GCM","zip":"DEF"}`))
	encoded := []byte(unpadded.EncodeToString(public))
	own := strings.Split(s.attacker.token, ".")
	parts := strings.Split(genuine, ".")
	forged := map[string]string{
		"alg none":                     headed(object{"alg": "none"}, nothing),
		"alg nOnE":                     headed(object{"alg": "nOnE"}, nothing),
		"alg none with a signature":    headed(object{"alg": "none"}, by(private)),
		"no alg":                       token(t, noAlg, claims(nil), by(private)),
		"HS256 with the public key":    headed(object{"alg": "HS256"}, mac(public)),
		"HS256 with the encoded key":   headed(object{"alg": "HS256"}, mac(encoded)),
		"HS256 with an empty key":      headed(object{"alg": "HS256"}, mac(nil)),
		"RS256":                        headed(object{"alg": "RS256"}, by(private)),
		"ES256":                        headed(object{"alg": "ES256"}, by(private)),
		"an unknown key":               token(t, header(nil), claims(nil), by(foreign)),
		"an unknown key in the header": headed(object{"jwk": jwk}, by(foreign)),
		"a link to an unknown key": headed(object{
			"jku": "https://example.com/jwks.json", "x5u": "https://example.com/x",
		}, by(foreign)),
		"an unknown kid":  headed(object{"kid": uuid.NewString()}, by(private)),
		"no kid":          headed(object{"kid": ""}, by(private)),
		"a path as kid":   headed(object{"kid": "../../../../dev/null"}, by(private)),
		"SQL as kid":      headed(object{"kid": "' OR kid LIKE '%"}, by(private)),
		"a number as kid": headed(object{"kid": 1}, by(private)),

		"another user's claims":     own[0] + "." + parts[1] + "." + own[2],
		"another token's signature": parts[0] + "." + parts[1] + "." + own[2],
		"no signature":              parts[0] + "." + parts[1] + ".",
		"a truncated signature":     genuine[:len(genuine)-8],
		"a fourth part":             genuine + ".e30",
		"two parts":                 parts[0] + "." + parts[1],
		"claims that are no object": token(t, header(nil), "x", by(private)),

		"expired":                     claiming(object{"exp": now.Add(-time.Hour).Unix()}),
		"no expiry":                   claiming(object{"exp": nil}),
		"not yet valid":               claiming(object{"nbf": now.Add(30 * time.Minute).Unix()}),
		"another issuer":              claiming(object{"iss": "https://example.com"}),
		"no issuer":                   claiming(object{"iss": nil}),
		"another audience":            claiming(object{"aud": []string{"other"}}),
		"no audience":                 claiming(object{"aud": nil}),
		"no subject":                  claiming(object{"sub": nil}),
		"a subject that is not an id": claiming(object{"sub": "admin"}),
		"an unknown subject":          claiming(object{"sub": uuid.Nil.String()}),
		"no session":                  claiming(object{"sid": nil}),
		"an unknown session":          claiming(object{"sid": uuid.Nil.String()}),
		"a string as expiry":          claiming(object{"exp": "tomorrow"}),

		"a refresh token":      s.attacker.refreshToken,
		"a very long token":    strings.Repeat("a.", 8000),
		"the victim's id":      s.victimIDs["user"],
		"a critical extension": headed(critical, by(private)),
		"an encrypted token":   jweHeader + ".." + parts[0] + "." + parts[1] + "." + parts[2],
	}
	return forged
}

// tokens sends every forged token to every operation that requires one.
func (s *attackRun) tokens(t *testing.T) {
	t.Helper()
	forged := s.forgeries(t)
	s.eachOperation(t, func(o operation) bool { return o.returns("UNAUTHORIZED") },
		func(t *testing.T, me *user, operation operation) {
			t.Helper()
			path, body := s.path(t, operation), s.body(t, operation)
			me.token = ""
			for what, token := range forged {
				a := s.call(me, operation, path, body, "Authorization", "Bearer "+token)
				operation.requireRejected(t, a, []int{http.StatusUnauthorized}, what)
				require.True(t, strings.HasPrefix(a.header.Get("WWW-Authenticate"), "Bearer"), what)
			}
			for _, headers := range [][]string{
				{"Cookie", "token=" + s.victim.token},
				{"X-Authorization", "Bearer " + s.victim.token},
				{"Grpc-Metadata-Authorization", "Bearer " + s.victim.token},
				{"Grpc-Metadata-Coffer-Service-Key", s.stack.ServiceKey},
				{"Coffer-Service-Key", s.stack.ServiceKey},
				{"X-User-Id", s.victimIDs["user"]},
				{"Authorization", "Basic " +
					base64.StdEncoding.EncodeToString([]byte(s.victim.email+":"+
						s.victim.password))},
				{"Authorization", s.victim.token},
			} {
				operation.requireRejected(t, s.call(me, operation, path, body, headers...),
					[]int{http.StatusUnauthorized}, headers)
			}
			operation.requireRejected(t,
				s.call(me, operation, path+"?access_token="+s.victim.token, body),
				[]int{http.StatusUnauthorized}, "in the query")
		})
}
