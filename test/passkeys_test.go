package test

import (
	"cmp"
	"strings"
	"testing"

	"github.com/descope/virtualwebauthn"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// device is a user's device with a passkey.
type device struct {
	*user
	// id is the id of the passkey after its registration.
	id    string
	party virtualwebauthn.RelyingParty
	auth  virtualwebauthn.Authenticator
	key   virtualwebauthn.Credential
}

// newKey returns a new credential. The library writes the coordinates of one key in 128 without
// leading zeros, which WebAuthn rejects.
func newKey() virtualwebauthn.Credential {
	for {
		key := virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2)
		const encoded = 77
		if len(key.Key.AttestationData()) == encoded {
			return key
		}
	}
}

// publicURL returns the PUBLIC_URL of a stack.
func publicURL(base string) string { return strings.Replace(base, "127.0.0.1", "localhost", 1) }

// newDevice returns a device with a passkey that is not registered.
func (u *user) newDevice() *device {
	handle := uuid.MustParse(u.id)
	return &device{
		user: u,
		party: virtualwebauthn.RelyingParty{
			Name: "Coffer", ID: "localhost", Origin: publicURL(cmp.Or(u.base, baseURL)),
		},
		auth: virtualwebauthn.NewAuthenticatorWithOptions(
			virtualwebauthn.AuthenticatorOptions{UserHandle: handle[:]}),
		key: newKey(),
	}
}

// addPasskey registers a passkey.
func (u *user) addPasskey(name string) *device {
	d := u.newDevice()
	begun := u.post("/api/v1/auth/passkeys/options", object{}).ok("PASSKEY_OPTIONS_CREATED")
	created := u.post("/api/v1/auth/passkeys", with(d.registration(begun), object{"name": name})).
		created("PASSKEY_CREATED")
	discloseCodes(created)
	d.id = created.text("passkey.id")
	return d
}

// discloseCodes adds the recovery codes of a response to the secrets that logs must not have.
func discloseCodes(created response) {
	for _, code := range created.list("recoveryCodes") {
		disclose(code.(string))
	}
}

// registration returns the body of a request that registers the passkey.
func (d *device) registration(options response) object {
	parsed, err := virtualwebauthn.ParseAttestationOptions(options.text("options"))
	require.NoError(d.t, err)
	return object{
		"ceremonyId": options.text("ceremonyId"), "name": "Phone",
		"credential": virtualwebauthn.CreateAttestationResponse(d.party, d.auth, d.key, *parsed),
	}
}

// assertion returns the body of a request that uses the passkey.
func (d *device) assertion(options response) object {
	parsed, err := virtualwebauthn.ParseAssertionOptions(options.text("options"))
	require.NoError(d.t, err)
	d.key.Counter++
	disclose(options.text("ceremonyId"))
	return object{
		"ceremonyId": options.text("ceremonyId"),
		"assertion":  virtualwebauthn.CreateAssertionResponse(d.party, d.auth, d.key, *parsed),
	}
}

func (d *device) begin() response {
	return d.post("/api/v1/auth/login/passkey/options", object{}).ok("PASSKEY_OPTIONS_CREATED")
}

// registeredPasskey registers a passkey.
func registeredPasskey(c *costRun) []worstRequest {
	d := newUserAt(c.u.t, c.stack.URL, "Passkey").newDevice()
	body := d.registration(d.post("/api/v1/auth/passkeys/options", object{}))
	return one("a passkey", func() response { return d.post("/api/v1/auth/passkeys", body) })
}

// passkeySignIn signs in with a passkey.
func passkeySignIn(c *costRun) []worstRequest {
	d := newUserAt(c.u.t, c.stack.URL, "Passkey").addPasskey("Phone")
	body := d.assertion(d.begin())
	return one("a passkey", func() response { return d.post("/api/v1/auth/login/passkey", body) })
}

