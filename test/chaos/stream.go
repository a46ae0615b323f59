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

// stream reads a user's live events and reconnects after faults. Together, its connections must
// receive each event at least once.
type stream struct {
	user *user
	// last is the id of the last received event, from which the next connection resumes.
	last string

	// lock protects seen, which checks read while events arrive.
	lock sync.Mutex
	// seen has the ids of the received events.
	seen map[string]bool
}

// open starts reading, and returns when the stream has an event id from which it can resume.
func (s *stream) open(ctx context.Context) error {
	ready := make(chan error, 1)
	go func() {
		for ctx.Err() == nil {
			// The first event, or the first failure, is the result of open.
			err := s.read(ctx, func() { trySend(ready, nil) })
			trySend(ready, err)
			pause(ctx, 200*time.Millisecond)
		}
	}()
	return <-ready
}

// trySend sends without blocking. Only the first result of open is received.
func trySend(c chan<- error, err error) {
	select {
	case c <- err:
	default:
	}
}

// read reads until the connection ends. It calls began for each event.
func (s *stream) read(ctx context.Context, began func()) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.user.stack.URL+"/api/v1/events",
		http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+s.user.token)
	if s.last != "" {
		req.Header.Set("Last-Event-ID", s.last)
	}
	resp, err := s.user.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		// During faults, 5xx is expected.
		if resp.StatusCode < http.StatusInternalServerError {
			s.user.reportf("the event stream returned %d", resp.StatusCode)
		}
		return fmt.Errorf("the event stream returned %s", resp.Status)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		// The stream consists of lines "name: value". Heartbeats have no name.
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

// take records an event. It must belong to the user of the stream.
func (s *stream) take(event string) {
	var e struct{ ID, Subject string }
	if err := json.Unmarshal([]byte(event), &e); err != nil {
		s.user.reportf("an event is no JSON: %s", event)
		return
	}
	if e.Subject != s.user.id {
		s.user.reportf("%s was sent the event of %s: %s", s.user.mark, e.Subject, event)
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	s.seen[e.ID] = true
}

// has reports whether the event was received.
func (s *stream) has(id string) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.seen[id]
}
