package gateway

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/coffer-budget/coffer/internal/restjson"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
)

const (
	eventsPath  = "/api/v1/events"
	eventStream = "text/event-stream"
	// eventWriteTime limits the time to write one event to a slow client.
	eventWriteTime = 30 * time.Second
	// eventRetry is the delay before a client reconnects.
	eventRetry = time.Second
)

// events handles GET /api/v1/events with server-sent events, the only response that is not a single message. The client's
// connection survives a restart of the service: the gateway resumes the stream after the last position.
func (f *restServer) events(ending <-chan struct{}, mux *runtime.ServeMux, client budgetv1.NotificationServiceClient) runtime.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request, _ map[string]string) {
		x := stateOf(r.Context())
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		go func() {
			select {
			case <-ending:
				cancel()
			case <-ctx.Done():
			}
		}()
		req := &budgetv1.StreamEventsRequest{}
		if err := decode(x.request, x.route, req.ProtoReflect()); err != nil {
			f.fail(ctx, w, err)
			return
		}
		outgoing, err := runtime.AnnotateContext(ctx, mux, r, budgetv1.NotificationService_StreamEvents_FullMethodName)
		if err != nil {
			f.fail(ctx, w, err)
			return
		}
		// Write past the compression, which would delay events to fill its buffer.
		out := &eventWriter{ResponseWriter: x.answer, only: x.outer.Method == http.MethodHead}
		for {
			err := out.copy(outgoing, client, req)
			switch {
			case !out.begun:
				f.fail(ctx, w, err)
				return
			case ctx.Err() != nil || status.Code(err) != codes.Unavailable:
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(eventRetry):
			}
			// The service that ends streams of invalid tokens is unavailable, so the gateway checks the token.
			if _, err := f.authenticate(ctx, x.request); err != nil {
				return
			}
		}
	}
}

// eventWriter writes an event stream in the format of the HTML standard.
type eventWriter struct {
	http.ResponseWriter
	// begun is set once the header of the event stream is sent, after which no error response is possible.
	begun bool
	// only is set for HEAD: the header is sent without events.
	only bool
}

// copy forwards a stream until it ends, and stores in req the position at which the next one must resume.
func (e *eventWriter) copy(ctx context.Context, client budgetv1.NotificationServiceClient, req *budgetv1.StreamEventsRequest) error {
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
		if e.only {
			return nil
		}
		req.LastEventId = resp.GetPosition()
	}
}

func (e *eventWriter) send(resp *budgetv1.StreamEventsResponse) error {
	control := http.NewResponseController(e.ResponseWriter)
	if err := control.SetWriteDeadline(time.Now().Add(eventWriteTime)); err != nil {
		return fmt.Errorf("extending the time to write: %w", err)
	}
	var text []byte
	switch {
	case resp.GetEvent() != nil:
		text = fmt.Appendf(text, "id: %s\nevent: %s\ndata: ", resp.GetPosition(), resp.GetEvent().GetType())
		var err error
		if text, err = restjson.Append(text, resp.GetEvent()); err != nil {
			return fmt.Errorf("encoding an event: %w", err)
		}
		text = append(text, "\n\n"...)
	case !e.begun:
		// A client that loses the connection before the first event resumes at this position.
		text = fmt.Appendf(text, "retry: %d\nid: %s\n\n", eventRetry.Milliseconds(), resp.GetPosition())
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
