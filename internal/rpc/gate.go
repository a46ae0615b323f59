package rpc

import "context"

// Gate limits how many run at once, queues a few and rejects the rest, so that a flood of expensive calls neither starves the
// machine nor piles up.
type Gate struct {
	inside, waiting chan struct{}
	full            error
}

// NewGate returns a gate that rejects with full.
func NewGate(inside, waiting int, full error) Gate {
	return Gate{inside: make(chan struct{}, max(inside, 1)), waiting: make(chan struct{}, max(waiting, 0)), full: full}
}

// Enter returns how to leave, the gate's error at once when too many are waiting, or the context's error.
func (g Gate) Enter(ctx context.Context) (leave func(), err error) {
	leave = func() { <-g.inside }
	select {
	case g.inside <- struct{}{}:
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
	case g.inside <- struct{}{}:
		return leave, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Waiting is how many wait to be let in.
func (g Gate) Waiting() int { return len(g.waiting) }
