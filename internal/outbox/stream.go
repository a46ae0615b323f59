package outbox

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/coffer-budget/coffer/internal/mtls"
)

// streamName is of the stream that holds the events of all services in one sequence. A message's subject is the event's, a
// dot, and the user's id: ledger.v1.transaction.created.0199f0c5-....
const streamName = "COFFER"

// retention is how long events can be read again.
const retention = 7 * 24 * time.Hour

// CloudEvents 1.0 attributes, in the binary mode of its NATS protocol binding.
const (
	headerSpecVersion = "ce-specversion"
	headerID          = "ce-id"
	headerSource      = "ce-source"
	headerType        = "ce-type"
	headerSchema      = "ce-dataschema"
	headerSubject     = "ce-subject"
	headerTime        = "ce-time"
	headerContentType = "ce-datacontenttype"
	// headerTraceparent is that of CloudEvents' extension for distributed tracing.
	headerTraceparent = "ce-traceparent"
)

// natsUser is the user that deploy/k8s configures in NATS.
const natsUser = "coffer"

// Config says where a service's events go to and come from.
type Config struct {
	// NATSURL is the URL of the NATS servers, with user and password unless NATSPassword is set.
	NATSURL string `env:"NATS_URL,required,notEmpty,unset"`
	// NATSPassword is the password of natsUser, for a URL without one.
	NATSPassword string `env:"NATS_PASSWORD,unset"`
	// NATSReplicas is on how many servers each event is kept; 3 in production.
	NATSReplicas int `env:"NATS_REPLICAS" envDefault:"1"`
	// TLS is what the service shows other services, and shows NATS as well, which must prove to be "nats" then.
	TLS mtls.Config
}

// Bus is a service's connection to the stream. It never gives up: while NATS is away events wait in the outbox, and
// consumers for it.
type Bus struct {
	conn     *nats.Conn
	js       jetstream.JetStream
	replicas int
	// service is the event's source, as in CloudEvents, and names the connection.
	service string
	// nudged is when the relay was nudged last, in Unix nanoseconds.
	nudged atomic.Int64
	log    *slog.Logger
}

// Connect returns without waiting for NATS. It fails only on a malformed URL or on certificates that cannot be read.
func Connect(config Config, service string, log *slog.Logger) (*Bus, error) {
	options := []nats.Option{
		nats.Name(service), nats.MaxReconnects(-1), nats.RetryOnFailedConnect(true), nats.ReconnectWait(250 * time.Millisecond),
		// A password is changed here or there first.
		nats.IgnoreAuthErrorAbort(),
		// Nothing may sit in a buffer that is sent after a later try of the same event.
		nats.ReconnectBufSize(-1),
		// What was nudged for meanwhile is lost.
		nats.ReconnectHandler(func(conn *nats.Conn) { _ = conn.Publish(nudgeSubject(service), nil) }),
	}
	if config.NATSPassword != "" {
		options = append(options, nats.UserInfo(natsUser, config.NATSPassword))
	}
	if config.TLS.On() {
		options = append(options,
			nats.Secure(&tls.Config{MinVersion: tls.VersionTLS13, ServerName: "nats"}),
			// Read again on each connection, so that a rotated certificate counts.
			nats.ClientTLSConfig(config.TLS.Certificate, config.TLS.Authority))
	}
	conn, err := nats.Connect(config.NATSURL, options...)
	if err != nil {
		return nil, fmt.Errorf("connecting to NATS: %w", err)
	}
	// Without a timeout, events that NATS never acknowledges count as outstanding until the connection is renewed, and in the
	// end no other can be published.
	js, err := jetstream.New(conn, jetstream.WithPublishAsyncTimeout(2*publishTimeout))
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("opening JetStream: %w", err)
	}
	return &Bus{conn: conn, js: js, replicas: config.NATSReplicas, service: service, log: log}, nil
}

// Close ends the connection.
func (b *Bus) Close() { b.conn.Close() }

// EnsureStream creates the stream, or brings its settings up to date.
func (b *Bus) EnsureStream(ctx context.Context) error {
	want := jetstream.StreamConfig{
		Name:       streamName,
		Subjects:   []string{"auth.v1.>", "ledger.v1.>", "budget.v1.>"},
		Storage:    jetstream.FileStorage,
		Retention:  jetstream.LimitsPolicy,
		MaxAge:     retention,
		Replicas:   b.replicas,
		Duplicates: 10 * time.Minute,
	}
	stream, err := b.js.Stream(ctx, streamName)
	if err == nil && upToDate(stream.CachedInfo().Config, want) {
		return nil
	}
	if _, err := b.js.CreateOrUpdateStream(ctx, want); err != nil {
		return fmt.Errorf("creating the event stream: %w", err)
	}
	return nil
}

// upToDate spares NATS an update at each start of each replica.
func upToDate(is, want jetstream.StreamConfig) bool {
	return slices.Equal(is.Subjects, want.Subjects) && is.MaxAge == want.MaxAge && is.Replicas == want.Replicas &&
		is.Duplicates == want.Duplicates
}

// Received is an event as it comes out of the stream.
type Received struct {
	ID     uuid.UUID
	UserID uuid.UUID
	// Subject is the event's, without the user.
	Subject string
	// Source is /coffer/ and the service.
	Source string
	Time   time.Time
	// Sequence is its place in the stream.
	Sequence uint64
	Data     proto.Message

	traceparent string
}

// decode reads a message of the stream. The program must link the event's generated code.
func decode(m jetstream.Msg) (Received, error) {
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
	data, err := (&anypb.Any{TypeUrl: h.Get(headerSchema), Value: m.Data()}).UnmarshalNew()
	if err != nil {
		return Received{}, fmt.Errorf("decoding event %s: %w", id, err)
	}
	return Received{
		ID: id, UserID: user, Subject: h.Get(headerType), Source: h.Get(headerSource), Time: at,
		Sequence: meta.Sequence.Stream, Data: data, traceparent: h.Get(headerTraceparent),
	}, nil
}
