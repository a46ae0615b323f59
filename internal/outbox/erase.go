package outbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go/jetstream"
	"google.golang.org/protobuf/reflect/protopath"
	"google.golang.org/protobuf/reflect/protorange"
)

// sharing selects the events of users that may name other users. All other events name only the
// user who receives them.
const sharing = "budget.v1.*.*.*"

// Erase deletes all events of a user from the stream, and the events of other users in which a
// field is the id of the user or another of the texts. It reads the events of the budget service.
// The caller must have ended the publication of such events.
func (b *Bus) Erase(ctx context.Context, user uuid.UUID, texts ...string) error {
	stream, err := b.js.Stream(ctx, streamName)
	if err != nil {
		return fmt.Errorf("finding the stream: %w", err)
	}
	err = stream.Purge(ctx, jetstream.WithPurgeSubject("*.v1.*.*."+user.String()))
	if err != nil {
		return fmt.Errorf("deleting the events of a user: %w", err)
	}
	last, err := stream.GetLastMsgForSubject(ctx, sharing)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the last event of the budget service: %w", err)
	}
	texts = append(texts, user.String())
	naming, err := b.naming(ctx, last.Sequence, texts)
	if err != nil {
		return err
	}
	for _, sequence := range naming {
		err := stream.SecureDeleteMsg(ctx, sequence)
		if err != nil && !errors.Is(err, jetstream.ErrMsgNotFound) {
			return fmt.Errorf("deleting an event that names a user: %w", err)
		}
	}
	return nil
}

// naming returns the sequences of the events of the budget service up to last in which a field is
// one of some texts.
func (b *Bus) naming(
	ctx context.Context, last uint64, texts []string,
) (naming []uint64, err error) {
	consumer, err := b.js.OrderedConsumer(ctx, streamName, jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{sharing}, DeliverPolicy: jetstream.DeliverAllPolicy,
	})
	if err != nil {
		return nil, fmt.Errorf("creating a consumer: %w", err)
	}
	messages, err := consumer.Messages()
	if err != nil {
		return nil, fmt.Errorf("reading events: %w", err)
	}
	defer func() {
		messages.Stop()
		b.deleteConsumer(context.WithoutCancel(ctx), consumer.CachedInfo())
	}()
	stop := context.AfterFunc(ctx, messages.Stop)
	defer stop()
	for {
		message, err := messages.Next()
		if err != nil {
			return nil, fmt.Errorf("reading events: %w", err)
		}
		meta, err := message.Metadata()
		if err != nil {
			return nil, fmt.Errorf("reading the metadata of an event: %w", err)
		}
		if contains(message, texts) {
			naming = append(naming, meta.Sequence.Stream)
		}
		if meta.Sequence.Stream >= last {
			return naming, nil
		}
	}
}

// contains reports whether a field of an event is one of some texts. An e-mail can be the end of
// another user's e-mail, so it compares whole fields. Only in fields and events that this release
// does not know, because a later one has published them, it searches for the texts.
func contains(message jetstream.Msg, texts []string) (found bool) {
	event, err := decodeData(message)
	if err != nil {
		return containsAny(message.Data(), texts)
	}
	// The error is that of the callback, which ends the walk with protorange.Terminate.
	_ = protorange.Range(event.ProtoReflect(), func(path protopath.Values) error {
		switch value := path.Index(-1).Value.Interface().(type) {
		case string:
			found = slices.Contains(texts, value)
		case []byte:
			found = containsAny(value, texts)
		}
		if found {
			return protorange.Terminate
		}
		return nil
	})
	return found
}

func containsAny(data []byte, texts []string) bool {
	return slices.ContainsFunc(texts, func(text string) bool {
		return bytes.Contains(data, []byte(text))
	})
}
