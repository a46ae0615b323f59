package production

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// load is a person who does much at once until it is stopped.
type load struct {
	*person
	done           chan struct{}
	workers        sync.WaitGroup
	earned, spent  atomic.Int64
	looked, failed atomic.Int64
}

func (c *cluster) load() *load {
	c.t.Helper()
	l := &load{person: c.newPerson(), done: make(chan struct{})}
	for what, counted := range map[*func() error]*atomic.Int64{new(l.earn): &l.earned, new(l.spend): &l.spent, new(l.look): &l.looked} {
		for range 2 {
			l.workers.Go(func() { l.repeat(*what, counted) })
		}
	}
	return l
}

// pause leaves the machine to those who start and stop.
const pause = 5 * time.Millisecond

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

// stop requires that every request was answered, and that what was booked counts once.
func (l *load) stop() {
	t := l.cluster.t
	t.Helper()
	close(l.done)
	l.workers.Wait()
	t.Logf("%d bookings, %d receipts, %d looks at a budget", l.earned.Load(), l.spent.Load(), l.looked.Load())
	require.Zero(t, l.failed.Load(), "requests failed")
	require.Positive(t, min(l.earned.Load(), l.spent.Load(), l.looked.Load()))
	require.Equal(t, int(l.earned.Load()-l.spent.Load()), l.balance(t))
}

// TestReplacingEveryInstanceUnderLoadLosesNoRequest is a rolling upgrade behind a DNS cache: a new instance starts, an old one
// ends, one by one. The clients have asked for each service when it had one instance, so that without MAX_CONNECTION_AGE they know
// only that one. The ledger is replaced a second time while its first instances still terminate and the cache still answers with
// their addresses.
func TestReplacingEveryInstanceUnderLoadLosesNoRequest(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	running := c.startAll(1, c.spawn)
	p := c.newPerson()
	require.NoError(t, p.earn())
	require.NoError(t, p.spend())
	require.NoError(t, p.look())
	c.scale(running)
	l := c.load()
	var ending errgroup.Group
	for _, service := range []string{"auth", "ocr", "ledger", "ledger", "budget", "gateway"} {
		c.replace(running, service, c.spawn, &ending)
	}
	require.NoError(t, ending.Wait())
	l.stop()
}
