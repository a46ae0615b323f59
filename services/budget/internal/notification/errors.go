package notification

import (
	"time"

	"github.com/coffer-budget/coffer/internal/apierr"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// Public errors of notifications and streams.
var (
	errInvalidNotificationID = apierr.New(restv1.Reason_INVALID_NOTIFICATION_ID)
	errNotificationNotFound  = apierr.New(restv1.Reason_NOTIFICATION_NOT_FOUND)
	errTooManyStreams        = apierr.New(restv1.Reason_RATE_LIMITED).
					WithMessage("Too many event streams are open: at most 10 are allowed").After(time.Minute)
)
