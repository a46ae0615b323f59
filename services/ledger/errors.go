package ledger

import (
	"time"

	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
)

// The public errors of the service: gRPC code, reason and default message. A reason whose code differs for malformed and
// unknown ids has two values. tools/generate maps each reason to the HTTP statuses in the OpenAPI document.
var (
	errWalletNotFound  = apierr.New(codes.NotFound, "WALLET_NOT_FOUND", "Wallet not found")
	errInvalidWalletID = apierr.New(codes.InvalidArgument, "WALLET_NOT_FOUND", "Wallet not found")
	errWalletInUse     = apierr.New(codes.FailedPrecondition, "WALLET_IN_USE", "The wallet has transactions")

	errWalletLimitReached   = apierr.New(codes.AlreadyExists, "WALLET_LIMIT_REACHED", "A user may have at most 500 wallets")
	errCurrencyLimitReached = apierr.New(codes.AlreadyExists, "WALLET_CURRENCY_LIMIT_REACHED", "A wallet may hold at most 50 currencies")
	errCategoryLimitReached = apierr.New(codes.AlreadyExists, "CATEGORY_LIMIT_REACHED", "A user may have at most 1000 categories")
	errTooManyReads         = apierr.New(codes.ResourceExhausted, "RATE_LIMITED", "Too many searches and summaries at once, try again later").After(time.Second)

	errCategoryNotFound      = apierr.New(codes.NotFound, "INVALID_CATEGORY_EXIST_PARAMS", "Invalid or unknown category")
	errInvalidCategoryID     = apierr.New(codes.InvalidArgument, "INVALID_CATEGORY_EXIST_PARAMS", "Invalid or unknown category")
	errCategoryInUse         = apierr.New(codes.FailedPrecondition, "CATEGORY_IN_USE", "Transactions or budgets use the category")
	errCategoryAlreadyExists = apierr.New(codes.AlreadyExists, "CATEGORY_ALREADY_EXISTS", "A category of this name already exists")

	errInvalidTransactionID     = apierr.New(codes.InvalidArgument, "INVALID_TRANSACTION_ID", "Invalid transaction id: must be a UUID")
	errTransactionNotFound      = apierr.New(codes.NotFound, "TRANSACTION_NOT_FOUND", "Transaction not found")
	errTransactionOwnerMismatch = apierr.New(codes.PermissionDenied, "TRANSACTION_OWNER_MISMATCH", "The transaction belongs to another user")
	errInvalidTransactionDate   = apierr.New(codes.InvalidArgument, "INVALID_TRANSACTION_DATE", "Invalid transaction date")
	errInvalidTransactionType   = apierr.New(codes.InvalidArgument, "INVALID_TRANSACTION_TYPE", "Invalid transaction type")
	errUnsupportedCurrency      = apierr.New(codes.InvalidArgument, "UNSUPPORTED_CURRENCY", "Unsupported currency")
	errWalletOverflow           = apierr.Validation([]apierr.Field{{Name: "amount", Message: "must be smaller: a wallet holds at most 100000000000000000 minor units per currency and month"}})
	errCategoryOverflow         = apierr.Validation([]apierr.Field{{Name: "reassignTo", Message: "must be a category with smaller totals: a month has at most 100000000000000000 minor units per wallet and currency"}})
	errSummaryOverflow          = apierr.Validation([]apierr.Field{{Name: "to", Message: "must be earlier: the totals of the window exceed the maximum"}})

	errReceiptFileRequired     = apierr.New(codes.InvalidArgument, "RECEIPT_FILE_REQUIRED", "A receipt file is required")
	errReceiptCurrencyMismatch = apierr.New(codes.InvalidArgument, "RECEIPT_CURRENCY_MISMATCH", "The receipt's total has more decimals than its currency")
	errReceiptDuplicate        = apierr.New(codes.AlreadyExists, "RECEIPT_DUPLICATE", "The same receipt file was uploaded before")
	errInvalidReceiptID        = apierr.New(codes.InvalidArgument, "INVALID_RECEIPT_ID", "Invalid receipt id: must be a UUID")
	errReceiptNotFound         = apierr.New(codes.NotFound, "RECEIPT_NOT_FOUND", "Receipt not found")
	errReceiptImageMissing     = apierr.New(codes.NotFound, "RECEIPT_IMAGE_NOT_FOUND", "No image of the receipt's page was stored")
	errOCRParse                = apierr.New(codes.Internal, "OCR_PARSE_FAILED", "The receipt could not be read")
	errOCRResponse             = apierr.New(codes.Internal, "OCR_RESPONSE_FAILED", "The receipt recognition service failed")
)
