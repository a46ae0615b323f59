package rpc

import (
	"context"

	"github.com/coffer-budget/coffer/internal/caller"
)

// acting carries the caller's identity from admit, an inner interceptor, to finish, an outer
// interceptor that logs it.
type acting struct {
	caller.Identity
	known bool
}

type actingKey struct{}

// withActing returns ctx with an empty acting, which admit fills in.
func withActing(ctx context.Context) (context.Context, *acting) {
	seen := &acting{}
	return context.WithValue(ctx, actingKey{}, seen), seen
}

// acted returns ctx with the identity that admit verified, so that the log contains it. Without one
// it returns ctx.
func (a *acting) acted(ctx context.Context) context.Context {
	if !a.known {
		return ctx
	}
	return caller.With(ctx, a.Identity)
}
