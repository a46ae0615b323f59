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

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/rpc"
)

// statusByReason holds the reasons whose HTTP status is not that of their gRPC code.
var statusByReason = map[string]int{
	"WALLET_IN_USE":          http.StatusConflict,
	"CATEGORY_IN_USE":        http.StatusConflict,
	"VERSION_MISMATCH":       http.StatusPreconditionFailed,
	"PAYLOAD_TOO_LARGE":      http.StatusRequestEntityTooLarge,
	"UNSUPPORTED_MEDIA_TYPE": http.StatusUnsupportedMediaType,
	"RATE_LIMITED":           http.StatusTooManyRequests,
	"METHOD_NOT_ALLOWED":     http.StatusMethodNotAllowed,
	"OCR_PARSE_FAILED":       http.StatusInternalServerError,
	"OCR_RESPONSE_FAILED":    http.StatusInternalServerError,
}

// failure is the body of every error response. Error repeats Message, as the specification requires.
type failure struct {
	Code      string   `json:"code"`
	Message   string   `json:"message"`
	Error     string   `json:"error"`
	Details   []detail `json:"details,omitempty"`
	RequestID string   `json:"requestId"`
}

type detail struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// fail writes the response for an error. No other code converts errors to HTTP.
func (f *restServer) fail(ctx context.Context, w http.ResponseWriter, err error) {
	e := f.shown(ctx, err)
	httpStatus, ok := statusByReason[e.Reason]
	if !ok {
		httpStatus = runtime.HTTPStatusFromCode(e.Code)
	}
	body := failure{Code: e.Reason, Message: e.Message, Error: e.Message, RequestID: rpc.RequestID(ctx)}
	for _, field := range e.Fields {
		body.Details = append(body.Details, detail{field.Name, field.Message})
	}
	h := w.Header()
	h.Set("Content-Type", jsonType)
	switch httpStatus {
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
		f.log.ErrorContext(ctx, "encoding an error", "error", err)
	}
	h.Set("Content-Length", strconv.Itoa(buf.Len()))
	w.WriteHeader(httpStatus)
	_, _ = w.Write(buf.Bytes())
}

// shown returns the public error for err. It logs errors that did not come from a service, because no service has logged them.
func (f *restServer) shown(ctx context.Context, err error) *apierr.Error {
	e := rpc.Public(err)
	switch {
	case apierr.From(err) != nil || e.Code == codes.Canceled:
		return e
	case status.Code(err) == codes.InvalidArgument:
		// An error without a reason comes from grpc-gateway, whose texts are not meant for users.
		return errInvalidRequest
	}
	f.log.ErrorContext(ctx, "no answer from a service", "reason", e.Reason, "error", err)
	return e
}

// failRouting handles requests for which the mux has no handler, and OPTIONS requests outside of CORS.
func (f *restServer) failRouting(ctx context.Context, w http.ResponseWriter, r *http.Request, httpStatus int) {
	allow := f.table.allow(r.URL.Path)
	if httpStatus != http.StatusMethodNotAllowed || allow == "" {
		f.fail(ctx, w, errRouteNotFound)
		return
	}
	w.Header().Set("Allow", allow)
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	f.fail(ctx, w, errMethodNotAllowed)
}
