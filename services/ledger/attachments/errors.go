package attachments

import (
	"github.com/coffer-budget/coffer/internal/apierr"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

var (
	errInvalidTransactionID  = apierr.New(restv1.Reason_INVALID_TRANSACTION_ID)
	errTransactionIsTransfer = apierr.New(restv1.Reason_TRANSACTION_IS_TRANSFER).
					WithMessage("Attach the file to the leg out of the transfer")
	errUnsupportedType     = apierr.New(restv1.Reason_UNSUPPORTED_ATTACHMENT_TYPE)
	errInvalidAttachmentID = apierr.New(restv1.Reason_INVALID_ATTACHMENT_ID)
	errAttachmentNotFound  = apierr.New(restv1.Reason_ATTACHMENT_NOT_FOUND)
	errLimitReached        = apierr.New(restv1.Reason_LIMIT_REACHED)
	errFileRequired        = apierr.Invalid("file", "must be exactly one non-empty file")
)
