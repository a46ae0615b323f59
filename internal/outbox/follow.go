package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go/jetstream"
)

// End returns the sequence number of the last event in the stream. Following from there yields only
// new events.
func (b *Bus) End(ctx context.Context) (uint64, error) {
	stream, err := b.js.Stream(ctx, streamName)
	if err != nil {
		return 0, fmt.Errorf("finding the stream: %w", err)
	}
	return stream.CachedInfo().State.LastSeq, nil
}

// Follow calls yield for a user's events of all services, in the order of the stream: first the
// stored events whose sequence is greater than after, then new ones as they arrive. It returns
// yield's error, or ctx's error when ctx ends. While NATS is unavailable it waits and resumes after
// the last yielded event.
func (b *Bus) Follow(
	ctx context.Context, user uuid.UUID, after uint64, yield func(Received) error,
) error {
	for {
		var failed yieldError
		err := b.follow(ctx, user, &after, yield)
		switch {
		case errors.As(err, &failed):
			return failed.error
		case ctx.Err() != nil:
			return ctx.Err()
		}
		b.log.WarnContext(ctx, "failed to follow events", "error", err)
		sleep(ctx, retryInterval)
	}
}

// yieldError marks an error of the caller's yield, which ends Follow. After all other errors Follow
// tries again.
type yieldError struct{ error }

// deleteConsumer deletes a consumer after its last use. Otherwise NATS keeps it for minutes.
func (b *Bus) deleteConsumer(ctx context.Context, consumer *jetstream.ConsumerInfo) {
	if consumer == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_ = b.js.DeleteConsumer(ctx, streamName, consumer.Name)
}

// follow reads events until the first error and moves after past each event that yield has
// accepted.
func (b *Bus) follow(
	ctx context.Context, user uuid.UUID, after *uint64, yield func(Received) error,
) error {
	end, err := b.End(ctx)
	if err != nil {
		return err
	}
	// A sequence beyond the end comes from a stream that was deleted and created again since.
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
		b.deleteConsumer(context.WithoutCancel(ctx), consumer.CachedInfo())
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
			b.log.ErrorContext(ctx, "failed to decode an event, skipping it", "error", err)
			continue
		}
		if err := yield(e); err != nil {
			return yieldError{err}
		}
		*after = e.Sequence
	}
}
