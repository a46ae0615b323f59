package devstack

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

const (
	// firstRestart is the delay before a failed part is started again. It doubles with each further
	// failure.
	firstRestart = 250 * time.Millisecond
	// lastRestart is the longest delay. A part that ran for longer than that starts with the first
	// delay again.
	lastRestart = 15 * time.Second
)

type supervised struct {
	part part
	// mu serializes Halt, Kill, Resume and restarts of the part.
	mu sync.Mutex
	// halted is set while the part must stay stopped.
	halted bool
}

// report delivers a failure, or drops it when an earlier one was not read yet. The channels have
// room for at least one failure, and a second one would cause no other reaction.
func report(to chan<- error, err error) {
	select {
	case to <- err:
	default:
	}
}

// supervise restarts each part that fails, until Stop. The other parts run meanwhile: requests that
// need the failed part get 503, and events wait in the outbox.
func (s *Stack) supervise(ctx context.Context) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	for _, p := range s.parts {
		running.Go(func() { s.watch(ctx, p) })
	}
	s.unsupervise = func() {
		cancel()
		running.Wait()
	}
}

// watch waits for failures of one part, and starts it again with a growing delay until it is ready.
func (s *Stack) watch(ctx context.Context, supervised *supervised) {
	delay, started := firstRestart, time.Now()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case err = <-supervised.part.failures():
		}
		report(s.failed, err)
		if time.Since(started) > lastRestart {
			delay = firstRestart
		}
		for err != nil {
			slog.ErrorContext(ctx, "failed part is started again", "part", supervised.part.name(),
				"error", err, "delay", delay.String())
			select {
			case <-ctx.Done():
				return
			case <-time.After(delay):
			}
			delay = min(2*delay, lastRestart)
			started = time.Now()
			err = supervised.restart(ctx)
		}
	}
}

// restart returns when the part is ready. It does nothing for a part that was halted meanwhile. It
// stops the part first, because a part that reports a failure may still run, like NATS that stores
// no events. It then discards a failure that the part reported meanwhile, because that would cause
// a second restart of a part that works.
func (p *supervised) restart(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.halted || ctx.Err() != nil {
		return nil
	}
	stopped := p.part.stop()
	select {
	case err := <-p.part.failures():
		slog.DebugContext(ctx, "failed again before the restart", "part", p.part.name(),
			"error", err)
	default:
	}
	if err := p.part.start(ctx); err != nil {
		return errors.Join(err, stopped)
	}
	slog.WarnContext(ctx, "failed part was started again", "part", p.part.name())
	return nil
}
