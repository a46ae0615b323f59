package transcoding

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/restjson"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
)

const (
	eventStream = "text/event-stream"
	// eventWriteTime limits the time to write one event to a slow client.
	eventWriteTime = 30 * time.Second
	// eventRetry is the delay before a client reconnects.
	eventRetry = time.Second
)

type events struct{ operation }

// send answers GET /api/v1/events with server-sent events, the only response that is not a
// single message. The client's connection survives a restart of the service: the gateway resumes
// the stream after the last position. w is the response without compression, which would delay
// events to fill its buffer. An error is returned only if nothing has been sent.
func (e events) send(w http.ResponseWriter, r *http.Request, request proto.Message) error {
	ctx, cancel := context.WithCancel(e.outgoing(r.Context(), r))
	defer cancel()
	go func() {
		select {
		case <-e.Stopping:
			cancel()
		case <-ctx.Done():
		}
	}()
	client := budgetv1.NewNotificationServiceClient(e.Conn)
	req := request.(*budgetv1.StreamEventsRequest)
	out := &eventWriter{ResponseWriter: w, headerOnly: r.Method == http.MethodHead}
	for {
		err := out.copy(ctx, client, req)
		switch {
		case !out.begun:
			return err
		case ctx.Err() != nil || status.Code(err) != codes.Unavailable:
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(eventRetry):
		}
		// The service that ends streams of invalid tokens is unavailable, so the gateway checks the
		// token.
		if _, err := e.Gate.Authenticate(r); err != nil {
			return nil
		}
	}
}

// eventWriter writes an event stream in the format of the HTML standard.
type eventWriter struct {
	http.ResponseWriter
	// begun is set once the header of the event stream is sent, after which no error response is
	// possible.
	begun bool
	// headerOnly is set for HEAD: the header is sent without events.
	headerOnly bool
}

// copy forwards a stream until it ends, and stores in req the position after the last event.
func (e *eventWriter) copy(
	ctx context.Context, client budgetv1.NotificationServiceClient,
	req *budgetv1.StreamEventsRequest,
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := client.StreamEvents(ctx, req)
	if err != nil {
		return err
	}
	for {
		resp, err := stream.Recv()
		if err != nil {
			return err
		}
		if err := e.send(resp); err != nil {
			return err
		}
		if e.headerOnly {
			return nil
		}
		req.LastEventId = resp.GetPosition()
	}
}

// send writes one event, or a comment that keeps the connection open. Before the first, it sends
// the header. Its deadline ends a stream to a client that has stopped reading.
func (e *eventWriter) send(resp *budgetv1.StreamEventsResponse) error {
	control := http.NewResponseController(e.ResponseWriter)
	if err := control.SetWriteDeadline(time.Now().Add(eventWriteTime)); err != nil {
		return fmt.Errorf("extending the time to write: %w", err)
	}
	var text []byte
	event, position := resp.GetEvent(), resp.GetPosition()
	switch {
	case event != nil:
		text = fmt.Appendf(text, "id: %s\nevent: %s\ndata: ", position, event.GetType())
		var err error
		if text, err = restjson.Append(text, event); err != nil {
			return fmt.Errorf("encoding an event: %w", err)
		}
		text = append(text, "\n\n"...)
	case !e.begun:
		// A client that loses the connection before the first event resumes at this position.
		text = fmt.Appendf(text, "retry: %d\nid: %s\n\n", eventRetry.Milliseconds(), position)
	default:
		text = append(text, ":\n\n"...)
	}
	if !e.begun {
		// The request has been read. The deadline for reading it must not end the response.
		if err := control.SetReadDeadline(time.Time{}); err != nil {
			return fmt.Errorf("clearing the read deadline: %w", err)
		}
		e.begun = true
		e.Header().Set("Content-Type", eventStream)
		// Reverse proxies would buffer the events.
		e.Header().Set("X-Accel-Buffering", "no")
		e.WriteHeader(http.StatusOK)
	}
	if _, err := e.Write(text); err != nil {
		return err
	}
	if err := control.Flush(); err != nil {
		return fmt.Errorf("sending an event: %w", err)
	}
	return nil
}
