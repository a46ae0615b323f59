package ledger

import (
	"context"
	"sync"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/rpc"
)

const (
	// maxReads is the maximum number of concurrent expensive reads of one user. It prevents a user with a long history from
	// taking the connections and the processor time of other users.
	maxReads = 2
	// maxWaitingReads is the maximum number of further reads that wait. A page with many charts sends about that many.
	maxWaitingReads = 30
)

// readGates limits the expensive reads of each user: summaries, and lists whose filters match few of the nearest rows. Reads beyond
// the limit wait in a queue, and if it is full they are rejected with RATE_LIMITED. Each replica counts separately.
type readGates struct {
	inside, waiting int

	mu     sync.Mutex
	byUser map[uuid.UUID]*readGate
}

// readGate limits one user. reads counts the user's running and waiting reads.
type readGate struct {
	rpc.Gate
	reads int
}

// newReadGates returns gates that admit inside reads per user and queue waiting further ones.
func newReadGates(inside, waiting int) *readGates {
	return &readGates{inside: inside, waiting: waiting, byUser: map[uuid.UUID]*readGate{}}
}

// enter waits until the user may read. The caller must call leave after the read. It returns errTooManyReads if the queue is full,
// and otherwise an error of ctx.
func (g *readGates) enter(ctx context.Context, user uuid.UUID) (leave func(), err error) {
	gate := g.join(user)
	exit, err := gate.Enter(ctx)
	if err != nil {
		g.part(user, gate)
		return nil, err
	}
	return func() {
		exit()
		g.part(user, gate)
	}, nil
}

// join returns the gate of a user, and creates it for the first read.
func (g *readGates) join(user uuid.UUID) *readGate {
	g.mu.Lock()
	defer g.mu.Unlock()
	gate, ok := g.byUser[user]
	if !ok {
		gate = &readGate{Gate: rpc.NewGate(g.inside, g.waiting, errTooManyReads)}
		g.byUser[user] = gate
	}
	gate.reads++
	return gate
}

// part ends what join began. It removes the gate of a user without reads, so that memory use is proportional to current reads, not
// to users.
func (g *readGates) part(user uuid.UUID, gate *readGate) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if gate.reads--; gate.reads == 0 {
		delete(g.byUser, user)
	}
}
