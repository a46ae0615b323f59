package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/rpc"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// Errors of the gateway. Package decode declares those of malformed requests, and the services all
// others.
var (
	errRouteNotFound    = apierr.New(restv1.Reason_ROUTE_NOT_FOUND)
	errMethodNotAllowed = apierr.New(restv1.Reason_METHOD_NOT_ALLOWED)
	errRateLimited      = apierr.New(restv1.Reason_RATE_LIMITED)
	errInvalidRequest   = apierr.New(restv1.Reason_VALIDATION_ERROR).WithMessage("The request could not be understood")
)

// statusByReason holds the HTTP status that each reason declares in
// proto/coffer/rest/v1/reason.proto.
var statusByReason = declaredStatuses()

// declaredStatuses reads the statuses from the options of the enum.
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

// declaredStatus is the HTTP status of a reason. A reason with alsoInvalidArgument is 400 for a
// malformed id.
type declaredStatus struct {
	usual               int
	alsoInvalidArgument bool
}

// httpStatus returns the HTTP status of an error. A service of a newer release may return a reason
// that this gateway does not know. It gets the status that grpc-gateway maps its gRPC code to.
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

// failure is the body of every error response. Error repeats Message, as the specification
// requires.
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

// fail writes the response for an error. No other code converts errors to HTTP. The header must not
// have been sent yet. Retry-After is in whole seconds, rounded up.
func (s *restServer) fail(ctx context.Context, w http.ResponseWriter, err error) {
	e := s.shown(ctx, err)
	statusCode := httpStatus(e)
	body := failure{Code: e.Reason, Message: e.Message, Error: e.Message, RequestID: rpc.RequestID(ctx)}
	for _, field := range e.Fields {
		body.Details = append(body.Details, detail{field.Name, field.Message})
	}
	h := w.Header()
	h.Set("Content-Type", jsonType)
	switch statusCode {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", "Bearer")
	case http.StatusRequestEntityTooLarge:
		// The rest of the body is not read, so the connection cannot be reused.
		h.Set("Connection", "close")
	}
	if e.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(float64(e.RetryAfter)/float64(time.Second)))))
	}
	var buf bytes.Buffer
	encoder := json.NewEncoder(&buf)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		s.log.ErrorContext(ctx, "failed to encode an error", "error", err)
	}
	write(w, statusCode, buf.Bytes())
}

// shown returns the public error for err. It logs errors that did not come from a service, because
// no service has logged them.
func (s *restServer) shown(ctx context.Context, err error) *apierr.Error {
	e := rpc.Public(err)
	switch {
	case apierr.From(err) != nil || e.Code == codes.Canceled:
		return e
	case status.Code(err) == codes.InvalidArgument:
		// An error without a reason comes from a library, whose texts are not meant for users.
		return errInvalidRequest
	}
	s.log.ErrorContext(ctx, "failed to serve a request", "reason", e.Reason, "error", err)
	return e
}

// handleError handles the errors of the mux itself. The mux knows none for the paths of this API.
func (s *restServer) handleError(ctx context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, _ *http.Request, err error) {
	s.fail(ctx, w, err)
}

// handleRoutingError handles requests for which the mux has no handler, and OPTIONS requests
// outside of CORS. Those for the console are among the first.
func (s *restServer) handleRoutingError(ctx context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, r *http.Request, httpStatus int) {
	allow := s.paths.allow(r.URL.Path)
	if httpStatus != http.StatusMethodNotAllowed || allow == "" {
		s.notFound(w, r)
		return
	}
	w.Header().Set("Allow", allow)
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	s.fail(ctx, w, errMethodNotAllowed)
}
