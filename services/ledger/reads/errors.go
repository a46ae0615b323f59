package reads

import (
	"time"

	"github.com/coffer-budget/coffer/internal/apierr"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

var errTooManyReads = apierr.New(restv1.Reason_RATE_LIMITED).
	WithMessage("Too many searches and summaries at once, try again later").
	After(time.Second)
