// Package apierr defines the errors that a caller may see: a gRPC code, a public reason and a
// message.
//
// The enum Reason in proto/coffer/rest/v1/reason.proto declares each error. The reason is the code
// of the REST answer, verbatim. With, WithMessage, Under and After return copies with details, and
// errors.Is finds a declared value among them. Problems collects all problems of a request into one
// error.
//
// Only package rpc converts errors to gRPC statuses, and From converts them back in the caller.
// Every other error is answered as "Internal error", and its text appears in the log only.
package apierr

import (
	"errors"
	"time"

	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// domain marks a status that was made from an Error. A status without it is never shown to callers.
const domain = "coffer"

// Error is an error that a caller may see. Values are shared between requests, so they must not be
// modified.
type Error struct {
	Code    codes.Code
	Reason  string
	Message string
	// Fields are the problems of single request fields, with the fields' JSON names.
	Fields []Field
	// RetryAfter is the time after which the client may retry; 0 means none is given.
	RetryAfter time.Duration
}

// Field is the problem of one field of a request. The message states the allowed values: "must be
// at most 100 characters".
type Field struct {
	Name    string
	Message string
}

// New returns the error with the gRPC code and the message that the options of the reason declare.
func New(reason restv1.Reason) *Error {
	options := reason.Descriptor().Values().ByNumber(reason.Number()).Options()
	return &Error{
		Code:    codes.Code(proto.GetExtension(options, restv1.E_Code).(code.Code)),
		Reason:  reason.String(),
		Message: proto.GetExtension(options, restv1.E_DefaultMessage).(string),
	}
}

// NewInvalid returns the error for a value that is invalid in itself, such as an id that is not a
// UUID. Its gRPC code is InvalidArgument. The reason must have the option also_invalid_argument.
func NewInvalid(reason restv1.Reason) *Error {
	e := New(reason)
	e.Code = codes.InvalidArgument
	return e
}

const printableKey = "must be at most 255 printable ASCII characters"

// Errors that any service may return.
var (
	Unauthorized    = New(restv1.Reason_UNAUTHORIZED)
	TokenExpired    = New(restv1.Reason_TOKEN_EXPIRED)
	ServiceOnly     = New(restv1.Reason_INSUFFICIENT_PERMISSIONS)
	EmptyUpdate     = New(restv1.Reason_EMPTY_UPDATE)
	InvalidCursor   = New(restv1.Reason_INVALID_CURSOR)
	VersionMismatch = New(restv1.Reason_VERSION_MISMATCH)
	IdempotencyKey  = New(restv1.Reason_VALIDATION_ERROR).
			WithMessage("Idempotency-Key "+printableKey).With("Idempotency-Key", printableKey)
	IdempotencyKeyUsed = New(restv1.Reason_IDEMPOTENCY_KEY_CONFLICT)
	Unavailable        = New(restv1.Reason_SERVICE_UNAVAILABLE).After(time.Second)
	DeadlineExceeded   = New(restv1.Reason_DEADLINE_EXCEEDED)
	PayloadTooLarge    = New(restv1.Reason_PAYLOAD_TOO_LARGE)
	Internal           = New(restv1.Reason_INTERNAL)

	validation = New(restv1.Reason_VALIDATION_ERROR)
)

// Validation returns a VALIDATION_ERROR with the given fields, or nil if there are none.
func Validation(fields []Field) *Error {
	if len(fields) == 0 {
		return nil
	}
	e := *validation
	e.Fields = fields
	return &e
}

// Invalid returns the VALIDATION_ERROR of a single field.
func Invalid(field, message string) *Error {
	return Validation([]Field{{Name: field, Message: message}})
}

func (e *Error) Error() string { return e.Reason + ": " + e.Message }

// WithMessage returns a copy with a message that is more specific than the reason's default.
func (e *Error) WithMessage(message string) *Error {
	c := *e
	c.Message = message
	return &c
}

// With returns a copy with one more field problem.
func (e *Error) With(field, message string) *Error {
	c := *e
	c.Fields = append(append([]Field(nil), e.Fields...), Field{Name: field, Message: message})
	return &c
}

// Under returns a copy whose field names are prefixed with path, such as "transactions[2]".
func (e *Error) Under(path string) *Error {
	c := *e
	c.Fields = make([]Field, len(e.Fields))
	for i, f := range e.Fields {
		c.Fields[i] = Field{Name: path + "." + f.Name, Message: f.Message}
	}
	return &c
}

// After returns a copy that asks the client to retry after d.
func (e *Error) After(d time.Duration) *Error {
	c := *e
	c.RetryAfter = d
	return &c
}

// Is reports whether target has the same code and reason, so that errors.Is matches copies of a
// declared value.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Reason == e.Reason && t.Code == e.Code
}

// GRPCStatus returns the error as a gRPC status with details. Only interceptors of package rpc
// should call it: status.FromError on a wrapped error would also send the wrapping text.
func (e *Error) GRPCStatus() *status.Status {
	st := status.New(e.Code, e.Message)
	withInfo, err := st.WithDetails(&errdetails.ErrorInfo{Reason: e.Reason, Domain: domain})
	if err != nil {
		return st
	}
	st = withInfo
	if len(e.Fields) > 0 {
		bad := &errdetails.BadRequest{}
		for _, f := range e.Fields {
			bad.FieldViolations = append(bad.FieldViolations,
				&errdetails.BadRequest_FieldViolation{Field: f.Name, Description: f.Message})
		}
		if with, err := st.WithDetails(bad); err == nil {
			st = with
		}
	}
	if e.RetryAfter > 0 {
		retry := &errdetails.RetryInfo{RetryDelay: durationpb.New(e.RetryAfter)}
		if with, err := st.WithDetails(retry); err == nil {
			st = with
		}
	}
	return st
}

// From returns the public error in err's chain: an *Error, or a status that another service made
// from one. It returns nil if there is none.
func From(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	var st interface{ GRPCStatus() *status.Status }
	if !errors.As(err, &st) {
		return nil
	}
	return fromStatus(st.GRPCStatus())
}

// fromStatus is the inverse of GRPCStatus. It returns nil for a status of another origin.
func fromStatus(st *status.Status) *Error {
	failure := &Error{Code: st.Code(), Message: st.Message()}
	for _, d := range st.Details() {
		switch typeswitch := d.(type) {
		case *errdetails.ErrorInfo:
			if typeswitch.GetDomain() == domain {
				failure.Reason = typeswitch.GetReason()
			}
		case *errdetails.BadRequest:
			for _, v := range typeswitch.GetFieldViolations() {
				failure.Fields = append(failure.Fields,
					Field{Name: v.GetField(), Message: v.GetDescription()})
			}
		case *errdetails.RetryInfo:
			failure.RetryAfter = typeswitch.GetRetryDelay().AsDuration()
		}
	}
	if failure.Reason == "" {
		return nil
	}
	return failure
}
