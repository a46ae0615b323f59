package response

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"math"
	"net/http"
	"strconv"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/rpc"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

var errInvalidRequest = apierr.New(restv1.Reason_VALIDATION_ERROR).
	WithMessage("The request could not be understood")

// statusByReason holds the HTTP status that each reason declares in
// proto/coffer/rest/v1/reason.proto.
var statusByReason = declaredStatuses()

func declaredStatuses() map[string]declaredStatus {
	statuses := map[string]declaredStatus{}
	values := restv1.Reason_REASON_UNSPECIFIED.Descriptor().Values()
	for i := 1; i < values.Len(); i++ {
		options := values.Get(i).Options()
		statuses[string(values.Get(i).Name())] = declaredStatus{
			usual:               int(proto.GetExtension(options, restv1.E_HttpStatus).(int32)),
			alsoInvalidArgument: proto.GetExtension(options, restv1.E_AlsoInvalidArgument).(bool),
		}
	}
	return statuses
}

// A reason with alsoInvalidArgument is 400 for a malformed id.
type declaredStatus struct {
	usual               int
	alsoInvalidArgument bool
}

// httpStatus returns the HTTP status of an error. A reason of a newer release, which this gateway
// does not know, gets the status of its gRPC code.
func httpStatus(e *apierr.Error) int {
	declared, ok := statusByReason[e.Reason]
	switch {
	case !ok:
		return runtime.HTTPStatusFromCode(e.Code)
	case declared.alsoInvalidArgument && e.Code == codes.InvalidArgument:
		return http.StatusBadRequest
	}
	return declared.usual
}

// failure is the body of every error response. The specification requires Error, a copy of Message.
type failure struct {
	Code      string   `json:"code"`
	Message   string   `json:"message"`
	Error     string   `json:"error"`
	Details   []detail `json:"details,omitempty"`
	RequestID string   `json:"requestId"`
}

// detail is the problem of one field. Field is the path of the field in the request, such as
// splits[0].categoryId.
type detail struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Fail writes the response for an error. No other code converts errors to HTTP. The header must not
// have been sent yet. Retry-After is in whole seconds, rounded up.
func Fail(ctx context.Context, log *slog.Logger, w http.ResponseWriter, err error) {
	problem := shown(ctx, log, err)
	statusCode := httpStatus(problem)
	body := failure{
		Code: problem.Reason, Message: problem.Message, Error: problem.Message,
		RequestID: rpc.RequestID(ctx),
	}
	for _, field := range problem.Fields {
		body.Details = append(body.Details, detail{field.Name, field.Message})
	}
	header := w.Header()
	header.Set("Content-Type", JSON)
	switch statusCode {
	case http.StatusUnauthorized:
		header.Set("WWW-Authenticate", "Bearer")
	case http.StatusRequestEntityTooLarge:
		// The rest of the body is not read, so the connection cannot be reused.
		header.Set("Connection", "close")
	}
	if problem.RetryAfter > 0 {
		header.Set("Retry-After", strconv.Itoa(int(math.Ceil(problem.RetryAfter.Seconds()))))
	}
	var buf bytes.Buffer
	encoder := json.NewEncoder(&buf)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		log.ErrorContext(ctx, "failed to encode an error", "error", err)
	}
	Write(w, statusCode, buf.Bytes())
}

// shown returns the public error for err. It logs errors that did not come from a service, because
// no service has logged them.
func shown(ctx context.Context, log *slog.Logger, err error) *apierr.Error {
	problem := rpc.Public(err)
	switch {
	case apierr.From(err) != nil || problem.Code == codes.Canceled:
		return problem
	case status.Code(err) == codes.InvalidArgument:
		// An error without a reason comes from a library, whose texts are not meant for users.
		return errInvalidRequest
	}
	log.ErrorContext(ctx, "failed to serve a request", "reason", problem.Reason, "error", err)
	return problem
}
