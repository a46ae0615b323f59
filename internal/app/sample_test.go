package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// sampled returns a logger, a function that ends all intervals, and one that returns the lines
// since its last call.
func sampled(t *testing.T) (log *slog.Logger, end func(), lines func() []map[string]any) {
	t.Helper()
	var out bytes.Buffer
	handler := newSamplingHandler(slog.NewJSONHandler(&out, nil))
	var ends []func()
	handler.samples.after = func(d time.Duration, f func()) {
		require.Equal(t, sampleInterval, d)
		ends = append(ends, f)
	}
	end = func() {
		for _, f := range ends {
			f()
		}
		ends = nil
	}
	lines = func() []map[string]any {
		var all []map[string]any
		for decoder := json.NewDecoder(&out); decoder.More(); {
			var line map[string]any
			require.NoError(t, decoder.Decode(&line))
			delete(line, "time")
			all = append(all, line)
		}
		return all
	}
	return slog.New(handler), end, lines
}

func TestSamplingHandler(t *testing.T) {
	t.Parallel()
	t.Run("logs the first of similar lines and counts the others", func(t *testing.T) {
		t.Parallel()
		log, end, lines := sampled(t)
		log = log.With("service", "ledger")
		for i := range 1000 {
			log.Warn("rpc", "reason", "SERVICE_UNAVAILABLE", "error", fmt.Sprint(i))
		}
		require.Equal(t, []map[string]any{
			{
				"level": "WARN", "msg": "rpc", "service": "ledger", "reason": "SERVICE_UNAVAILABLE",
				"error": "0",
			},
		}, lines())
		end()
		require.Equal(t, []map[string]any{
			{
				"level": "WARN", "msg": "omitted similar lines", "service": "ledger",
				"message": "rpc", "omitted": 999.0, "reason": "SERVICE_UNAVAILABLE",
			},
		}, lines())
		log.Warn("rpc", "reason", "SERVICE_UNAVAILABLE")
		require.Len(t, lines(), 1, "a new interval starts with a line")
		end()
		require.Empty(t, lines(), "nothing was omitted")
	})
	t.Run("keeps lines that differ apart", func(t *testing.T) {
		t.Parallel()
		log, end, lines := sampled(t)
		log.Warn("rpc", "reason", "SERVICE_UNAVAILABLE")
		log.Error("rpc", "reason", "SERVICE_UNAVAILABLE")
		log.Warn("rpc", "reason", "DEADLINE_EXCEEDED")
		log.Warn("request", "status", 503)
		log.Warn("request", "status", 504)
		log.With("service", "budget").Warn("rpc", "reason", "SERVICE_UNAVAILABLE")
		end()
		require.Len(t, lines(), 6)
	})
	t.Run("keeps internal errors, lines without a reason or below a warning", func(t *testing.T) {
		t.Parallel()
		log, end, lines := sampled(t)
		for range 10 {
			log.Error("rpc", "reason", "INTERNAL", "error", errors.New("a defect"))
			log.Warn("request", "status", 500)
			log.Warn("failed to relay events", "error", "away")
			log.Info("request", "status", 200)
		}
		end()
		require.Len(t, lines(), 40)
	})
	t.Run("limits its memory", func(t *testing.T) {
		t.Parallel()
		log, _, lines := sampled(t)
		for i := range maxSamples + 10 {
			log.Warn("rpc", "reason", fmt.Sprint(i))
		}
		log.Warn("rpc", "reason", fmt.Sprint(maxSamples+1))
		require.Len(t, lines(), maxSamples+11)
	})
}

func TestNewLoggerSamples(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := NewLogger(&out, slog.LevelInfo)
	log.Warn("rpc", "reason", "SERVICE_UNAVAILABLE")
	log.Warn("rpc", "reason", "SERVICE_UNAVAILABLE")
	require.Equal(t, 1, bytes.Count(out.Bytes(), []byte("\n")))
}
