package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go/jetstream"
)

// End is the place in the stream after which comes what has not happened yet.
func (b *Bus) End(ctx context.Context) (uint64, error) {
	stream, err := b.js.Stream(ctx, streamName)
	if err != nil {
		return 0, fmt.Errorf("finding the stream: %w", err)
	}
	return stream.CachedInfo().State.LastSeq, nil
}

// Follow hands a user's events of all services to yield, in the order of the stream: those after a place in it, and then
// as they come. It returns when ctx ends, or yield's error. While NATS is away it waits.
func (b *Bus) Follow(ctx context.Context, user uuid.UUID, after uint64, yield func(Received) error) error {
	for {
		var failed yieldError
		err := b.follow(ctx, user, &after, yield)
		switch {
		case errors.As(err, &failed):
			return failed.error
		case ctx.Err() != nil:
			return ctx.Err()
		}
		b.log.WarnContext(ctx, "following events", "error", err)
		pause(ctx, relayRetry)
	}
}

// yieldError tells the caller's errors from NATS's.
type yieldError struct{ error }

// forget deletes a consumer that nobody reads from any more. NATS itself would keep it for minutes.
func (b *Bus) forget(ctx context.Context, consumer *jetstream.ConsumerInfo) {
	if consumer == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_ = b.js.DeleteConsumer(ctx, streamName, consumer.Name)
}

func (b *Bus) follow(ctx context.Context, user uuid.UUID, after *uint64, yield func(Received) error) error {
	end, err := b.End(ctx)
	if err != nil {
		return err
	}
	// A place beyond the end is one of a stream that was since made anew.
	*after = min(*after, end)
	consumer, err := b.js.OrderedConsumer(ctx, streamName, jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{"*.v1.*.*." + user.String()},
		DeliverPolicy:  jetstream.DeliverByStartSequencePolicy,
		OptStartSeq:    *after + 1,
	})
	if err != nil {
		return fmt.Errorf("creating a consumer: %w", err)
	}
	messages, err := consumer.Messages()
	if err != nil {
		return fmt.Errorf("reading events: %w", err)
	}
	defer func() {
		messages.Stop()
		b.forget(context.WithoutCancel(ctx), consumer.CachedInfo())
	}()
	stop := context.AfterFunc(ctx, messages.Stop)
	defer stop()
	for {
		m, err := messages.Next()
		if err != nil {
			return fmt.Errorf("reading events: %w", err)
		}
		e, err := decode(m)
		if err != nil {
			b.log.ErrorContext(ctx, "skipping an event", "error", err)
			continue
		}
		if err := yield(e); err != nil {
			return yieldError{err}
		}
		*after = e.Sequence
	}
}
