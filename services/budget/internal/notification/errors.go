package notification

import (
	"time"

	"github.com/coffer-budget/coffer/internal/apierr"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// Public errors of notifications and streams. Their codes, messages and meanings are in
// proto/coffer/rest/v1/reason.proto.
var (
	errInvalidNotificationID = apierr.New(restv1.Reason_INVALID_NOTIFICATION_ID)
	errNotificationNotFound  = apierr.New(restv1.Reason_NOTIFICATION_NOT_FOUND)
)

var errTooManyStreams = apierr.New(restv1.Reason_RATE_LIMITED).After(time.Minute).
	WithMessage("Too many event streams are open: at most 10 are allowed")
