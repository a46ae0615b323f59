package attachments

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// TestCreateAttachmentMemory runs 20 uploads of 10 MiB and measures the heap while all of them are
// in the middle of their files. It does not run in parallel, because other tests would use the heap
// too.
func TestCreateAttachmentMemory(t *testing.T) { //nolint:paralleltest // See above.
	s := setup(t)
	me := newPerson(t, s)
	transactions := make([]string, 20)
	for i := range transactions {
		transactions[i] = me.Create(t, me.Spends("1")).GetId()
	}
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before, during := heap(), int64(0)
	var middle sync.WaitGroup
	middle.Add(20)
	measured := make(chan struct{})
	go func() {
		middle.Wait()
		during = heap()
		close(measured)
	}()
	var sent atomic.Int64
	for _, err := range together(20, func(i int) error {
		up := stream(me.Ctx, transactions[i], "a", pdf)
		begin, n := up.Next, 0
		up.Next = func() (*ledgerv1.CreateAttachmentRequest, error) {
			n++
			switch {
			case n <= 2:
				return begin()
			case n == 100:
				middle.Done()
				<-measured
			case n == 150:
				return begin()
			}
			sent.Add(64 << 10)
			return &ledgerv1.CreateAttachmentRequest{File: make([]byte, 64<<10)}, nil
		}
		return me.CreateAttachment(up)
	}) {
		require.NoError(t, err)
	}
	require.Greater(t, sent.Load(), int64(180<<20))
	t.Logf("%d kB per upload", (during-before)/20>>10)
	require.Less(t, during-before, int64(20<<20),
		"a chunk, its copy in the connection's buffer, and little more")
}