func TestPasskeys(t *testing.T) {
	t.Parallel()
	if stack == nil || stack.Mailbox == nil {
		t.Skip("the installation has no PUBLIC_URL that the test knows")
	}
	me := newUser(t)
	d := me.newDevice()
	me.post("/api/v1/auth/passkeys", object{}).invalid("name", "ceremonyId", "credential")
	key := uuid.NewString()
	options := me.post("/api/v1/auth/passkeys/options", object{}, "Idempotency-Key", key).
		ok("PASSKEY_OPTIONS_CREATED")
	bad := d.registration(options)
	bad["credential"] = "{}"
	me.post("/api/v1/auth/passkeys", bad).fails(400, "INVALID_PASSKEY_RESPONSE")
	body := d.registration(options)
	key = uuid.NewString()
	created := me.post("/api/v1/auth/passkeys", body, "Idempotency-Key", key).
		created("PASSKEY_CREATED")
	require.Len(t, created.list("recoveryCodes"), 10)
	discloseCodes(created)
	body["name"] = "Other"
	me.post("/api/v1/auth/passkeys", body, "Idempotency-Key", key).
		fails(409, "IDEMPOTENCY_KEY_CONFLICT")
	id := created.text("passkey.id")
	path := "/api/v1/auth/passkeys/" + id
	require.Equal(t, id, me.get("/api/v1/auth/passkeys").text("passkeys.0.id"))
	require.Equal(t, "Laptop", me.patch(path, object{"name": "Laptop"}).text("passkey.name"))
	me.patch(path, object{}).fails(400, "EMPTY_UPDATE")
	require.Equal(t, me.items("/api/v1/auth/passkeys", "passkeys"),
		rowsOf(t, me.exported(t), "passkeys.jsonl"))
	unknown := "/api/v1/auth/passkeys/" + uuid.NewString()
	me.patch(unknown, object{"name": "x"}).fails(404, "PASSKEY_NOT_FOUND")
	me.del(unknown).fails(404, "PASSKEY_NOT_FOUND")

	used := d.assertion(d.begin())
	key = uuid.NewString()
	login := "/api/v1/auth/login/passkey"
	anonymous := &user{t: t}
	signedIn := anonymous.post(login, used, "Idempotency-Key", key).ok("LOGIN_SUCCESS")
	require.Equal(t, me.email, signedIn.text("user.email"))
	anonymous.post(login, used).fails(401, "INVALID_PASSKEY_RESPONSE")
	used["assertion"] = "{}"
	anonymous.post(login, used, "Idempotency-Key", key).fails(409, "IDEMPOTENCY_KEY_CONFLICT")
	anonymous.post(login+"?session=cookie", used, "Origin", "https://evil.example").
		fails(403, "FORBIDDEN_ORIGIN")

	first := anonymous.post("/api/v1/auth/login",
		object{"email": me.email, "password": me.password}).ok("MFA_REQUIRED")
	disclose(first.text("mfaToken"))
	second := d.assertion(d.begin())
	second["mfaToken"] = first.text("mfaToken")
	anonymous.post("/api/v1/auth/login/mfa", second).ok("LOGIN_SUCCESS")
	invalid := object{"ceremonyId": "x", "assertion": "{}"}
	me.post("/api/v1/auth/reauthenticate", invalid).fails(401, "INVALID_PASSKEY_RESPONSE")
	invalid["mfaToken"] = anonymous.post("/api/v1/auth/login",
		object{"email": me.email, "password": me.password}).text("mfaToken")
	anonymous.post("/api/v1/auth/login/mfa", invalid).fails(401, "INVALID_PASSKEY_RESPONSE")
	me.post("/api/v1/auth/reauthenticate", d.assertion(d.begin())).ok("REAUTHENTICATED")
	d.key.Counter = 0
	anonymous.post(login, d.assertion(d.begin())).fails(401, "PASSKEY_CLONED")
	me.del(path).ok("PASSKEY_DELETED")
	me.signIn()
}
