package test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/pquerna/otp/totp"
	"github.com/stretchr/testify/require"
)

// disclosed are the secrets, recovery codes and tokens of sign-ins that responses contained. The
// search of the logs covers them.
var disclosed struct {
	sync.Mutex
	secrets []string
}

func disclose(secrets ...string) {
	disclosed.Lock()
	defer disclosed.Unlock()
	disclosed.secrets = append(disclosed.secrets, secrets...)
}

// phone is the authenticator app of a user.
type phone struct {
	*user
	secret   string
	recovery []string
}

// code returns a code of the present step.
func (a *phone) code() string {
	code, err := totp.GenerateCode(a.secret, time.Now())
	require.NoError(a.t, err)
	return code
}

// protect enables an authenticator app.
func (u *user) protect() *phone {
	made := u.post("/api/v1/auth/totp", object{}).created("TOTP_CREATED")
	a := &phone{user: u, secret: made.text("secret")}
	require.Contains(u.t, made.text("qrSvg"), "<svg")
	confirmed := u.post("/api/v1/auth/totp/confirm", object{"code": a.code()}).ok("TOTP_ENABLED")
	for _, code := range confirmed.list("recoveryCodes") {
		a.recovery = append(a.recovery, code.(string))
	}
	require.Len(u.t, a.recovery, 10)
	disclose(append(a.recovery, a.secret)...)
	return a
}

// protectedUser creates a user with an authenticator app at an installation.
func protectedUser(t require.TestingT, base string) *phone {
	return newUserAt(t, base, "Phone").protect()
}

// challenge returns the token of the first step of a sign-in.
func (a *phone) challenge() string {
	first := a.post("/api/v1/auth/login", object{"email": a.email, "password": a.password}).
		ok("MFA_REQUIRED")
	for _, field := range []string{"accessToken", "token", "refreshToken", "user", "deviceKey"} {
		require.Nil(a.t, first.at(field), field)
	}
	disclose(first.text("mfaToken"))
	return first.text("mfaToken")
}

// confirmedTotp enables an app.
func confirmedTotp(c *costRun) []worstRequest {
	a := &phone{user: newUserAt(c.u.t, c.stack.URL, "Phone")}
	a.secret = a.post("/api/v1/auth/totp", object{}).created("TOTP_CREATED").text("secret")
	return one("a pending app", func() response {
		return a.post("/api/v1/auth/totp/confirm", object{"code": a.code()})
	})
}

// disabledTotp disables an app.
func disabledTotp(c *costRun) []worstRequest {
	a := protectedUser(c.u.t, c.stack.URL)
	return one("an app", func() response { return a.del("/api/v1/auth/totp") })
}

// renewedCodes replaces the recovery codes of a user.
func renewedCodes(c *costRun) []worstRequest {
	a := protectedUser(c.u.t, c.stack.URL)
	return one("10 codes", func() response {
		return a.post("/api/v1/auth/recovery-codes", object{})
	})
}

// secondStep signs in with a recovery code.
func secondStep(c *costRun) []worstRequest {
	a := protectedUser(c.u.t, c.stack.URL)
	first := a.challenge()
	return one("a recovery code", func() response {
		return a.second(object{"mfaToken": first, "recoveryCode": a.recovery[0]})
	})
}

func (a *phone) second(body object, headers ...string) response {
	return a.post("/api/v1/auth/login/mfa", body, headers...)
}

