package rpc

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// canceled appears in the log only, because the client is gone.
var canceled = apierr.New(restv1.Reason_CANCELED)

// Public returns the error that a caller may see for err, and nil for nil. No other code makes this
// decision. Errors without a public form become INTERNAL, and their text appears only in the log.
func Public(err error) *apierr.Error {
	if err == nil {
		return nil
	}
	if e := apierr.From(err); e != nil {
		return e
	}
	switch {
	case errors.Is(err, context.Canceled):
		return canceled
	// pgx reports an expired connect timeout as context.DeadlineExceeded too, so this case must
	// come first.
	case pg.IsUnreachable(err):
		return apierr.Unavailable
	case errors.Is(err, context.DeadlineExceeded):
		return apierr.DeadlineExceeded
	case pg.IsUnavailable(err), pg.IsRetryable(err), pg.IsLocked(err):
		return apierr.Unavailable
	}
	return downstream(err)
}

// downstream maps an error of a called service that has no reason to a public error. Only its gRPC
// code is used: the text stays in the log.
func downstream(err error) *apierr.Error {
	switch status.Code(err) {
	case codes.Canceled:
		return canceled
	case codes.Unavailable, codes.Unimplemented:
		// During an upgrade, an instance of the earlier release does not have the RPC yet.
		return apierr.Unavailable
	case codes.DeadlineExceeded:
		return apierr.DeadlineExceeded
	}
	return apierr.Internal
}
