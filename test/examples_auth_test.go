package test

import (
	"net/http"
	"time"
)

// tokens creates, exchanges and deletes a personal access token.
func (r *recorder) tokens(me *user) {
	made := r.call(me, http.MethodPost, "/api/v1/auth/tokens", object{
		"name": "Backup", "scopes": []any{"read"},
		"expiresAt": time.Now().Add(30 * 24 * time.Hour).UTC().Format(time.RFC3339),
	})
	r.call(me, http.MethodPost, "/api/v1/auth/tokens/exchange",
		object{"token": made.text("token")})
	r.call(me, http.MethodGet, "/api/v1/auth/tokens", nil)
	r.call(me, http.MethodDelete, "/api/v1/auth/tokens/"+made.text("personalToken.id"), nil)
}

// leaving requests the deletion of the account, and cancels it.
func (r *recorder) leaving(me *user) {
	id := r.call(me, http.MethodPost, accountDeletion, object{"email": me.email}).
		text("deletionId")
	anonymous := &user{t: r.t}
	r.call(anonymous, http.MethodGet, accountDeletion+"/"+id, nil)
	rejected := anonymous.post("/api/v1/auth/login",
		object{"email": me.email, "password": me.password})
	r.call(anonymous, http.MethodPost, accountDeletion+"/cancel",
		object{"cancelToken": rejected.text("details.0.message")})
}

// sessions signs in on a second device, and signs out.
func (r *recorder) sessions(me *user) {
	r.call(me, http.MethodGet, "/.well-known/jwks.json", nil)
	r.call(me, http.MethodGet, "/api/v1/auth/me", nil)
	r.call(me, http.MethodPost, "/api/v1/auth/reauthenticate", object{"password": me.password})
	r.factors(me)
	r.passkeys(me)
	r.call(me, http.MethodPatch, "/api/v1/auth/me", object{"name": "Ada Lovelace"})
	other := *me
	other.signIn()
	sessions := r.call(me, http.MethodGet, "/api/v1/auth/sessions?limit=50", nil)
	r.call(me, http.MethodDelete, "/api/v1/auth/sessions/"+sessions.text("sessions.0.id"), nil)
	r.call(me, http.MethodPatch, "/api/v1/auth/password",
		object{"currentPassword": me.password, "newPassword": "another long secret"})
	me.token = r.call(me, http.MethodPost, "/api/v1/auth/refresh",
		object{"refreshToken": me.refreshToken}).text("accessToken")
	r.call(me, http.MethodPost, "/api/v1/auth/email/verification", object{})
	r.call(me, http.MethodPost, "/api/v1/auth/email/verify",
		object{"token": mailed(r.t, me.email, "/verify#")})
	me.patch("/api/v1/auth/me",
		object{"email": "new-" + me.email, "currentPassword": "another long secret"}).
		ok("USER_UPDATED")
	r.call(me, http.MethodPost, "/api/v1/auth/email/revert",
		object{"token": mailed(r.t, me.email, "/revert#")})
	r.call(me, http.MethodPost, "/api/v1/auth/password/forgot", object{"email": me.email})
	r.call(me, http.MethodPost, "/api/v1/auth/password/reset",
		object{"token": mailed(r.t, me.email, "/reset#"), "password": "a new long secret"})
	me.password = "a new long secret"
	me.signIn()
}

// factors enables an authenticator app, signs in with it, and disables it.
func (r *recorder) factors(me *user) {
	app := &phone{user: me}
	app.secret = r.call(me, http.MethodPost, "/api/v1/auth/totp", object{}).text("secret")
	confirmed := r.call(me, http.MethodPost, "/api/v1/auth/totp/confirm",
		object{"code": app.code()})
	r.call(me, http.MethodGet, "/api/v1/auth/factors", nil)
	first := me.post("/api/v1/auth/login", object{"email": me.email, "password": me.password})
	r.call(me, http.MethodPost, "/api/v1/auth/login/mfa", object{
		"mfaToken": first.text("mfaToken"), "recoveryCode": confirmed.text("recoveryCodes.0"),
	})
	r.call(me, http.MethodPost, "/api/v1/auth/recovery-codes", object{})
	r.call(me, http.MethodDelete, "/api/v1/auth/totp", nil)
}

// passkeys adds a passkey, signs in with it, and deletes it.
func (r *recorder) passkeys(me *user) {
	d := me.newDevice()
	begun := r.call(me, http.MethodPost, "/api/v1/auth/passkeys/options", object{})
	created := r.call(me, http.MethodPost, "/api/v1/auth/passkeys", d.registration(begun))
	r.call(me, http.MethodGet, "/api/v1/auth/passkeys", nil)
	path := "/api/v1/auth/passkeys/" + created.text("passkey.id")
	r.call(me, http.MethodPatch, path, object{"name": "Laptop"})
	begun = r.call(me, http.MethodPost, "/api/v1/auth/login/passkey/options", object{})
	r.call(me, http.MethodPost, "/api/v1/auth/login/passkey", d.assertion(begun))
	r.call(me, http.MethodDelete, path, nil)
}
