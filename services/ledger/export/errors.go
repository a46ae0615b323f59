package export

import (
	"time"

	"github.com/coffer-budget/coffer/internal/apierr"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

var (
	errUnsupportedFormat = apierr.New(restv1.Reason_UNSUPPORTED_EXPORT_FORMAT)
	errExportRunning     = apierr.New(restv1.Reason_RATE_LIMITED).
				WithMessage("Another export of this user is running").After(5 * time.Second)
)
