package notification

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/outbox"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
)

const (
	// heartbeat is the interval of empty messages, by which both ends detect a broken connection.
	heartbeat = 15 * time.Second
	// maxStreams limits the open streams of a user at one replica.
	maxStreams = 10
	// accountEvents is the beginning of the types of events that contain the name and the e-mail of
	// the user. No scope opens the operations that return these.
	accountEvents = "auth."
)

// streams counts the open streams of each user. It is safe for concurrent use.
type streams struct {
	mu   sync.Mutex
	open map[uuid.UUID]int
}

// enter counts a stream of the user, and reports whether the limit allows it. leave must follow if
// it does.
func (s *streams) enter(user uuid.UUID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[user] >= maxStreams {
		return false
	}
	s.open[user]++
	return true
}

func (s *streams) leave(user uuid.UUID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[user]--; s.open[user] == 0 {
		delete(s.open, user)
	}
}

// StreamEvents sends the acting user's events until the client disconnects or the token expires.
// Package rpc ends it when the token expires. The first message, and one after each heartbeat, has
// a position but no event. A client that was disconnected continues with the last position, and
// receives the events in between. A personal access token receives no events of the account.
//
// Errors: RATE_LIMITED if the user has maxStreams open at this replica, SERVICE_UNAVAILABLE while
// NATS is unavailable, and the error of a position that is not valid for the user.
func (s *Server) StreamEvents(
	req *budgetv1.StreamEventsRequest,
	stream grpc.ServerStreamingServer[budgetv1.StreamEventsResponse],
) error {
	acting, _ := caller.From(stream.Context())
	user, scoped := acting.UserID, acting.Scope != ""
	after, err := s.openPosition(stream.Context(), user, req.GetLastEventId())
	if err != nil {
		return err
	}
	if !s.streams.enter(user) {
		return errTooManyStreams
	}
	defer s.streams.leave(user)
	ctx, stop := context.WithCancel(stream.Context())
	defer stop()
	// Follow runs concurrently, so that heartbeats are sent while no event arrives.
	events, failed := make(chan outbox.Received), make(chan error, 1)
	go func() {
		failed <- s.bus.Follow(ctx, user, after, func(e outbox.Received) error {
			select {
			case events <- e:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	alive := time.NewTicker(heartbeat)
	defer alive.Stop()
	resp := &budgetv1.StreamEventsResponse{}
	for {
		// Each message has a position, so that a client can continue after any of them.
		if resp.Position, err = s.cursors.Seal(eventsOf(user), after); err != nil {
			return err
		}
		if err := stream.Send(resp); err != nil {
			return err
		}
		resp = &budgetv1.StreamEventsResponse{}
		select {
		case err := <-failed:
			return err
		case <-alive.C:
		case e := <-events:
			after = e.Sequence
			if scoped && strings.HasPrefix(e.Subject, accountEvents) {
				continue
			}
			if resp.Event, err = CloudEvent(e); err != nil {
				return err
			}
		}
	}
}

// openPosition returns the sequence number after which a stream continues. Without a position this
// is the present end of the stream, which must be known before the first message: an event that the
// client causes after that message must arrive.
func (s *Server) openPosition(
	ctx context.Context, user uuid.UUID, position string,
) (uint64, error) {
	if position != "" {
		var after uint64
		err := s.cursors.Open(eventsOf(user), position, &after)
		return after, err
	}
	after, err := s.bus.End(ctx)
	if err != nil {
		s.log.WarnContext(ctx, "failed to find the end of the event stream", "error", err)
		return 0, apierr.Unavailable
	}
	return after, nil
}

// eventsOf returns the scope of a user's positions. A position cannot be opened in the scope of
// another user.
func eventsOf(user uuid.UUID) string { return "events " + user.String() }

// CloudEvent converts an event of the stream to the public form, which live streams and webhooks
// share.
func CloudEvent(event outbox.Received) (*budgetv1.Event, error) {
	data, err := anypb.New(event.Data)
	if err != nil {
		return nil, fmt.Errorf("encoding event %s: %w", event.ID, err)
	}
	return &budgetv1.Event{
		Specversion:     "1.0",
		Id:              event.ID.String(),
		Source:          event.Source,
		Type:            event.Subject,
		Subject:         event.UserID.String(),
		Time:            calendar.FormatTime(event.Time),
		Datacontenttype: "application/json",
		Data:            data,
	}, nil
}
