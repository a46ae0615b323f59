package gateway

import (
	"errors"

	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
)

// Errors of the gateway. All others come from the services.
var (
	errRouteNotFound       = apierr.New(codes.NotFound, "ROUTE_NOT_FOUND", "Route not found")
	errMethodNotAllowed    = apierr.New(codes.Unimplemented, "METHOD_NOT_ALLOWED", "Method not allowed")
	errMediaType           = apierr.New(codes.InvalidArgument, "UNSUPPORTED_MEDIA_TYPE", "The body must be application/json, or multipart/form-data for a receipt, and not compressed")
	errRateLimited         = apierr.New(codes.ResourceExhausted, "RATE_LIMITED", "Too many requests, try again later")
	errReceiptFileRequired = apierr.New(codes.InvalidArgument, "RECEIPT_FILE_REQUIRED", "Exactly one non-empty file is required in the field receipt")

	errInvalidJSON       = apierr.New(codes.InvalidArgument, "VALIDATION_ERROR", "The request body is not valid JSON")
	errInvalidUTF8       = apierr.New(codes.InvalidArgument, "VALIDATION_ERROR", "The request body is not valid UTF-8")
	errNotAnObject       = apierr.New(codes.InvalidArgument, "VALIDATION_ERROR", "The request body must be a JSON object")
	errTooDeep           = apierr.New(codes.InvalidArgument, "VALIDATION_ERROR", "The request body must not be nested more than 64 levels deep")
	errTooManyValues     = apierr.New(codes.InvalidArgument, "VALIDATION_ERROR", "The request body must not have more than 20000 values")
	errNameTooLong       = apierr.New(codes.InvalidArgument, "VALIDATION_ERROR", "The names in the request body must not be longer than 254 bytes")
	errTooManyParts      = apierr.New(codes.InvalidArgument, "VALIDATION_ERROR", "The form must not have more than 32 parts")
	errInvalidMultipart  = apierr.New(codes.InvalidArgument, "VALIDATION_ERROR", "The request body is not valid multipart form data")
	errInvalidQuery      = apierr.New(codes.InvalidArgument, "VALIDATION_ERROR", "The query string is malformed")
	errTooManyParameters = apierr.New(codes.InvalidArgument, "VALIDATION_ERROR", "The query string must not have more than 1000 parameters")
	errBodyInterrupted   = apierr.New(codes.InvalidArgument, "VALIDATION_ERROR", "The request body could not be read")
	errInvalidRequest    = apierr.New(codes.InvalidArgument, "VALIDATION_ERROR", "The request could not be understood")
)

// errNotEncoded reports a defect of the gateway. Clients see INTERNAL.
var errNotEncoded = errors.New("the response was not encoded")
