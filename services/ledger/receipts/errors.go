package receipts

import (
	"github.com/coffer-budget/coffer/internal/apierr"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

var (
	errReceiptFileRequired = apierr.New(restv1.Reason_RECEIPT_FILE_REQUIRED).
				WithMessage("Exactly one non-empty file is required in the field receipt")
	errReceiptCurrencyMismatch = apierr.New(restv1.Reason_RECEIPT_CURRENCY_MISMATCH)
	errReceiptSumMismatch      = apierr.New(restv1.Reason_RECEIPT_SUM_MISMATCH)
	errReceiptDuplicate        = apierr.New(restv1.Reason_RECEIPT_DUPLICATE)
	errInvalidReceiptID        = apierr.New(restv1.Reason_INVALID_RECEIPT_ID)
	errReceiptNotFound         = apierr.New(restv1.Reason_RECEIPT_NOT_FOUND)
	errReceiptImageMissing     = apierr.New(restv1.Reason_RECEIPT_IMAGE_NOT_FOUND)
	errOCRParse                = apierr.New(restv1.Reason_OCR_PARSE_FAILED)
	errTooComplex              = apierr.New(restv1.Reason_RECEIPT_TOO_COMPLEX)
	errOCRResponse             = apierr.New(restv1.Reason_OCR_RESPONSE_FAILED)
)
