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

// streamName names the stream that holds the events of all services in one sequence. A message's
// subject is the event's type, a dot, and the user's id:
// ledger.v1.transaction.created.0199f0c5-....
const streamName = "COFFER"

// retention is how long the stream keeps events. Consumers and live streams can resume within that
// time.
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
	// headerTraceparent belongs to CloudEvents' extension for distributed tracing.
	headerTraceparent = "ce-traceparent"
)

// natsUser is the user that deploy/k8s configures in NATS.
const natsUser = "coffer"

// Config is the configuration of a service's connection to NATS, read from the environment.
type Config struct {
	// NATSURL is the URL of the NATS servers, with user and password unless NATSPassword is set.
	NATSURL string `env:"NATS_URL,required,notEmpty,unset"`
	// NATSPassword is the password of natsUser, if the URL contains none.
	NATSPassword string `env:"NATS_PASSWORD,unset"`
	// NATSReplicas is the number of servers that store each event: 3 in production.
	NATSReplicas int `env:"NATS_REPLICAS" envDefault:"1"`
	// TLS holds the certificate that the service presents to other services and to NATS. If it is
	// set, the NATS server must present a certificate for the name "nats".
	TLS mtls.Config
}

// Bus is a service's connection to the stream. It reconnects for as long as it is open. While NATS
// is unavailable, events wait in the outbox and consumers wait for NATS. It is safe for concurrent
// use.
type Bus struct {
	conn     *nats.Conn
	js       jetstream.JetStream
	replicas int
	// service is the name of the connection and, as /coffer/<service>, the CloudEvents source of
	// its events.
	service string
	// woken is the time of the last wake message, in Unix nanoseconds. Wake sends at most one per
	// minPollInterval.
	woken atomic.Int64
	log   *slog.Logger
}

// Connect returns a bus for the named service without waiting for NATS. It fails only if the URL is
// malformed or the certificates cannot be read. The caller must Close the bus.
func Connect(config Config, service string, log *slog.Logger) (*Bus, error) {
	options := []nats.Option{
		nats.Name(service), nats.MaxReconnects(-1), nats.RetryOnFailedConnect(true),
		nats.ReconnectWait(250 * time.Millisecond),
		// By default the client gives up after two authorization errors. When a password is
		// rotated, client and server change at different times.
		nats.IgnoreAuthErrorAbort(),
		// No buffering: a buffered event could be sent after a later attempt of the same event, out
		// of order.
		nats.ReconnectBufSize(-1),
		// Wake messages sent while the connection was down are lost.
		nats.ReconnectHandler(func(conn *nats.Conn) {
			_ = conn.Publish(wakeSubject(service), nil)
		}),
	}
	if config.NATSPassword != "" {
		options = append(options, nats.UserInfo(natsUser, config.NATSPassword))
	}
	if config.TLS.On() {
		options = append(options,
			nats.Secure(&tls.Config{MinVersion: tls.VersionTLS13, ServerName: "nats"}),
			// The files are read again for each connection, so that a rotated certificate is used
			// without a restart.
			nats.ClientTLSConfig(config.TLS.Certificate, config.TLS.Authority))
	}
	conn, err := nats.Connect(config.NATSURL, options...)
	if err != nil {
		return nil, fmt.Errorf("connecting to NATS: %w", err)
	}
	// Without a timeout, events that NATS never acknowledges count as outstanding until the next
	// reconnect. Once the maximum is reached, no event can be published.
	js, err := jetstream.New(conn, jetstream.WithPublishAsyncTimeout(2*publishTimeout))
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("opening JetStream: %w", err)
	}
	return &Bus{conn: conn, js: js, replicas: config.NATSReplicas, service: service, log: log}, nil
}

// Close closes the connection. Events stay in the outbox until another replica relays them.
func (b *Bus) Close() { b.conn.Close() }

// EnsureStream creates the stream if it is missing and updates its settings if they differ.
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

// upToDate reports whether the stream has the wanted settings. It avoids an update at each start of
// each replica.
func upToDate(is, want jetstream.StreamConfig) bool {
	return slices.Equal(is.Subjects, want.Subjects) && is.MaxAge == want.MaxAge &&
		is.Replicas == want.Replicas && is.Duplicates == want.Duplicates
}

// Received is an event read from the stream.
type Received struct {
	ID     uuid.UUID
	UserID uuid.UUID
	// Subject is the event's type, such as ledger.v1.transaction.created. It does not include
	// the user's id.
	Subject string
	// Source is /coffer/ followed by the name of the publishing service.
	Source string
	Time   time.Time
	// Sequence is the event's position in the stream, which Follow accepts.
	Sequence uint64
	Data     proto.Message

	traceparent string
}

// decode decodes a message of the stream. The program must link the event's generated code.
func decode(msg jetstream.Msg) (Received, error) {
	meta, err := msg.Metadata()
	if err != nil {
		return Received{}, fmt.Errorf("reading the metadata of an event: %w", err)
	}
	header := msg.Headers()
	id, err := uuid.Parse(header.Get(headerID))
	if err != nil {
		return Received{}, fmt.Errorf("event %d has no valid id: %w", meta.Sequence.Stream, err)
	}
	user, err := uuid.Parse(header.Get(headerSubject))
	if err != nil {
		return Received{}, fmt.Errorf("event %s has no valid user id: %w", id, err)
	}
	at, err := time.Parse(time.RFC3339Nano, header.Get(headerTime))
	if err != nil {
		return Received{}, fmt.Errorf("event %s has no valid time: %w", id, err)
	}
	data, err := decodeData(msg)
	if err != nil {
		return Received{}, fmt.Errorf("decoding event %s: %w", id, err)
	}
	return Received{
		ID: id, UserID: user, Subject: header.Get(headerType), Source: header.Get(headerSource),
		Time:     at,
		Sequence: meta.Sequence.Stream, Data: data, traceparent: header.Get(headerTraceparent),
	}, nil
}

// decodeData decodes the data of a message alone.
func decodeData(msg jetstream.Msg) (proto.Message, error) {
	data := anypb.Any{TypeUrl: msg.Headers().Get(headerSchema), Value: msg.Data()}
	return data.UnmarshalNew()
}
