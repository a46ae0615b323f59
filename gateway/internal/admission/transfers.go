package admission

import (
	"fmt"
	"sync"
	"time"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/rpc"
)

// TransferLimits are the limits of uploads and downloads, which stream a file without keeping it in
// memory (ADR 79).
type TransferLimits struct {
	// Upload and Download are the deadlines of a request.
	Upload, Download time.Duration
	// Idle is the time within which a client must send or accept the next bytes.
	Idle time.Duration
	// Total and PerCaller limit the simultaneous transfers of this gateway. Each uses a few hundred
	// kilobytes of buffers.
	Total, PerCaller int
}

// UsualTransfers are the limits outside of tests.
var UsualTransfers = TransferLimits{
	Upload: rpc.UploadTimeout, Download: rpc.DownloadTimeout, Idle: 30 * time.Second,
	Total: 200, PerCaller: 20,
}

// Transfers counts the open transfers by caller: a user, or an address without one. It is safe for
// concurrent use.
type Transfers struct {
	TransferLimits

	mu   sync.Mutex
	open map[string]int
	all  int
}

func newTransfers(limits TransferLimits) *Transfers {
	return &Transfers{TransferLimits: limits, open: map[string]int{}}
}

// enter counts a transfer that begins. The caller must call leave at its end. A gateway at its
// total limit answers 503, and a caller at the own limit 429.
func (t *Transfers) enter(who string) (leave func(), err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.all >= t.Total:
		return nil, apierr.Unavailable
	case t.open[who] >= t.PerCaller:
		const tooMany = "At most %d uploads and downloads may run at the same time"
		e := errRateLimited.WithMessage(fmt.Sprintf(tooMany, t.PerCaller))
		return nil, e.After(time.Second)
	}
	t.all++
	t.open[who]++
	return func() { t.leave(who) }, nil
}

func (t *Transfers) leave(who string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all--
	if t.open[who]--; t.open[who] == 0 {
		delete(t.open, who)
	}
}
