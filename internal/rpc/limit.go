package rpc

import (
	"context"
	"runtime"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/coffer-budget/coffer/internal/apierr"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// perCore is enough to keep a core and its share of the database busy, with large groups of creates: half as many leave a tenth
// less under overload, and more would only wait longer.
const perCore = 256

// Limit is how many calls may be under way at once. Those beyond are refused at once: in a queue they would wait until
// nobody wants their answers any more, and what was done for them would be lost.
type Limit struct {
	most  int64
	under atomic.Int64
}

// NewLimit returns one that fits the cores that the process may use.
func NewLimit() *Limit { return &Limit{most: int64(runtime.GOMAXPROCS(0)) * perCore} }

// Full tells whether another call would be refused now.
func (l *Limit) Full() bool { return l.under.Load() >= l.most }

// Enter lets a call begin, which must Leave, or returns false.
func (l *Limit) Enter() bool {
	if l.under.Add(1) > l.most {
		l.under.Add(-1)
		return false
	}
	return true
}

// Leave ends a call that has entered.
func (l *Limit) Leave() { l.under.Add(-1) }

// limited refuses calls beyond the limit, before anything is spent on them. What services ask each other belongs to
// requests that were let in already.
func (s *Server) limited(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	rule := ruleOf(info.FullMethod)
	if infrastructure(info.FullMethod) || rule.access == restv1.Access_ACCESS_SERVICE || len(rule.callers) > 1 {
		return next(ctx, req)
	}
	if !s.limit.Enter() {
		// A second try at once is what an overloaded service needs least.
		_ = grpc.SetTrailer(ctx, metadata.Pairs("grpc-retry-pushback-ms", "-1"))
		return nil, apierr.Unavailable.GRPCStatus().Err()
	}
	defer s.limit.Leave()
	return next(ctx, req)
}
