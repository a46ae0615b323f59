package ledger

import (
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
)

var (
	errWalletNotFound  = apierr.New(codes.NotFound, "WALLET_NOT_FOUND", "Wallet not found")
	errInvalidWalletID = apierr.New(codes.InvalidArgument, "WALLET_NOT_FOUND", "Wallet not found")
	errWalletInUse     = apierr.New(codes.FailedPrecondition, "WALLET_IN_USE", "The wallet has transactions")

	errCategoryNotFound      = apierr.New(codes.NotFound, "INVALID_CATEGORY_EXIST_PARAMS", "Invalid or unknown category")
	errInvalidCategoryID     = apierr.New(codes.InvalidArgument, "INVALID_CATEGORY_EXIST_PARAMS", "Invalid or unknown category")
	errCategoryInUse         = apierr.New(codes.FailedPrecondition, "CATEGORY_IN_USE", "Transactions or budgets use the category")
	errCategoryAlreadyExists = apierr.New(codes.AlreadyExists, "CATEGORY_ALREADY_EXISTS", "A category of this name already exists")

	errInvalidTransactionID     = apierr.New(codes.InvalidArgument, "INVALID_TRANSACTION_ID", "Invalid transaction id")
	errTransactionNotFound      = apierr.New(codes.NotFound, "TRANSACTION_NOT_FOUND", "Transaction not found")
	errTransactionOwnerMismatch = apierr.New(codes.PermissionDenied, "TRANSACTION_OWNER_MISMATCH", "The transaction belongs to another user")
	errInvalidTransactionDate   = apierr.New(codes.InvalidArgument, "INVALID_TRANSACTION_DATE", "Invalid transaction date")
	errInvalidTransactionType   = apierr.New(codes.InvalidArgument, "INVALID_TRANSACTION_TYPE", "Invalid transaction type")
	errUnsupportedCurrency      = apierr.New(codes.InvalidArgument, "UNSUPPORTED_CURRENCY", "Unsupported currency")
	errWalletOverflow           = apierr.Validation([]apierr.Field{{Name: "amount", Message: "would take the wallet beyond what it can hold"}})
	errCategoryOverflow         = apierr.Validation([]apierr.Field{{Name: "reassignTo", Message: "would come to sums beyond what can be told"}})
	errSummaryOverflow          = apierr.Validation([]apierr.Field{{Name: "to", Message: "must be earlier: the sums are beyond what can be told"}})

	errReceiptFileRequired = apierr.New(codes.InvalidArgument, "RECEIPT_FILE_REQUIRED", "A receipt file is required")
	errReceiptDuplicate    = apierr.New(codes.AlreadyExists, "RECEIPT_DUPLICATE", "The same receipt file was uploaded before")
	errInvalidReceiptID    = apierr.New(codes.InvalidArgument, "INVALID_RECEIPT_ID", "Invalid receipt id")
	errReceiptNotFound     = apierr.New(codes.NotFound, "RECEIPT_NOT_FOUND", "Receipt not found")
	errReceiptImageMissing = apierr.New(codes.NotFound, "RECEIPT_IMAGE_NOT_FOUND", "No picture of the receipt's page was kept")
	errOCRParse            = apierr.New(codes.Internal, "OCR_PARSE_FAILED", "The receipt could not be read")
	errOCRResponse         = apierr.New(codes.Internal, "OCR_RESPONSE_FAILED", "The receipt recognition service failed")
)
