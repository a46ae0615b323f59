package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc/grpclog"

	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/rpc"
)

// NewLogger returns a logger that writes JSON lines with the request id, the trace id and the hash
// of the user id of their context. Similar warnings and errors are sampled.
func NewLogger(w io.Writer, level slog.Level) *slog.Logger {
	return slog.New(newSamplingHandler(contextHandler{
		slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level}),
	}))
}

// SetLogger makes log the default logger of the process. gRPC, grpc-gateway and OpenTelemetry log
// their errors to it instead of writing plain text to stderr. Call it before these libraries are
// used.
func SetLogger(log *slog.Logger) {
	slog.SetDefault(log)
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		log.Warn("failure in OpenTelemetry", "error", err)
	}))
	if os.Getenv("GRPC_GO_LOG_SEVERITY_LEVEL") == "" {
		grpclog.SetLoggerV2(grpcLogger{grpclog.NewLoggerV2(io.Discard, io.Discard, os.Stderr), log})
	}
}

// grpcLogger logs gRPC's errors as warnings. The failed call logs its own line with the right
// severity.
type grpcLogger struct {
	grpclog.LoggerV2

	log *slog.Logger
}

func (g grpcLogger) Error(args ...any) {
	g.log.Warn("failure in gRPC", "error", fmt.Sprint(args...))
}

func (g grpcLogger) Errorln(args ...any) { g.Error(args...) }

func (g grpcLogger) Errorf(format string, args ...any) { g.Error(fmt.Sprintf(format, args...)) }

type contextHandler struct{ slog.Handler }

func (h contextHandler) Handle(ctx context.Context, record slog.Record) error {
	if id := rpc.RequestID(ctx); id != "" {
		record.AddAttrs(slog.String("request_id", id))
	}
	if span := trace.SpanContextFromContext(ctx); span.HasTraceID() {
		record.AddAttrs(slog.String("trace_id", span.TraceID().String()))
	}
	if id, ok := caller.From(ctx); ok {
		record.AddAttrs(slog.String("user_hash", userHash(id.UserID)))
	}
	return h.Handler.Handle(ctx, record)
}

// userHash returns the first 16 hexadecimal digits of the SHA-256 of the id as text. Logs remain
// when an account is deleted, so they must not contain the id. The hash does not disclose it,
// because 74 bits of the id are random.
func userHash(id uuid.UUID) string {
	sum := sha256.Sum256([]byte(id.String()))
	return hex.EncodeToString(sum[:8])
}

func (h contextHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return contextHandler{h.Handler.WithAttrs(attrs)}
}

func (h contextHandler) WithGroup(name string) slog.Handler {
	return contextHandler{h.Handler.WithGroup(name)}
}
