package ocr

import (
	"context"
	"sync"
	"time"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/services/ocr/worker"
)

const (
	// firstEstimate is the expected time for a receipt before any was read.
	firstEstimate = 2 * time.Second
	// minRetry and maxRetry limit the time after which a rejected client may retry.
	minRetry, maxRetry = time.Second, 30 * time.Second
)

// load estimates when a receipt would be read. It is safe for concurrent use.
type load struct {
	workers int
	now     func() time.Time

	mu sync.Mutex
	// mean is the moving average of the time for a receipt, without the time in the queue.
	mean time.Duration
	// running has the starts of the receipts that are being read.
	running map[*time.Time]struct{}
}

func newLoad(workers int, now func() time.Time) *load {
	return &load{
		workers: workers, now: now, mean: firstEstimate, running: map[*time.Time]struct{}{},
	}
}

// start records that a receipt is being read until done is called.
func (l *load) start() (done func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	began := l.now()
	l.running[&began] = struct{}{}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.running, &began)
		// A quarter follows a change of the machine's load within a few receipts.
		l.mean += (l.now().Sub(began) - l.mean) / 4
	}
}

// idle reports whether no receipt is being read.
func (l *load) idle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.running) == 0
}

// admit returns SERVICE_UNAVAILABLE with the time to wait if ctx would end before a receipt behind
// the given number of queued ones is read. Waiting for the deadline would only keep the client and
// the queue occupied.
func (l *load) admit(ctx context.Context, queued int) error {
	deadline, ok := ctx.Deadline()
	if !ok {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	each := max(l.mean, l.minAge())
	rounds := max(0, queued+1+len(l.running)-l.workers)
	wait := each * time.Duration(rounds) / time.Duration(l.workers)
	if wait+each <= deadline.Sub(l.now()) {
		return nil
	}
	return apierr.Unavailable.After(min(max(wait, minRetry), maxRetry).Round(time.Second))
}

// minAge returns how long every worker has been reading its receipt at least, or 0 if a worker is
// free. A machine that has become slow shows it before the first receipt ends, but a single slow
// receipt says nothing about the others.
func (l *load) minAge() time.Duration {
	if len(l.running) < l.workers {
		return 0
	}
	var last time.Time
	for began := range l.running {
		if began.After(last) {
			last = *began
		}
	}
	return l.now().Sub(last)
}

// read reads a file as soon as a worker is free. It rejects a file at once that would be read too
// late, also if a worker becomes free shortly before the deadline. An idle service tries any
// receipt: the machine may be faster than it was.
func (s *server) read(
	ctx context.Context, reader worker.Reader, file []byte,
) (worker.Reading, error) {
	queued := s.gate.Waiting()
	idle := queued == 0 && s.load.idle()
	admit := func(queued int) error {
		if idle {
			return nil
		}
		return s.load.admit(ctx, queued)
	}
	if err := admit(queued); err != nil {
		return worker.Reading{}, err
	}
	return gated(ctx, s.gate, func() (worker.Reading, error) {
		if err := admit(0); err != nil {
			return worker.Reading{}, err
		}
		defer s.load.start()()
		return reader.Read(ctx, file)
	})
}
