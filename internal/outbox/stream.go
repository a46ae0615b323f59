package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// Stream holds the events of all services in one sequence. A message's subject is the event's, a dot, and the user's id:
// ledger.v1.transaction.created.0199f0c5-....
const Stream = "COFFER"

// Retention is how long events can be read again.
const Retention = 7 * 24 * time.Hour

// CloudEvents 1.0 attributes, in the binary mode of its NATS protocol binding.
const (
	headerSpecVersion = "ce-specversion"
	headerID          = "ce-id"
	headerSource      = "ce-source"
	headerType        = "ce-type"
	headerSubject     = "ce-subject"
	headerTime        = "ce-time"
	headerContentType = "ce-datacontenttype"
)

// Connect returns a JetStream connection that never gives up: while NATS is away publishing fails and consuming waits.
func Connect(url, name string) (*nats.Conn, jetstream.JetStream, error) {
	conn, err := nats.Connect(url, nats.Name(name), nats.MaxReconnects(-1), nats.RetryOnFailedConnect(true),
		nats.ReconnectWait(250*time.Millisecond),
		// Nothing may sit in a buffer that is sent after a later try of the same event.
		nats.ReconnectBufSize(-1))
	if err != nil {
		return nil, nil, fmt.Errorf("connecting to NATS: %w", err)
	}
	js, err := jetstream.New(conn)
	if err != nil {
		conn.Close()
		return nil, nil, fmt.Errorf("opening JetStream: %w", err)
	}
	return conn, js, nil
}

// EnsureStream creates the stream, or brings its settings up to date. replicas is 3 in production.
func EnsureStream(ctx context.Context, js jetstream.JetStream, replicas int) error {
	_, err := js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name:       Stream,
		Subjects:   []string{"auth.v1.>", "ledger.v1.>", "budget.v1.>"},
		Storage:    jetstream.FileStorage,
		Retention:  jetstream.LimitsPolicy,
		MaxAge:     Retention,
		Replicas:   replicas,
		Duplicates: 10 * time.Minute,
	})
	if err != nil {
		return fmt.Errorf("creating the event stream: %w", err)
	}
	return nil
}

// Received is an event as it comes out of the stream.
type Received struct {
	ID     uuid.UUID
	UserID uuid.UUID
	// Subject is the event's, without the user.
	Subject string
	Time    time.Time
	// Sequence is its place in the stream.
	Sequence uint64
	Data     proto.Message
}

// Decode reads a message of the stream. The program must link the event's generated code.
func Decode(m jetstream.Msg) (Received, error) {
	meta, err := m.Metadata()
	if err != nil {
		return Received{}, fmt.Errorf("reading an event's metadata: %w", err)
	}
	h := m.Headers()
	id, err := uuid.Parse(h.Get(headerID))
	if err != nil {
		return Received{}, fmt.Errorf("event %d has no id: %w", meta.Sequence.Stream, err)
	}
	user, err := uuid.Parse(h.Get(headerSubject))
	if err != nil {
		return Received{}, fmt.Errorf("event %s has no user: %w", id, err)
	}
	at, err := time.Parse(time.RFC3339Nano, h.Get(headerTime))
	if err != nil {
		return Received{}, fmt.Errorf("event %s has no time: %w", id, err)
	}
	kind, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName(h.Get(headerType)))
	if err != nil {
		return Received{}, fmt.Errorf("event %s has an unknown type: %w", id, err)
	}
	data := kind.New().Interface()
	if err := proto.Unmarshal(m.Data(), data); err != nil {
		return Received{}, fmt.Errorf("decoding event %s: %w", id, err)
	}
	subject := m.Subject()[:max(0, len(m.Subject())-len(user.String())-1)]
	return Received{ID: id, UserID: user, Subject: subject, Time: at, Sequence: meta.Sequence.Stream, Data: data}, nil
}
