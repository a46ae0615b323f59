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
func token(t *testing.T, header, claims object, sign func(text []byte) []byte) string {
	t.Helper()
	part := func(v object) string {
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
	own := strings.Split(s.attacker.token, ".")
	parts := strings.Split(genuine, ".")
	forged := map[string]string{
		"alg none": token(t, header(object{"alg": "none"}), claims(nil),
			nothing),
		"alg nOnE": token(t, header(object{"alg": "nOnE"}), claims(nil),
			nothing),
		"alg none with a signature": token(t, header(object{"alg": "none"}), claims(nil),
			by(private)),
		"no alg": token(t, object{"typ": "JWT", "kid": kid}, claims(nil),
			by(private)),
		"HS256 with the public key": token(t, header(object{"alg": "HS256"}), claims(nil),
			mac(public)),
		"HS256 with the encoded key": token(t, header(object{"alg": "HS256"}), claims(nil),
			mac([]byte(unpadded.EncodeToString(public)))),
		"HS256 with an empty key": token(t, header(object{"alg": "HS256"}), claims(nil),
			mac(nil)),
		"RS256": token(t, header(object{"alg": "RS256"}), claims(nil),
			by(private)),
		"ES256": token(t, header(object{"alg": "ES256"}), claims(nil),
			by(private)),
		"an unknown key": token(t, header(nil), claims(nil), by(foreign)),
		"an unknown key in the header": token(t, header(object{"jwk": jwk}), claims(nil),
			by(foreign)),
		"a link to an unknown key": token(t, header(object{
			"jku": "https://example.com/jwks.json", "x5u": "https://example.com/x",
		}), claims(nil), by(foreign)),
		"an unknown kid": token(t, header(object{"kid": uuid.NewString()}),
			claims(nil), by(private)),
		"no kid": token(t, header(object{"kid": ""}), claims(nil),
			by(private)),
		"a path as kid": token(t, header(object{"kid": "../../../../dev/null"}),
			claims(nil), mac(nil)),
		"SQL as kid": token(t, header(object{"kid": "' OR kid LIKE '%"}),
			claims(nil), by(foreign)),
		"a number as kid": token(t, header(object{"kid": 1}), claims(nil),
			by(private)),
		"another user's claims":     own[0] + "." + parts[1] + "." + own[2],
		"another token's signature": parts[0] + "." + parts[1] + "." + own[2],
		"no signature":              parts[0] + "." + parts[1] + ".",
		"a truncated signature":     genuine[:len(genuine)-8],
		"a fourth part":             genuine + ".e30",
		"two parts":                 parts[0] + "." + parts[1],
		"claims that are no object": parts[0] + "." + unpadded.EncodeToString([]byte(`"x"`)) +
			"." + parts[2],
		"expired": token(t, header(nil),
			claims(object{"exp": now.Add(-time.Hour).Unix()}), by(private)),
		"no expiry": token(t, header(nil), claims(object{"exp": nil}),
			by(private)),
		"not yet valid": token(t, header(nil),
			claims(object{"nbf": now.Add(30 * time.Minute).Unix()}), by(private)),
		"another issuer": token(t, header(nil),
			claims(object{"iss": "https://example.com"}), by(private)),
		"no issuer": token(t, header(nil), claims(object{"iss": nil}),
			by(private)),
		"another audience": token(t, header(nil),
			claims(object{"aud": []string{"other"}}), by(private)),
		"no audience": token(t, header(nil), claims(object{"aud": nil}),
			by(private)),
		"no subject": token(t, header(nil), claims(object{"sub": nil}),
			by(private)),
		"a subject that is not an id": token(t, header(nil), claims(object{"sub": "admin"}),
			by(private)),
		"an unknown subject": token(t, header(nil),
			claims(object{"sub": uuid.Nil.String()}), by(private)),
		"no session": token(t, header(nil), claims(object{"sid": nil}),
			by(private)),
		"an unknown session": token(t, header(nil),
			claims(object{"sid": uuid.Nil.String()}), by(private)),
		"a string as expiry": token(t, header(nil), claims(object{"exp": "tomorrow"}),
			by(private)),
		"a refresh token":   s.attacker.refreshToken,
		"a very long token": strings.Repeat("a.", 8000),
		"the victim's id":   s.victimIDs["user"],
		"a critical extension": token(t,
			header(object{"crit": []string{"b64"}, "b64": false}), claims(nil), by(foreign)),
		"headers of an encrypted token": token(t, header(object{"zip": "DEF", "enc": "A128GCM"}),
			claims(nil), by(foreign)),
	}
	return forged
}

// tokens sends every forged token to every operation that requires one.
func (s *attackRun) tokens(t *testing.T) {
	t.Helper()
	forged := s.forgeries(t)
	s.eachOperation(t, func(o operation) bool { return o.returns("UNAUTHORIZED") },
		func(t *testing.T, u *user, o operation) {
			t.Helper()
			path, body := s.path(t, o), s.body(t, o)
			u.token = ""
			for what, token := range forged {
				a := s.call(u, o, path, body, "Authorization", "Bearer "+token)
				o.requireRejected(t, a, []int{http.StatusUnauthorized}, what)
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
				o.requireRejected(t, s.call(u, o, path, body, headers...),
					[]int{http.StatusUnauthorized}, headers)
			}
			o.requireRejected(t, s.call(u, o, path+"?access_token="+s.victim.token, body),
				[]int{http.StatusUnauthorized}, "in the query")
		})
}
