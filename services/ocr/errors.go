package ocr

import (
	"time"

	"github.com/coffer-budget/coffer/internal/apierr"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

var (
	// Reading a receipt takes a second or two, so a full queue soon has room again.
	errBusy     = apierr.Unavailable.After(2 * time.Second)
	errFile     = apierr.New(restv1.Reason_RECEIPT_FILE_REQUIRED)
	errTooLarge = apierr.PayloadTooLarge
	errUserID   = apierr.Invalid("userId", "must be a UUID")
)
