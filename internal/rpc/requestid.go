package rpc

import (
	"context"

	"github.com/google/uuid"
	"google.golang.org/grpc/metadata"
)

const maxRequestID = 128

type requestIDKey struct{}

// WithRequestID returns a context that carries a request's id.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

// RequestID returns the id of the request that ctx serves, or "".
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// NewRequestID returns the caller's request id if it consists of 1 to 128 printable ASCII
// characters without spaces. Otherwise it returns a new UUID.
func NewRequestID(given string) string {
	if given == "" || len(given) > maxRequestID {
		return uuid.NewString()
	}
	for i := range len(given) {
		if given[i] <= 0x20 || given[i] > 0x7e {
			return uuid.NewString()
		}
	}
	return given
}

func withRequestID(ctx context.Context) context.Context {
	given := ""
	if ids := metadata.ValueFromIncomingContext(ctx, metadataRequestID); len(ids) == 1 {
		given = ids[0]
	}
	return WithRequestID(ctx, NewRequestID(given))
}
