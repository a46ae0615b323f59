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

// callsPerCore is enough to keep a core and its share of the database busy, with large groups of
// creates. Half as many reduce the throughput under overload by a tenth; more only increase the
// latency.
const callsPerCore = 256

// Limit is a concurrency limiter. It rejects calls beyond the limit at once (load shedding) instead
// of queuing them: clients give up on queued calls, and the work for them is wasted. It is safe for
// concurrent use.
type Limit struct {
	limit    int64
	inFlight atomic.Int64
}

// NewLimit returns a limiter sized for the cores that the process may use (GOMAXPROCS).
func NewLimit() *Limit { return &Limit{limit: int64(runtime.GOMAXPROCS(0)) * callsPerCore} }

// Full reports whether another call would be rejected now.
func (l *Limit) Full() bool { return l.inFlight.Load() >= l.limit }

// Enter reports whether a call may begin. After true, the caller must call Leave at the end of the
// call.
func (l *Limit) Enter() bool {
	if l.inFlight.Add(1) > l.limit {
		l.inFlight.Add(-1)
		return false
	}
	return true
}

// Leave ends a call for which Enter returned true.
func (l *Limit) Leave() { l.inFlight.Add(-1) }

// shedLoad is the interceptor that rejects calls beyond the limit. It never rejects calls between
// services, because they belong to requests that have been admitted already.
func (s *Server) shedLoad(
	ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler,
) (any, error) {
	rule := ruleOf(info.FullMethod)
	betweenServices := rule.access == restv1.Access_ACCESS_SERVICE || len(rule.callers) > 1
	if infrastructure(info.FullMethod) || betweenServices {
		return next(ctx, req)
	}
	if !s.limit.Enter() {
		// Retries would add to the overload. A negative pushback prevents retries of the client.
		_ = grpc.SetTrailer(ctx, metadata.Pairs("grpc-retry-pushback-ms", "-1"))
		return nil, apierr.Unavailable.GRPCStatus().Err()
	}
	defer s.limit.Leave()
	return next(ctx, req)
}
