package ledger

import (
	"context"
	"sync"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/rpc"
)

const (
	// maxReads is the number of expensive reads that one user may have in the database at once, so that a user with a long
	// history does not take the connections and the processor time of the others.
	maxReads = 2
	// maxWaitingReads is the number of further reads that wait for their turn. A page with many charts asks for that many.
	maxWaitingReads = 30
)

// readGates limits the expensive reads of each user: summaries, and lists that the rows nearby do not fill. Reads beyond the
// limit wait, and those beyond the queue are rejected with RATE_LIMITED.
type readGates struct {
	inside, waiting int

	mu     sync.Mutex
	byUser map[uuid.UUID]*readGate
}

// readGate is the gate of a user with reads under way, which reads counts.
type readGate struct {
	rpc.Gate
	reads int
}

func newReadGates(inside, waiting int) *readGates {
	return &readGates{inside: inside, waiting: waiting, byUser: map[uuid.UUID]*readGate{}}
}

// enter waits for the user's turn. The caller must call leave after the read.
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

// part removes the gate of a user without reads, so that memory is bounded by the reads under way.
func (g *readGates) part(user uuid.UUID, gate *readGate) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if gate.reads--; gate.reads == 0 {
		delete(g.byUser, user)
	}
}
