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
	// maxStreams is the maximum number of open streams of a server. It is below the connection's limit of concurrent streams, so
	// that unary calls still fit if one gateway has opened all of them.
	maxStreams = 4000
	// verifyInterval is the time between checks of a stream's token. The token may expire, and its session may end.
	verifyInterval = 15 * time.Second
)

// streams is the state of the server's streams. Streams last for hours, so a stopping server must end them by closing ending.
type streams struct {
	open           atomic.Int64
	ending         chan struct{}
	verifyInterval time.Duration
}

// serverStream is a grpc.ServerStream with another context.
type serverStream struct {
	grpc.ServerStream
	ctx context.Context
}

// Context implements grpc.ServerStream.
func (s *serverStream) Context() context.Context { return s.ctx }

// stream is the interceptor of streams: it logs, limits, recovers from panics and authorizes. A stream has no deadline. It ends when its
// token expires.
func (s *Server) stream(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	if infrastructure(info.FullMethod) {
		return next(srv, ss)
	}
	start := time.Now()
	ctx, seen := withActing(withRequestID(ss.Context()))
	err := s.streamAs(ctx, srv, ss, info, next)
	return s.finished(ctx, seen, info.FullMethod, start, err)
}

// streamAs runs a stream with ctx, which carries the request id, and adds the caller to it.
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

// watchStream cancels a stream when the server stops or its token is no longer valid.
func (s *Server) watchStream(ctx context.Context, cancel context.CancelCauseFunc, fullMethod string) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.streams.ending:
			cancel(apierr.Unavailable)
			return
		case <-time.After(s.streams.verifyInterval):
		}
		if _, err := s.admit(ctx, fullMethod); err != nil {
			cancel(err)
			return
		}
	}
}

// withActing returns ctx with an empty acting, which admit fills in.
func withActing(ctx context.Context) (context.Context, *acting) {
	seen := &acting{}
	return context.WithValue(ctx, actingKey{}, seen), seen
}

// acted returns ctx with the identity that admit verified, so that the log contains it. Without one it returns ctx.
func (a *acting) acted(ctx context.Context) context.Context {
	if !a.known {
		return ctx
	}
	return caller.With(ctx, a.Identity)
}
