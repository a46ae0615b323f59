package chaos

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// stream reads a user's live events and reconnects after faults.
type stream struct {
	p    *user
	last string

	lock sync.Mutex
	// seen has the ids of the received events.
	seen map[string]bool
}

// open starts reading, and returns when the stream has an event id from which it can resume.
func (s *stream) open(ctx context.Context) error {
	ready := make(chan error, 1)
	go func() {
		for ctx.Err() == nil {
			err := s.read(ctx, func() { trySend(ready, nil) })
			trySend(ready, err)
			pause(ctx, 200*time.Millisecond)
		}
	}()
	return <-ready
}

func trySend(c chan<- error, err error) {
	select {
	case c <- err:
	default:
	}
}

// read reads until the connection ends. It calls began for each event.
func (s *stream) read(ctx context.Context, began func()) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.p.stack.URL+"/api/v1/events", http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+s.p.token)
	if s.last != "" {
		req.Header.Set("Last-Event-ID", s.last)
	}
	resp, err := s.p.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		if resp.StatusCode < http.StatusInternalServerError {
			s.p.find("the stream of events is answered %d", resp.StatusCode)
		}
		return fmt.Errorf("answered %s", resp.Status)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "id":
			s.last = value
			began()
		case "data":
			s.take(value)
		}
	}
	return lines.Err()
}

func (s *stream) take(event string) {
	var e struct{ ID, Subject string }
	if err := json.Unmarshal([]byte(event), &e); err != nil {
		s.p.find("an event is no JSON: %s", event)
		return
	}
	if e.Subject != s.p.id {
		s.p.find("%s was sent the event of %s: %s", s.p.mark, e.Subject, event)
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	s.seen[e.ID] = true
}

func (s *stream) has(id string) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.seen[id]
}
