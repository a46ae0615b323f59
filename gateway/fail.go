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

// failure is the body of every error answer. Error repeats Message, as the specification asks.
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

// fail is the only place where an error becomes HTTP.
func (f *front) fail(ctx context.Context, w http.ResponseWriter, err error) {
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
		// The rest of the body is not worth reading, so the connection cannot be used again.
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

// shown is what the caller learns of err. What no service has answered, and thus none has logged, goes to the log.
func (f *front) shown(ctx context.Context, err error) *apierr.Error {
	e := rpc.Public(err)
	switch {
	case apierr.From(err) != nil || e.Code == codes.Canceled:
		return e
	case status.Code(err) == codes.InvalidArgument:
		// Without a reason it is grpc-gateway's own, whose texts are not for users.
		return errInvalidRequest
	}
	f.log.ErrorContext(ctx, "no answer from a service", "reason", e.Reason, "error", err)
	return e
}

// failRouting answers what the mux has no handler for, and OPTIONS outside of CORS.
func (f *front) failRouting(ctx context.Context, w http.ResponseWriter, r *http.Request, httpStatus int) {
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
