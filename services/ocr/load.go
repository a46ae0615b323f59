package ocr

import (
	"context"
	"sync"
	"time"

	"github.com/coffer-budget/coffer/internal/apierr"
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

// admit returns SERVICE_UNAVAILABLE with the time to wait if ctx would end before a receipt behind
// the given number of queued ones is read. Waiting for the deadline would only keep the client and
// the queue occupied. An idle service tries any receipt: the machine may be faster than it was.
func (l *load) admit(ctx context.Context, queued int) error {
	deadline, ok := ctx.Deadline()
	if !ok {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if queued == 0 && len(l.running) == 0 {
		return nil
	}
	each := l.mean
	for began := range l.running {
		// A machine that has become slow shows it before the first receipt ends.
		each = max(each, l.now().Sub(*began))
	}
	rounds := max(0, queued+1+len(l.running)-l.workers)
	wait := each * time.Duration(rounds) / time.Duration(l.workers)
	if wait+each <= deadline.Sub(l.now()) {
		return nil
	}
	return apierr.Unavailable.After(min(max(wait, minRetry), maxRetry).Round(time.Second))
}
