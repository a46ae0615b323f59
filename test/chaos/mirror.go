package chaos

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"time"
)

// mirror holds a user's objects by kind and id, as a device that follows GET /changes stores them.
type mirror struct {
	cursor  string
	objects map[string]map[string]any
}

// mirrored are the kinds of objects in a mirror, with their lists.
var mirrored = []struct{ kind, list, path string }{
	{"wallet", "wallets", "/api/v1/wallet"},
	{"category", "categories", "/api/v1/categories"},
	{"transaction", "transactions", "/api/v1/transaction"},
	{"transfer", "transfers", "/api/v1/transfers"},
}

func newMirror() mirror {
	m := mirror{objects: map[string]map[string]any{"tag": {}}}
	for _, k := range mirrored {
		m.objects[k.kind] = map[string]any{}
	}
	return m
}

// follow applies all changes since the last call. It reports whether none is left.
func (m *mirror) follow(ctx context.Context, u *user) bool {
	for more := true; more; {
		reply := u.call(ctx, http.MethodGet, "/api/v1/changes?limit=100&cursor="+m.cursor, nil)
		if reply.status != http.StatusOK {
			return false
		}
		for _, d := range reply.list("deleted") {
			row := response{body: object{"d": d}}
			delete(m.objects[row.text("d.kind")], row.text("d.id"))
		}
		for _, k := range mirrored {
			for _, o := range reply.list("changes." + k.list) {
				m.objects[k.kind][response{body: object{"o": o}}.text("o.id")] = o
			}
		}
		for _, tag := range reply.list("changes.tags") {
			row := response{body: object{"t": tag}}
			m.objects["tag"][row.text("t.key")] = row.text("t.name")
		}
		m.cursor, more = reply.text("pagination.nextCursor"), reply.at("pagination.hasMore") == true
	}
	return true
}

func (u *user) checkMirror(ctx context.Context) {
	if !within(ctx, time.Minute, func() bool { return u.mirror.follow(ctx, u) }) {
		u.reportf("%s cannot follow the changes", u.mark)
		return
	}
	for _, k := range mirrored {
		listed := map[string]any{}
		for _, o := range u.list(ctx, k.path, k.list) {
			listed[response{body: object{"o": o}}.text("o.id")] = o
		}
		u.compareMirror(k.kind, listed)
	}
	tags := map[string]any{}
	for _, tag := range u.call(ctx, http.MethodGet, "/api/v1/tags", nil).list("tags") {
		// The names of this test are in lower case, like keys.
		name := response{body: object{"t": tag}}.text("t.name")
		tags[name] = name
	}
	u.compareMirror("tag", tags)
}

func (u *user) compareMirror(kind string, listed map[string]any) {
	objects := u.mirror.objects[kind]
	for id, o := range listed {
		if !reflect.DeepEqual(o, objects[id]) {
			u.reportf("the mirror of %s has %s %v, which is listed as %v",
				u.mark, kind, objects[id], o)
		}
	}
	for id := range objects {
		if listed[id] == nil {
			u.reportf("the mirror of %s still has %s %s, which is deleted", u.mark, kind, id)
		}
	}
}

// stream reads a user's live events and reconnects after faults. Together, its connections must
// receive each event at least once.
type stream struct {
	user *user
	// last is the id of the last received event, from which the next connection resumes.
	last string

	// lock protects seen, which checks read while events arrive.
	lock sync.Mutex
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
	url := s.user.stack.URL + "/api/v1/events"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
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

func (s *stream) has(id string) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.seen[id]
}
