package transcoding

import (
	"context"
	"log/slog"
	"net/http"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/gateway/internal/admission"
	"github.com/coffer-budget/coffer/gateway/internal/response"
	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/rpc"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

const (
	metadataToken        = "authorization"
	metadataForwardedFor = "x-forwarded-for"
)

// Service has the connection to a service, and the other parts that its operations share.
type Service struct {
	Conn    grpc.ClientConnInterface
	Limiter *admission.Limiter
	Gate    *admission.Gate
	Log     *slog.Logger
	// Stopping is closed when the gateway stops. Event streams then end, and other requests finish.
	Stopping <-chan struct{}
}

type operation struct {
	route *Route
	*Service
}

// call calls the RPC and stores the encoded reply. Only this part of a request counts for the
// concurrency limit, so clients that send or receive slowly do not use it up. It returns
// apierr.Unavailable at the limit.
func (o operation) call(
	r *http.Request, request proto.Message, reply *rpc.Encoded, entry *response.Entry,
) error {
	if !o.Limiter.Enter(r.Context()) {
		entry.Quiet = true
		return apierr.Unavailable
	}
	defer o.Limiter.Leave()
	return rpc.InvokeEncoded(o.outgoing(r.Context(), r), o.Conn, o.route.fullMethod, request, reply)
}

// enterTransfer counts a transfer, unless its service or the transfers are at their limit. It does
// not count as a concurrent request of the service, because it lasts as long as the client needs.
func (o operation) enterTransfer(r *http.Request, entry *response.Entry) (leave func(), err error) {
	if o.Limiter.Full(r.Context()) {
		entry.Quiet = true
		return nil, apierr.Unavailable
	}
	return o.Gate.EnterTransfer(r, entry.User)
}

func (o operation) open(ctx context.Context) (grpc.ClientStream, error) {
	return rpc.NewEncodedStream(ctx, o.Conn, o.route.Method, o.route.fullMethod)
}

// outgoing returns ctx with the metadata for the service: the token, if the RPC takes one, and the
// client's address. Package rpc adds the request id. The client's other headers never become
// metadata.
func (o operation) outgoing(ctx context.Context, r *http.Request) context.Context {
	md := metadata.MD{metadataForwardedFor: {o.Gate.ClientAddress(r)}}
	if o.route.access == restv1.Access_ACCESS_UNSPECIFIED {
		md[metadataToken] = r.Header["Authorization"]
	}
	return metadata.NewOutgoingContext(ctx, md)
}
