package gateway

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/rpc"
)

// transferLimits are the limits of uploads and downloads, which stream a file without keeping it in
// memory (ADR 79).
type transferLimits struct {
	// upload and download are the deadlines of a request.
	upload, download time.Duration
	// idle is the time within which a client must send or accept the next bytes.
	idle time.Duration
	// total and perCaller limit the simultaneous transfers of this gateway. Each uses a few hundred
	// kilobytes of buffers.
	total, perCaller int
}

// usualTransfers are the limits outside of tests.
var usualTransfers = transferLimits{
	upload: rpc.UploadTimeout, download: rpc.DownloadTimeout, idle: 30 * time.Second, total: 200, perCaller: 20,
}

// transfers counts the open transfers by caller: a user, or an address without one. It is safe for
// concurrent use.
type transfers struct {
	transferLimits
	mu   sync.Mutex
	open map[string]int
	all  int
}

// newTransfers returns the counter of a gateway without transfers.
func newTransfers(limits transferLimits) *transfers {
	return &transfers{transferLimits: limits, open: map[string]int{}}
}

// enter counts a transfer that begins. It returns a function that the caller must call at the end,
// or an error if too many are open. A gateway at its total limit answers 503, and a caller at the
// own limit 429.
func (t *transfers) enter(who string) (leave func(), err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.all >= t.total:
		return nil, apierr.Unavailable
	case t.open[who] >= t.perCaller:
		return nil, errRateLimited.WithMessage(fmt.Sprintf("At most %d uploads and downloads may run at the same time", t.perCaller)).After(time.Second)
	}
	t.all++
	t.open[who]++
	return func() { t.leave(who) }, nil
}

// leave ends a transfer that enter counted.
func (t *transfers) leave(who string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all--
	if t.open[who]--; t.open[who] == 0 {
		delete(t.open, who)
	}
}

// enterTransfer counts a transfer that begins, unless its service or the transfers are at their
// limit. A transfer does not count as a concurrent request of its service, because it lasts as long
// as the client needs.
func (h *rpcHandler) enterTransfer(r *http.Request, entry *logEntry) (leave func(), err error) {
	if h.limiter.Full() {
		h.limiter.countShed(r.Context())
		entry.shed = true
		return nil, apierr.Unavailable
	}
	return h.transfers.enter(h.bucket(r, entry.user))
}
