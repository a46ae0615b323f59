package production

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"
)

// insist sends a request until it is answered, always with the same Idempotency-Key.
func (u *user) insist(method, path string, body map[string]any) (map[string]any, error) {
	key := fmt.Sprint("key ", rand.Int64())
	return u.repeat(func() (map[string]any, error) { return u.call(method, path, body, key) })
}

// repeat repeats a request while the response is 503 SERVICE_UNAVAILABLE, after its Retry-After.
func (u *user) repeat(request func() (map[string]any, error)) (answer map[string]any, err error) {
	for range 20 {
		answer, err = request()
		var f *failure
		if !errors.As(err, &f) || f.code != "SERVICE_UNAVAILABLE" {
			return answer, err
		}
		u.repeated.Add(1)
		time.Sleep(f.retryAfter)
	}
	return nil, err
}

// traffic is the load of other users.
type traffic struct {
	*user
	done    chan struct{}
	workers sync.WaitGroup
	earned  atomic.Int64

	mu       sync.Mutex
	failures []error
	times    map[string][]time.Duration
}

// newTraffic starts two workers for each kind of request.
func (c *cluster) newTraffic() *traffic {
	c.t.Helper()
	traffic := &traffic{
		user: c.newUser(), done: make(chan struct{}), times: map[string][]time.Duration{},
	}
	get := func(path string) func() error {
		return func() error {
			_, err := traffic.insist(http.MethodGet, path, nil)
			return err
		}
	}
	for kind, request := range map[string]func() error{
		"create": func() error {
			_, err := traffic.insist(http.MethodPost, "/transaction", traffic.income())
			if err == nil {
				traffic.earned.Add(1)
			}
			return err
		},
		"page":      get("/transaction?limit=50"),
		"dashboard": get("/dashboard/summary?from=2026-01-01&to=2026-01-31"),
	} {
		for range 2 {
			traffic.workers.Go(func() { traffic.send(kind, request) })
		}
	}
	return traffic
}

// send sends requests until the end, and records the time until each is answered.
func (l *traffic) send(kind string, request func() error) {
	for {
		select {
		case <-l.done:
			return
		case <-time.After(pause):
		}
		began := time.Now()
		err := request()
		l.mu.Lock()
		l.times[kind] = append(l.times[kind], time.Since(began))
		if err != nil {
			l.failures = append(l.failures, err)
		}
		l.mu.Unlock()
	}
}

// stop requires that no request failed, and that each acknowledged create is there once.
func (l *traffic) stop() {
	t := l.cluster.t
	t.Helper()
	close(l.done)
	l.workers.Wait()
	for kind, times := range l.times {
		slices.Sort(times)
		t.Logf("%s: %d, p50 %v, p99 %v, max %v", kind, len(times), times[len(times)/2],
			times[len(times)*99/100], times[len(times)-1])
	}
	t.Logf("%d requests of the others were repeated after 503", l.repeated.Load())
	require.Empty(t, l.failures)
	require.Equal(t, int(l.earned.Load()), l.balance(t))
}
