// Package reads limits the concurrent expensive reads of each user: summaries, the spending of
// budgets, the numbers of transactions of tags, transfers, suggestions and previews of rules, and
// lists whose filters match few of the nearest rows.
//
// Without the limit, a user with a long history could take the connections and the processor time
// of all other users. Gates admits a few reads of a user at once and queues some more. It rejects
// the rest with RATE_LIMITED. The caller enters the gate of a user before the read and leaves it
// afterwards. Each replica of the service counts separately.
package reads

import (
	"context"
	"sync"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/rpc"
)

const (
	// MaxRunning is the maximum number of concurrent expensive reads of one user. It prevents a
	// user with a long history from taking the connections and the processor time of other users.
	MaxRunning = 2
	// MaxWaiting is the maximum number of further reads that wait. A page with many charts sends
	// about that many.
	MaxWaiting = 30
)

// Gates holds a gate for each user with current reads. It is safe for concurrent use.
type Gates struct {
	running, waiting int

	mu     sync.Mutex
	byUser map[uuid.UUID]*gate
}

// gate limits one user. reads counts the user's running and waiting reads.
type gate struct {
	rpc.Gate
	reads int
}

// NewGates returns gates that admit running reads per user and queue waiting further ones.
func NewGates(running, waiting int) *Gates {
	return &Gates{running: running, waiting: waiting, byUser: map[uuid.UUID]*gate{}}
}

// Enter waits until the user may read. The caller must call leave after the read. It returns
// errTooManyReads if the queue is full, and otherwise an error of ctx.
func (g *Gates) Enter(ctx context.Context, user uuid.UUID) (leave func(), err error) {
	own := g.join(user)
	exit, err := own.Enter(ctx)
	if err != nil {
		g.leave(user, own)
		return nil, err
	}
	return func() {
		exit()
		g.leave(user, own)
	}, nil
}

// join returns the gate of a user, and creates it for the first read. It counts the read under the
// same lock, so that leave cannot remove a gate that a new read is about to enter.
func (g *Gates) join(user uuid.UUID) *gate {
	g.mu.Lock()
	defer g.mu.Unlock()
	own, ok := g.byUser[user]
	if !ok {
		own = &gate{Gate: rpc.NewGate(g.running, g.waiting, errTooManyReads)}
		g.byUser[user] = own
	}
	own.reads++
	return own
}

// leave ends a read that join counted. It removes the gate of a user without reads, so that memory
// use is proportional to current reads, not to users.
func (g *Gates) leave(user uuid.UUID, own *gate) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if own.reads--; own.reads == 0 {
		delete(g.byUser, user)
	}
}
