package outbox

import (
	"errors"
	"net/http"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// unstoredSubject is a core NATS subject: the stream does not store its messages.
const unstoredSubject = "outbox.unstored"

var errNotAcknowledged = errors.New("NATS did not acknowledge the event")

// reportUnstored announces that NATS is connected but stores no events. A server whose disk was
// full may reject or ignore all later messages, even when the disk has room again, until it
// restarts. The process that runs the server, if it listens with NotifyUnstored, restarts it. Other
// errors are ignored.
func (b *Bus) reportUnstored(err error) {
	var api *jetstream.APIError
	if errors.Is(err, errNotAcknowledged) ||
		errors.As(err, &api) && api.Code >= http.StatusInternalServerError {
		_ = b.conn.Publish(unstoredSubject, nil)
	}
}

// NotifyUnstored calls f when a relay of any service reports that NATS stores no events, until the
// bus is closed. f must not block. A report may get lost: relays repeat it every few seconds while
// the failure lasts.
func (b *Bus) NotifyUnstored(f func()) error {
	_, err := b.conn.Subscribe(unstoredSubject, func(*nats.Msg) { f() })
	return err
}
