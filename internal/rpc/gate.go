package rpc

import "context"

// Gate is a concurrency limiter for expensive calls. It runs a limited number at the same time,
// queues a few more and rejects the rest. It is safe for concurrent use; copies share their state.
type Gate struct {
	running, waiting chan struct{}
	full             error
}

// NewGate returns a gate for at most running (at least 1) concurrent calls and at most waiting
// queued ones. It rejects further calls with the error full.
func NewGate(running, waiting int, full error) Gate {
	return Gate{
		running: make(chan struct{}, max(running, 1)),
		waiting: make(chan struct{}, max(waiting, 0)),
		full:    full,
	}
}

// Enter waits until the call may run and returns a function that the caller must call at its end.
// If the queue is full, Enter returns the gate's error immediately. If ctx ends first, it returns
// ctx's error.
func (g Gate) Enter(ctx context.Context) (leave func(), err error) {
	leave = func() { <-g.running }
	select {
	case g.running <- struct{}{}:
		return leave, nil
	default:
	}
	select {
	case g.waiting <- struct{}{}:
		defer func() { <-g.waiting }()
	default:
		return nil, g.full
	}
	select {
	case g.running <- struct{}{}:
		return leave, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Waiting returns the number of queued calls.
func (g Gate) Waiting() int { return len(g.waiting) }
