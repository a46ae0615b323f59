package request

import (
	"github.com/coffer-budget/coffer/internal/apierr"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// The public errors that several packages of the ledger return. A reason whose gRPC code differs
// for malformed and unknown ids has two values.
var (
	ErrWalletNotFound      = apierr.New(restv1.Reason_WALLET_NOT_FOUND)
	ErrInvalidWalletID     = apierr.NewInvalid(restv1.Reason_WALLET_NOT_FOUND)
	ErrCategoryNotFound    = apierr.New(restv1.Reason_INVALID_CATEGORY_EXIST_PARAMS)
	ErrInvalidCategoryID   = apierr.NewInvalid(restv1.Reason_INVALID_CATEGORY_EXIST_PARAMS)
	ErrInvalidDate         = apierr.New(restv1.Reason_INVALID_TRANSACTION_DATE)
	ErrInvalidImportID     = apierr.New(restv1.Reason_INVALID_IMPORT_ID)
	ErrInvalidReceiptID    = apierr.New(restv1.Reason_INVALID_RECEIPT_ID)
	ErrUnsupportedCurrency = apierr.New(restv1.Reason_UNSUPPORTED_CURRENCY)
)
