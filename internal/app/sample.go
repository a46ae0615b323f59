package app

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/coffer-budget/coffer/internal/apierr"
)

const (
	// sampleInterval is the time in which one of several similar lines is logged.
	sampleInterval = time.Second
	// maxSamples limits the memory for lines that are counted. Lines beyond it are logged.
	maxSamples = 1000
)

// samplingHandler logs the first of similar warnings and errors in a second, and counts the others.
// When the second is over, one line reports their number. During an outage every request fails for
// the same reason, and thousands of lines a second would slow the process and hide all others.
//
// Lines are similar if they have the same level, message, service, reason and HTTP status. Lines
// about internal errors are never omitted: each is a defect, and its request id leads to it.
type samplingHandler struct {
	slog.Handler
	service string
	samples *samples
}

type similarity struct {
	level                    slog.Level
	message, reason, service string
	status                   int64
}

type samples struct {
	mu      sync.Mutex
	omitted map[similarity]int
	after   func(d time.Duration, f func())
}

func newSamplingHandler(next slog.Handler) samplingHandler {
	after := func(d time.Duration, f func()) { time.AfterFunc(d, f) }
	return samplingHandler{
		Handler: next, samples: &samples{omitted: map[similarity]int{}, after: after},
	}
}

func (h samplingHandler) Handle(ctx context.Context, r slog.Record) error {
	if r.Level < slog.LevelWarn {
		return h.Handler.Handle(ctx, r)
	}
	s := similarity{level: r.Level, message: r.Message, service: h.service}
	r.Attrs(func(a slog.Attr) bool {
		switch {
		case a.Key == "reason":
			s.reason = a.Value.String()
		case a.Key == "status" && a.Value.Kind() == slog.KindInt64:
			s.status = a.Value.Int64()
		}
		return true
	})
	if s.reason == "" && s.status == 0 || s.reason == apierr.Internal.Reason || s.status == 500 {
		return h.Handler.Handle(ctx, r)
	}
	if h.samples.omit(s, h.report) {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// omit reports whether a line like s was logged in this interval. If not, it starts an interval,
// which ends with a call of report.
func (c *samples) omit(s similarity, report func(s similarity, omitted int)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n, ok := c.omitted[s]; ok {
		c.omitted[s] = n + 1
		return true
	}
	if len(c.omitted) >= maxSamples {
		return false
	}
	c.omitted[s] = 0
	c.after(sampleInterval, func() {
		c.mu.Lock()
		n := c.omitted[s]
		delete(c.omitted, s)
		c.mu.Unlock()
		if n > 0 {
			report(s, n)
		}
	})
	return false
}

func (h samplingHandler) report(s similarity, omitted int) {
	r := slog.NewRecord(time.Now(), s.level, "omitted similar lines", 0)
	r.AddAttrs(slog.String("message", s.message), slog.Int("omitted", omitted))
	if s.reason != "" {
		r.AddAttrs(slog.String("reason", s.reason))
	}
	if s.status != 0 {
		r.AddAttrs(slog.Int64("status", s.status))
	}
	_ = h.Handler.Handle(context.Background(), r)
}

func (h samplingHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	h.Handler = h.Handler.WithAttrs(attrs)
	for _, a := range attrs {
		if a.Key == "service" {
			h.service = a.Value.String()
		}
	}
	return h
}

func (h samplingHandler) WithGroup(name string) slog.Handler {
	h.Handler = h.Handler.WithGroup(name)
	return h
}
