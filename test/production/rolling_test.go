package production

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// load sends requests of one user from several workers until it is stopped.
type load struct {
	*user
	done chan struct{}
	// The counters of successful requests by kind, and of failed ones.
	workers       sync.WaitGroup
	earned, spent atomic.Int64
	read, failed  atomic.Int64
}

func (c *cluster) load() *load {
	c.t.Helper()
	l := &load{user: c.newUser(), done: make(chan struct{})}
	for what, counted := range map[*func() error]*atomic.Int64{
		new(l.earn): &l.earned, new(l.spend): &l.spent, new(l.readBudget): &l.read,
	} {
		for range 2 {
			l.workers.Go(func() { l.repeat(*what, counted) })
		}
	}
	return l
}

// pause is the time between two requests of a worker. It leaves processor time to the processes
// that start and stop.
const pause = 20 * time.Millisecond

func (l *load) repeat(what func() error, counted *atomic.Int64) {
	for {
		select {
		case <-l.done:
			return
		case <-time.After(pause):
		}
		if err := what(); err != nil {
			l.failed.Add(1)
			l.cluster.t.Log(err)
			continue
		}
		counted.Add(1)
	}
}

// stop requires that every request succeeded, and that the balance includes each created
// transaction once.
func (l *load) stop() {
	t := l.cluster.t
	t.Helper()
	close(l.done)
	l.workers.Wait()
	t.Logf("%d creates, %d receipts, %d reads of a budget",
		l.earned.Load(), l.spent.Load(), l.read.Load())
	require.Zero(t, l.failed.Load(), "requests failed")
	require.Positive(t, min(l.earned.Load(), l.spent.Load(), l.read.Load()))
	require.Equal(t, int(l.earned.Load()-l.spent.Load()), l.balance(t))
}

// TestRollingReplacement replaces every instance one by one behind a DNS cache. No request may
// fail.
//
// The clients resolve each service's name when it has one instance. So without MAX_CONNECTION_AGE
// they would know only that one. The ledger is replaced a second time while its first instances
// still terminate and the cache still returns their addresses.
func TestRollingReplacement(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	running := cluster.startAll(1, cluster.spawn)
	u := cluster.newUser()
	require.NoError(t, u.earn())
	require.NoError(t, u.spend())
	require.NoError(t, u.readBudget())
	cluster.scale(running)
	l := cluster.load()
	var ending errgroup.Group
	for _, service := range []string{"auth", "ocr", "ledger", "ledger", "budget", "gateway"} {
		cluster.replace(running, service, cluster.spawn, &ending)
	}
	require.NoError(t, ending.Wait())
	l.stop()
}
