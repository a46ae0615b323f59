package rpc

import (
	"context"
	"time"

	"google.golang.org/grpc/tap"
)

const (
	// defaultDeadline bounds calls that came without one.
	defaultDeadline = 30 * time.Second
	// longestCall bounds the others, whatever their callers grant. A receipt has a minute.
	longestCall = 90 * time.Second
)

// patient gives every call a deadline when its headers have come. An interceptor runs when the message was read, and one that
// never comes would keep its call for ever.
func (s *Server) patient(ctx context.Context, info *tap.Info) (context.Context, error) {
	within := s.longestCall
	switch end, granted := ctx.Deadline(); {
	case !granted:
		within = min(within, defaultDeadline)
	case time.Until(end) <= within:
		return ctx, nil
	}
	if m := Method(info.FullMethodName); m != nil && m.IsStreamingServer() {
		return ctx, nil
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	context.AfterFunc(ctx, cancel)
	return ctx, nil
}
