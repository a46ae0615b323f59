package decode

import (
	"github.com/coffer-budget/coffer/internal/apierr"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// Errors about a whole request. Problems of single fields are collected in problems.
var (
	errMediaType           = apierr.New(restv1.Reason_UNSUPPORTED_MEDIA_TYPE)
	errReceiptFileRequired = apierr.New(restv1.Reason_RECEIPT_FILE_REQUIRED).
				WithMessage("Exactly one non-empty file is required in the field receipt")

	errInvalidJSON   = invalid("The request body is not valid JSON")
	errInvalidUTF8   = invalid("The request body is not valid UTF-8")
	errNotAnObject   = invalid("The request body must be a JSON object")
	errTooDeep       = invalid("The request body must not be nested more than 64 levels deep")
	errTooManyValues = invalid("The request body must not have more than 20000 values")
	errNameTooLong   = invalid("The names in the request body must not be longer than 254 bytes")

	errTooManyParts      = invalid("The form must not have more than 32 parts")
	errInvalidMultipart  = invalid("The request body is not valid multipart form data")
	errInvalidQuery      = invalid("The query string is malformed")
	errTooManyParameters = invalid("The query string must not have more than 1000 parameters")
	errBodyInterrupted   = invalid("The request body could not be read")
)

func invalid(message string) *apierr.Error {
	return apierr.New(restv1.Reason_VALIDATION_ERROR).WithMessage(message)
}
