package imports

import (
	"fmt"

	"github.com/coffer-budget/coffer/internal/apierr"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// The public errors of the package.
var (
	errFileRequired        = apierr.New(restv1.Reason_IMPORT_FILE_REQUIRED)
	errFormatUnknown       = apierr.New(restv1.Reason_IMPORT_FORMAT_UNKNOWN)
	errParseFailed         = apierr.New(restv1.Reason_IMPORT_PARSE_FAILED)
	errTooManyRows         = apierr.New(restv1.Reason_IMPORT_TOO_MANY_ROWS)
	errInvalidID           = apierr.New(restv1.Reason_INVALID_IMPORT_ID)
	errNotFound            = apierr.New(restv1.Reason_IMPORT_NOT_FOUND)
	errState               = apierr.New(restv1.Reason_IMPORT_STATE)
	errNotReady            = apierr.New(restv1.Reason_IMPORT_NOT_READY)
	errDuplicate           = apierr.New(restv1.Reason_IMPORT_DUPLICATE)
	errInvalidProfileID    = apierr.New(restv1.Reason_INVALID_IMPORT_PROFILE_ID)
	errProfileNotFound     = apierr.New(restv1.Reason_IMPORT_PROFILE_NOT_FOUND)
	errTransactionNotFound = apierr.New(restv1.Reason_TRANSACTION_NOT_FOUND)
	errTooManyOpen         = apierr.New(restv1.Reason_LIMIT_REACHED).With("file",
		fmt.Sprintf("at most %d imports may be open: commit or delete one", maxOpen))
	errUploading = apierr.New(restv1.Reason_RATE_LIMITED).
			WithMessage("Another file of yours is being uploaded")
)
