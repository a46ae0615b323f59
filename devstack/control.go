package devstack

import (
	"context"
	"fmt"
	"slices"
)

// Halt stops one part, by name: postgres, nats, auth, ledger, budget, ocr or gateway. The others
// continue without it, and it stays stopped until Resume.
func (s *Stack) Halt(name string) error {
	return s.halt(name, part.stop)
}

// Kill kills postgres or a service that is a separate process, like a crash. It is not restarted
// until Resume. Tests use it to check that committed data survives. NATS cannot be killed, because
// it runs in this process.
func (s *Stack) Kill(name string) error {
	return s.halt(name, func(p part) error {
		crash, ok := p.(interface{ kill() error })
		if !ok {
			return fmt.Errorf("%s cannot be killed alone", name)
		}
		return crash.kill()
	})
}

// halt ends a part with end and keeps it stopped. It sets halted under the part's lock, so that no
// restart starts the part again.
func (s *Stack) halt(name string, end func(part) error) error {
	p, err := s.part(name)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.halted = true
	return end(p.part)
}

// Resume starts a halted part again, at the same address, and returns when it is ready. If the part
// does not become ready, it stays halted.
func (s *Stack) Resume(ctx context.Context, name string) error {
	supervised, err := s.part(name)
	if err != nil {
		return err
	}
	supervised.mu.Lock()
	defer supervised.mu.Unlock()
	if err := supervised.part.start(ctx); err != nil {
		return err
	}
	supervised.halted = false
	return nil
}

func (s *Stack) part(name string) (*supervised, error) {
	i := slices.IndexFunc(s.parts, func(p *supervised) bool { return p.part.name() == name })
	if i < 0 {
		return nil, fmt.Errorf("this stack has no part %q", name)
	}
	return s.parts[i], nil
}
