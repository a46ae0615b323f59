package rpc

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
)

const (
	// maxStreams leaves room on a connection for calls, when one gateway has all streams.
	maxStreams = 4000
	// verifyEvery is how often a stream's token is looked at again: it expires, and its session may be revoked.
	verifyEvery = 15 * time.Second
)

// streams are the server's open ones. They last for hours, so a server that stops must end them itself.
type streams struct {
	open        atomic.Int64
	ending      chan struct{}
	verifyEvery time.Duration
}

// serverStream is one whose context the interceptor has replaced.
type serverStream struct {
	grpc.ServerStream
	ctx context.Context
}

// Context implements grpc.ServerStream.
func (s *serverStream) Context() context.Context { return s.ctx }

// stream is to streams what the chain of unary interceptors is to calls: log, recovery, who may call. Its deadline is the
// token's.
func (s *Server) stream(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	if infrastructure(info.FullMethod) {
		return next(srv, ss)
	}
	start := time.Now()
	ctx, seen := withActing(withRequestID(ss.Context()))
	err := s.streamAs(ctx, srv, ss, info, next)
	return s.finished(ctx, seen, info.FullMethod, start, err)
}

func (s *Server) streamAs(ctx context.Context, srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	if s.streams.open.Add(1) > maxStreams {
		s.streams.open.Add(-1)
		return apierr.Unavailable
	}
	defer s.streams.open.Add(-1)
	ctx, err = s.admit(ctx, info.FullMethod)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go s.watchStream(ctx, cancel, info.FullMethod)
	err = next(srv, &serverStream{ServerStream: ss, ctx: ctx})
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

// watchStream ends a stream when the server does, or when its token does not count any more.
func (s *Server) watchStream(ctx context.Context, cancel context.CancelCauseFunc, fullMethod string) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.streams.ending:
			cancel(apierr.Unavailable)
			return
		case <-time.After(s.streams.verifyEvery):
		}
		if _, err := s.admit(ctx, fullMethod); err != nil {
			cancel(err)
			return
		}
	}
}

func withActing(ctx context.Context) (context.Context, *acting) {
	seen := &acting{}
	return context.WithValue(ctx, actingKey{}, seen), seen
}

// acted is ctx with whom the call acted for, as far as that became known; for the log.
func (a *acting) acted(ctx context.Context) context.Context {
	if !a.known {
		return ctx
	}
	return caller.With(ctx, a.Identity)
}
