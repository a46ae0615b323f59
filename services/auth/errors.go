package auth

import (
	"github.com/coffer-budget/coffer/internal/apierr"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

var (
	errEmailAlreadyExists = apierr.New(restv1.Reason_EMAIL_ALREADY_EXISTS)
	errUserNotFound       = apierr.New(restv1.Reason_USER_NOT_FOUND)

	// An unknown e-mail and a wrong password have the same message, so that it does not reveal
	// which e-mails have an account.
	errInvalidCredentials = apierr.New(restv1.Reason_INVALID_CREDENTIALS)
	// The caller is signed in as the user, so the message may be specific. The code is the same.
	errWrongPassword = apierr.New(restv1.Reason_INVALID_CREDENTIALS).
				WithMessage("The current password is wrong")
	// Returned with the time until the limit ends, which becomes the header Retry-After.
	errTooManyFailures = apierr.New(restv1.Reason_RATE_LIMITED).
				WithMessage("Too many failed attempts, try again later")

	// Returned with the time until the limit ends.
	errTooManyRequests  = apierr.New(restv1.Reason_RATE_LIMITED)
	errEmailNotVerified = apierr.New(restv1.Reason_EMAIL_NOT_VERIFIED)
	errMailUnavailable  = apierr.New(restv1.Reason_MAIL_UNAVAILABLE)
	// The message does not distinguish links that are unknown, used, expired, or bound to an old
	// password.
	errLinkExpired       = apierr.New(restv1.Reason_LINK_EXPIRED)
	errInvitationExpired = apierr.New(restv1.Reason_INVITATION_EXPIRED)

	// The message does not distinguish tokens that are unknown, used, expired, or of an ended
	// session.
	errInvalidRefreshToken = apierr.New(restv1.Reason_INVALID_REFRESH_TOKEN)
	errInvalidMFAToken     = apierr.New(restv1.Reason_INVALID_MFA_TOKEN)
	errPasskeyCloned       = apierr.New(restv1.Reason_PASSKEY_CLONED)
	errReauthenticate      = apierr.New(restv1.Reason_REAUTHENTICATION_REQUIRED)
	errForbiddenOrigin     = apierr.New(restv1.Reason_FORBIDDEN_ORIGIN)
	errInvalidSessionID    = apierr.New(restv1.Reason_INVALID_SESSION_ID)
	errSessionNotFound     = apierr.New(restv1.Reason_SESSION_NOT_FOUND)
)
