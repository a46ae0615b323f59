package rpc

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/tap"

	"github.com/coffer-budget/coffer/internal/apierr"
)

const (
	// defaultTimeout applies to calls without a deadline.
	defaultTimeout = 30 * time.Second
	// maxTimeout applies to calls with a later deadline. The gateway gives the upload of a receipt
	// one minute.
	maxTimeout = 90 * time.Second
	// hopReserve is subtracted from the deadline on each hop, so that the client gets the error of
	// the innermost call.
	hopReserve = 20 * time.Millisecond
)

// limitDeadline is a tap handle, which runs when the headers of a call have arrived. It gives unary
// calls and transfers a deadline; other streams have none. An interceptor would be too late: it
// runs after the message has been read, so a call whose message never arrives would stay open
// forever.
func (s *Server) limitDeadline(ctx context.Context, info *tap.Info) (context.Context, error) {
	timeout := s.maxTimeout
	switch end, ok := ctx.Deadline(); {
	case !ok:
		timeout = min(timeout, defaultTimeout)
	case time.Until(end) <= timeout:
		return ctx, nil
	}
	m := Method(info.FullMethodName)
	switch longest := transferTimeout(m); {
	case longest > 0:
		timeout = min(s.maxTransfer, longest)
	case m != nil && m.IsStreamingServer():
		return ctx, nil
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	context.AfterFunc(ctx, cancel)
	return ctx, nil
}

// deadline is the interceptor that shortens the deadline by hopReserve, and rejects a call without
// time.
func (s *Server) deadline(
	ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler,
) (any, error) {
	// limitDeadline has set a deadline.
	end, _ := ctx.Deadline()
	end = end.Add(-hopReserve)
	if time.Until(end) <= 0 {
		return nil, apierr.DeadlineExceeded
	}
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	return next(ctx, req)
}
