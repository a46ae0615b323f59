package auth

import (
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
)

var (
	errEmailAlreadyExists = apierr.New(codes.AlreadyExists, "EMAIL_ALREADY_EXISTS", "A user with this e-mail already exists")
	errUserNotFound       = apierr.New(codes.NotFound, "USER_NOT_FOUND", "User not found")

	// One text for an unknown e-mail and a wrong password: who has an account is nobody's business.
	errInvalidCredentials = apierr.New(codes.Unauthenticated, "INVALID_CREDENTIALS", "Invalid e-mail or password")
	// The user is signed in, so the text may be clear.
	errWrongPassword   = apierr.New(codes.Unauthenticated, "INVALID_CREDENTIALS", "The current password is wrong")
	errTooManyFailures = apierr.New(codes.ResourceExhausted, "RATE_LIMITED", "Too many failed attempts, try again later")

	// Unknown, used, expired, or of a session that was revoked: which of them is not told.
	errInvalidRefreshToken = apierr.New(codes.Unauthenticated, "INVALID_REFRESH_TOKEN", "Invalid refresh token")
	errInvalidSessionID    = apierr.New(codes.InvalidArgument, "INVALID_SESSION_ID", "Invalid session id: must be a UUID")
	errSessionNotFound     = apierr.New(codes.NotFound, "SESSION_NOT_FOUND", "Session not found")
)
