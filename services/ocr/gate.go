package ocr

import "context"

// gate lets so many in at once, keeps a few waiting and turns the rest away, so that a flood of receipts neither starves
// the machine nor piles up.
type gate struct {
	inside  chan struct{}
	waiting chan struct{}
}

func newGate(workers, queue int) gate {
	return gate{inside: make(chan struct{}, max(workers, 1)), waiting: make(chan struct{}, max(queue, 0))}
}

// enter returns how to leave, errBusy at once when the queue is full, or the context's error.
func (g gate) enter(ctx context.Context) (leave func(), err error) {
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
		return nil, errBusy
	}
	select {
	case g.inside <- struct{}{}:
		return leave, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
