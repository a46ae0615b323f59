package ocr

import (
	"time"

	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
)

var (
	errParse    = apierr.New(codes.Internal, "OCR_PARSE_FAILED", "The receipt could not be read")
	errResponse = apierr.New(codes.Internal, "OCR_RESPONSE_FAILED", "The receipt recognition service failed")
	// Reading a receipt takes a second or two, so a full queue soon has room again.
	errBusy     = apierr.Unavailable.After(2 * time.Second)
	errFile     = apierr.New(codes.InvalidArgument, "RECEIPT_FILE_REQUIRED", "A receipt file is required")
	errTooLarge = apierr.PayloadTooLarge
	errUserID   = apierr.Validation([]apierr.Field{{Name: "userId", Message: "must be a UUID"}})
)
