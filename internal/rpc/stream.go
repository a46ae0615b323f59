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
)

const (
	// maxStreams is the maximum number of open streams of a server. It is below the connection's
	// limit of concurrent streams, so that unary calls still fit if one gateway has opened all of
	// them.
	maxStreams = 4000
	// verifyInterval is the time between checks of a stream's token, which may expire, and whose
	// session may end. A check is cheap, because the verifier caches tokens.
	verifyInterval = 2 * time.Second
)

// streams is the state of the server's streams. Event streams last for hours, so a stopping server
// must end them by closing ending. Transfers last for minutes, and end like unary calls.
type streams struct {
	// open counts all streams, transfers those that carry a file.
	open, transfers atomic.Int64
	ending          chan struct{}
	verifyInterval  time.Duration
}

// serverStream is a grpc.ServerStream with another context, whose end also ends receiving and
// sending.
type serverStream struct {
	grpc.ServerStream
	ctx context.Context
}

func (s *serverStream) Context() context.Context { return s.ctx }

func (s *serverStream) RecvMsg(m any) error {
	if err := context.Cause(s.ctx); err != nil {
		return err
	}
	return s.ServerStream.RecvMsg(m)
}

func (s *serverStream) SendMsg(m any) error {
	if err := context.Cause(s.ctx); err != nil {
		return err
	}
	return s.ServerStream.SendMsg(m)
}

// stream is the interceptor of streams. A transfer has a deadline; other streams end when their
// token expires.
func (s *Server) stream(
	srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler,
) error {
	if infrastructure(info.FullMethod) {
		return next(srv, ss)
	}
	start := time.Now()
	ctx, seen := withActing(withRequestID(ss.Context()))
	err := s.streamAs(ctx, srv, ss, info, next)
	return s.finished(ctx, seen, info.FullMethod, start, err)
}

func (s *Server) streamAs(
	ctx context.Context, srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo,
	next grpc.StreamHandler,
) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	transfer := ruleOf(info.FullMethod).transfer
	leave, err := s.streams.enter(transfer)
	if err != nil {
		return err
	}
	defer leave()
	if transfer {
		end, _ := ctx.Deadline() // limitDeadline has set it.
		earlier, cancel := context.WithDeadline(ctx, end.Add(-hopReserve))
		defer cancel()
		ctx = earlier
	}
	ctx, err = s.admit(ctx, info.FullMethod)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go s.watchStream(ctx, cancel, info.FullMethod, transfer)
	err = next(srv, &serverStream{ServerStream: ss, ctx: ctx})
	cause := context.Cause(ctx)
	if cause == nil || errors.Is(cause, context.Canceled) || err == nil && transfer {
		return err
	}
	return cause
}

// enter counts a stream that begins. It returns a function that the caller must call at the end of
// the stream, or apierr.Unavailable if too many are open.
func (s *streams) enter(transfer bool) (leave func(), err error) {
	if s.open.Add(1) > maxStreams {
		s.open.Add(-1)
		return nil, apierr.Unavailable
	}
	if !transfer {
		return func() { s.open.Add(-1) }, nil
	}
	if s.transfers.Add(1) > maxTransfers {
		s.transfers.Add(-1)
		s.open.Add(-1)
		return nil, apierr.Unavailable
	}
	return func() { s.transfers.Add(-1); s.open.Add(-1) }, nil
}

// watchStream cancels a stream when its token is no longer valid or, unless the stream is a
// transfer, when the server stops. A token that expires does not end a transfer, as it does not end
// a unary call; the end of its session does.
func (s *Server) watchStream(
	ctx context.Context, cancel context.CancelCauseFunc, fullMethod string, transfer bool,
) {
	ending := s.streams.ending
	if transfer {
		ending = nil
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-ending:
			cancel(apierr.Unavailable)
			return
		case <-time.After(s.streams.verifyInterval):
		}
		_, err := s.admit(ctx, fullMethod)
		if err != nil && !(transfer && errors.Is(err, apierr.TokenExpired)) {
			cancel(err)
			return
		}
	}
}