func TestSecondFactor(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	me.del("/api/v1/auth/totp").fails(409, "TOTP_NOT_ENABLED")
	me.post("/api/v1/auth/recovery-codes", object{}).fails(409, "TOTP_NOT_ENABLED")
	me.post("/api/v1/auth/totp/confirm", object{"code": "123456"}).fails(409, "TOTP_NOT_ENABLED")
	other := *me
	other.signIn()
	a := me.protect()
	me.post("/api/v1/auth/totp", object{}).fails(409, "TOTP_ALREADY_ENABLED")
	(&user{t: t}).post("/api/v1/auth/refresh", object{"refreshToken": other.refreshToken}).
		fails(401, "INVALID_REFRESH_TOKEN")
	// The services load ended sessions every 5 seconds.
	require.Eventually(t, func() bool {
		return other.get("/api/v1/wallet").status == http.StatusUnauthorized &&
			other.get("/api/v1/budgets").status == http.StatusUnauthorized
	}, 8*time.Second, 100*time.Millisecond)
	require.Equal(t, "10", me.get("/api/v1/auth/factors").text("factors.recoveryCodesLeft"))

	first := a.challenge()
	a.second(object{"mfaToken": first, "code": "000000"}).fails(401, "INVALID_MFA_CODE")
	a.second(object{"mfaToken": "mfa_x", "code": "000000"}).fails(401, "INVALID_MFA_TOKEN")
	a.second(object{}).invalid("mfaToken", "code")
	key := uuid.NewString()
	used := object{"mfaToken": first, "recoveryCode": a.recovery[0]}
	signedIn := a.second(used, "Idempotency-Key", key).ok("LOGIN_SUCCESS")
	require.JSONEq(t, string(signedIn.raw), string(a.second(used, "Idempotency-Key", key).raw))
	a.second(object{"mfaToken": first, "recoveryCode": a.recovery[1]}, "Idempotency-Key", key).
		fails(409, "IDEMPOTENCY_KEY_CONFLICT")
	second := a.challenge()
	a.second(object{"mfaToken": second, "recoveryCode": a.recovery[0]}).
		fails(401, "INVALID_MFA_CODE")
	me.token = signedIn.text("accessToken")

	me.post("/api/v1/auth/reauthenticate", object{"code": "000000"}).fails(401, "INVALID_MFA_CODE")
	me.post("/api/v1/auth/totp/confirm", object{"code": "000000"}).fails(409, "TOTP_NOT_ENABLED")
	key = uuid.NewString()
	me.post("/api/v1/auth/totp", object{"replace": true}, "Idempotency-Key", key).
		created("TOTP_CREATED")
	me.post("/api/v1/auth/totp", object{}, "Idempotency-Key", key).
		fails(409, "IDEMPOTENCY_KEY_CONFLICT")
	me.post("/api/v1/auth/totp/confirm", object{"code": "000000"}).fails(401, "INVALID_MFA_CODE")
	renewed := me.post("/api/v1/auth/recovery-codes", object{}).created("RECOVERY_CODES_CREATED")
	require.NotContains(t, string(renewed.raw), a.recovery[1])
	me.del("/api/v1/auth/totp").ok("TOTP_DISABLED")
	me.signIn()
}

// TestSecondFactorCookie signs in as the console does.
func TestSecondFactorCookie(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	a := me.protect()
	a.host = localHost
	path := "/api/v1/auth/login/mfa?session=cookie"
	body := object{"mfaToken": a.challenge(), "recoveryCode": a.recovery[0]}
	a.post(path, body, "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site").
		fails(403, "FORBIDDEN_ORIGIN")
	reply := a.post(path, body, "Origin", localSite, "Sec-Fetch-Site", "same-origin").
		ok("LOGIN_SUCCESS")
	require.NotContains(t, reply.body, "refreshToken")
	b := &browser{user: a.user}
	next := b.refresh(b.setCookie(reply), "web", localSite, "same-origin")
	require.Equal(t, http.StatusOK, next.status, "%s", next.raw)
}

// TestConfirmTotpIdempotencyKey repeats the confirmation of an app.
func TestConfirmTotpIdempotencyKey(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	a := &phone{user: me}
	a.secret = me.post("/api/v1/auth/totp", object{}).text("secret")
	disclose(a.secret)
	key := uuid.NewString()
	body := object{"code": a.code()}
	first := me.post("/api/v1/auth/totp/confirm", body, "Idempotency-Key", key).ok("TOTP_ENABLED")
	again := me.post("/api/v1/auth/totp/confirm", body, "Idempotency-Key", key)
	require.JSONEq(t, string(first.raw), string(again.raw))
	me.post("/api/v1/auth/totp/confirm", object{"code": "000000"}, "Idempotency-Key", key).
		fails(409, "IDEMPOTENCY_KEY_CONFLICT")
}
