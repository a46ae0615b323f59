package auth

import (
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
)

// The public errors of this service. docs/errors.md lists them with their HTTP statuses.
var (
	errEmailAlreadyExists = apierr.New(codes.AlreadyExists, "EMAIL_ALREADY_EXISTS", "A user with this e-mail already exists")
	errUserNotFound       = apierr.New(codes.NotFound, "USER_NOT_FOUND", "User not found")

	// An unknown e-mail and a wrong password have the same message, so that it does not reveal which e-mails have an account.
	errInvalidCredentials = apierr.New(codes.Unauthenticated, "INVALID_CREDENTIALS", "Invalid e-mail or password")
	// The caller is signed in as the user, so the message may be specific. The code is the same.
	errWrongPassword = apierr.New(codes.Unauthenticated, "INVALID_CREDENTIALS", "The current password is wrong")
	// Returned with the time until the limit ends, which becomes the header Retry-After.
	errTooManyFailures = apierr.New(codes.ResourceExhausted, "RATE_LIMITED", "Too many failed attempts, try again later")

	// The message does not distinguish tokens that are unknown, used, expired, or of an ended session.
	errInvalidRefreshToken = apierr.New(codes.Unauthenticated, "INVALID_REFRESH_TOKEN", "Invalid refresh token")
	errInvalidSessionID    = apierr.New(codes.InvalidArgument, "INVALID_SESSION_ID", "Invalid session id: must be a UUID")
	errSessionNotFound     = apierr.New(codes.NotFound, "SESSION_NOT_FOUND", "Session not found")
)
