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

func (h samplingHandler) Handle(ctx context.Context, record slog.Record) error {
	if record.Level < slog.LevelWarn {
		return h.Handler.Handle(ctx, record)
	}
	similarity := similarity{level: record.Level, message: record.Message, service: h.service}
	record.Attrs(func(a slog.Attr) bool {
		switch {
		case a.Key == "reason":
			similarity.reason = a.Value.String()
		case a.Key == "status" && a.Value.Kind() == slog.KindInt64:
			similarity.status = a.Value.Int64()
		}
		return true
	})
	if similarity.reason == "" && similarity.status == 0 ||
		similarity.reason == apierr.Internal.Reason || similarity.status == 500 {
		return h.Handler.Handle(ctx, record)
	}
	if h.samples.omit(similarity, h.report) {
		return nil
	}
	return h.Handler.Handle(ctx, record)
}

// omit reports whether a line like similarity was logged in this interval. If not, it starts an
// interval, which ends with a call of report.
func (c *samples) omit(similarity similarity, report func(s similarity, omitted int)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n, ok := c.omitted[similarity]; ok {
		c.omitted[similarity] = n + 1
		return true
	}
	if len(c.omitted) >= maxSamples {
		return false
	}
	c.omitted[similarity] = 0
	c.after(sampleInterval, func() {
		c.mu.Lock()
		n := c.omitted[similarity]
		delete(c.omitted, similarity)
		c.mu.Unlock()
		if n > 0 {
			report(similarity, n)
		}
	})
	return false
}

func (h samplingHandler) report(similarity similarity, omitted int) {
	r := slog.NewRecord(time.Now(), similarity.level, "omitted similar lines", 0)
	r.AddAttrs(slog.String("message", similarity.message), slog.Int("omitted", omitted))
	if similarity.reason != "" {
		r.AddAttrs(slog.String("reason", similarity.reason))
	}
	if similarity.status != 0 {
		r.AddAttrs(slog.Int64("status", similarity.status))
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
