package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc/grpclog"

	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/rpc"
)

func TestNewLoggerAddsRequestTraceAndUser(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := NewLogger(&out, slog.LevelInfo).With("service", "ledger").WithGroup("more")
	user := uuid.MustParse("0197a1c2-5c3f-7d2a-9b1e-3f4a5b6c7d8e")
	ctx := rpc.WithRequestID(t.Context(), "look-for-me")
	ctx = caller.With(ctx, caller.Identity{UserID: user})
	span := trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}}
	ctx = trace.ContextWithSpanContext(ctx, trace.NewSpanContext(span))
	log.DebugContext(ctx, "not asked for")
	log.InfoContext(ctx, "told", "n", 1)
	var line map[string]any
	require.NoError(t, json.Unmarshal(out.Bytes(), &line), out.String())
	require.Equal(t, "ledger", line["service"])
	require.Equal(t, map[string]any{
		"n": 1.0, "request_id": "look-for-me", "trace_id": "01000000000000000000000000000000",
		"user_hash": "e221f960ccb3e15a",
	}, line["more"])
}

func TestNewLoggerOutsideOfRequest(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	NewLogger(&out, slog.LevelInfo).Info("starting")
	for _, name := range []string{"request_id", "trace_id", "user_hash"} {
		require.NotContains(t, out.String(), name)
	}
}

//nolint:paralleltest // The process has one default logger.
func TestSetLoggerCollectsErrorsOfLibraries(t *testing.T) {
	before := slog.Default()
	t.Cleanup(func() { SetLogger(before) })
	var out bytes.Buffer
	SetLogger(NewLogger(&out, slog.LevelInfo))
	grpclog.Errorf("Failed to write response: %v", errors.New("broken pipe"))
	grpclog.Component("transport").Error("closing the ", "connection")
	grpclog.Info("not asked for")
	otel.Handle(errors.New("the collector is unavailable"))
	for _, want := range []string{
		"Failed to write response: broken pipe", "closing the connection",
		"the collector is unavailable",
	} {
		line, err := out.ReadBytes('\n')
		require.NoError(t, err)
		var got struct{ Level, Error string }
		require.NoError(t, json.Unmarshal(line, &got), string(line))
		require.Equal(t, "WARN", got.Level)
		require.Contains(t, got.Error, want)
	}
	require.Empty(t, out.String())
}
