package ledger

import (
	"time"

	"github.com/coffer-budget/coffer/internal/apierr"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// The public errors of the service. A reason whose gRPC code differs for malformed and unknown ids has two values.
var (
	errWalletNotFound  = apierr.New(restv1.Reason_WALLET_NOT_FOUND)
	errInvalidWalletID = apierr.NewInvalid(restv1.Reason_WALLET_NOT_FOUND)
	errWalletInUse     = apierr.New(restv1.Reason_WALLET_IN_USE)

	errWalletLimitReached   = apierr.New(restv1.Reason_WALLET_LIMIT_REACHED)
	errCurrencyLimitReached = apierr.New(restv1.Reason_WALLET_CURRENCY_LIMIT_REACHED)
	errCategoryLimitReached = apierr.New(restv1.Reason_CATEGORY_LIMIT_REACHED)
	errTooManyReads         = apierr.New(restv1.Reason_RATE_LIMITED).WithMessage("Too many searches and summaries at once, try again later").After(time.Second)

	errCategoryNotFound      = apierr.New(restv1.Reason_INVALID_CATEGORY_EXIST_PARAMS)
	errInvalidCategoryID     = apierr.NewInvalid(restv1.Reason_INVALID_CATEGORY_EXIST_PARAMS)
	errCategoryInUse         = apierr.New(restv1.Reason_CATEGORY_IN_USE)
	errCategoryAlreadyExists = apierr.New(restv1.Reason_CATEGORY_ALREADY_EXISTS)

	errInvalidTransactionID     = apierr.New(restv1.Reason_INVALID_TRANSACTION_ID)
	errTransactionNotFound      = apierr.New(restv1.Reason_TRANSACTION_NOT_FOUND)
	errTransactionOwnerMismatch = apierr.New(restv1.Reason_TRANSACTION_OWNER_MISMATCH)
	errInvalidTransactionDate   = apierr.New(restv1.Reason_INVALID_TRANSACTION_DATE)
	errInvalidTransactionType   = apierr.New(restv1.Reason_INVALID_TRANSACTION_TYPE)
	errUnsupportedCurrency      = apierr.New(restv1.Reason_UNSUPPORTED_CURRENCY)
	errWalletOverflow           = apierr.Validation([]apierr.Field{{Name: "amount", Message: "must be smaller: a wallet holds at most 100000000000000000 minor units per currency and month"}})
	errCategoryOverflow         = apierr.Validation([]apierr.Field{{Name: "reassignTo", Message: "must be a category with smaller totals: a month has at most 100000000000000000 minor units per wallet and currency"}})
	errSummaryOverflow          = apierr.Validation([]apierr.Field{{Name: "to", Message: "must be earlier: the totals of the window exceed the maximum"}})

	errReceiptFileRequired     = apierr.New(restv1.Reason_RECEIPT_FILE_REQUIRED)
	errReceiptCurrencyMismatch = apierr.New(restv1.Reason_RECEIPT_CURRENCY_MISMATCH)
	errReceiptDuplicate        = apierr.New(restv1.Reason_RECEIPT_DUPLICATE)
	errInvalidReceiptID        = apierr.New(restv1.Reason_INVALID_RECEIPT_ID)
	errReceiptNotFound         = apierr.New(restv1.Reason_RECEIPT_NOT_FOUND)
	errReceiptImageMissing     = apierr.New(restv1.Reason_RECEIPT_IMAGE_NOT_FOUND)
	errOCRParse                = apierr.New(restv1.Reason_OCR_PARSE_FAILED)
	errOCRResponse             = apierr.New(restv1.Reason_OCR_RESPONSE_FAILED)
)
