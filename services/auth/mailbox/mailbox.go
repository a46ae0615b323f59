// Package mailbox is the SMTP server of make run and of tests. It delivers nothing: it keeps the
// last mails in memory. Each mail's links are also written to a log, so that a terminal is
// sufficient.
//
// It is for development only, and accepts each mail without authentication.
package mailbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/emersion/go-smtp"
)

const (
	// maxMails is the number of mails that the mailbox keeps.
	maxMails = 200
	maxBytes = 1 << 20
	// ioTimeout limits reading and writing of a connection.
	ioTimeout = 10 * time.Second
)

// Mail is a received mail.
type Mail struct {
	// At is the time at which it was sent.
	At   time.Time
	From string
	To   string
	// MessageID is without angle brackets.
	MessageID string
	Subject   string
	Text      string
	HTML      string
	Links     []string
}

// Mailbox receives mails. The zero value is ready for use.
type Mailbox struct {
	// Log receives a line for each link, if it is not nil.
	Log io.Writer
	// Reject, if set, returns an error for each recipient that the server rejects, for tests.
	Reject func(to string) error

	mu    sync.Mutex
	mails []Mail
	// changed is closed when a mail arrives.
	changed chan struct{}
}

// Serve receives mails until ctx ends.
func (b *Mailbox) Serve(ctx context.Context, lis net.Listener) error {
	receiver := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) {
		return &session{box: b}, nil
	}))
	receiver.Domain, receiver.MaxMessageBytes = "localhost", maxBytes
	receiver.ReadTimeout, receiver.WriteTimeout = ioTimeout, ioTimeout
	receiver.EnableSMTPUTF8 = true
	stop := context.AfterFunc(ctx, func() { _ = receiver.Close() })
	defer stop()
	err := receiver.Serve(lis)
	if errors.Is(err, smtp.ErrServerClosed) {
		return nil
	}
	return err
}

// Mails returns the received mails, newest first.
func (b *Mailbox) Mails() []Mail {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.mails)
}

// Await returns the newest mail to an address whose text contains a substring. It waits for one
// until ctx ends.
func (b *Mailbox) Await(ctx context.Context, to, substring string) (Mail, error) {
	for {
		b.mu.Lock()
		if b.changed == nil {
			b.changed = make(chan struct{})
		}
		changed, mails := b.changed, slices.Clone(b.mails)
		b.mu.Unlock()
		for _, m := range mails {
			if m.To == to && strings.Contains(m.Text, substring) {
				return m, nil
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Mail{}, fmt.Errorf("waiting for a mail to %s: %w", to, ctx.Err())
		}
	}
}

func (b *Mailbox) add(m Mail) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mails = slices.Insert(b.mails, 0, m)
	b.mails = b.mails[:min(len(b.mails), maxMails)]
	if b.changed != nil {
		close(b.changed)
		b.changed = nil
	}
	if b.Log == nil {
		return
	}
	for _, link := range m.Links {
		_, _ = fmt.Fprintf(b.Log, "%s %s %q %s\n",
			m.At.Format(time.TimeOnly), m.To, m.Subject, link)
	}
}

// session receives the mails of a connection.
type session struct {
	box      *Mailbox
	from, to string
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	s.from = from
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	if s.box.Reject != nil {
		if err := s.box.Reject(to); err != nil {
			return &smtp.SMTPError{Code: 550, Message: err.Error()}
		}
	}
	s.to = to
	return nil
}

func (s *session) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	received, err := read(raw)
	if err != nil {
		return &smtp.SMTPError{Code: 554, Message: "malformed mail"}
	}
	received.From, received.To = s.from, s.to
	s.box.add(received)
	return nil
}

func (s *session) Reset() { s.from, s.to = "", "" }

func (s *session) Logout() error { return nil }

// linkPattern matches the links in a text.
var linkPattern = regexp.MustCompile(`https?://\S+`)

// read parses a mail with a text, or with a text and HTML.
func read(raw []byte) (Mail, error) {
	parsed, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		return Mail{}, err
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(parsed.Header.Get("Subject"))
	if err != nil {
		return Mail{}, err
	}
	at, err := parsed.Header.Date()
	if err != nil {
		return Mail{}, err
	}
	received := Mail{
		At:        at,
		MessageID: strings.Trim(parsed.Header.Get("Message-ID"), "<>"), Subject: subject,
	}
	kind, params, err := mime.ParseMediaType(parsed.Header.Get("Content-Type"))
	if err != nil || !strings.HasPrefix(kind, "multipart/") {
		text, err := io.ReadAll(quotedprintable.NewReader(parsed.Body))
		received.Text = string(text)
		received.Links = linkPattern.FindAllString(received.Text, -1)
		return received, err
	}
	parts := multipart.NewReader(parsed.Body, params["boundary"])
	for {
		// NextPart decodes quoted-printable.
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Mail{}, err
		}
		text, err := io.ReadAll(part)
		if err != nil {
			return Mail{}, err
		}
		if strings.HasPrefix(part.Header.Get("Content-Type"), "text/html") {
			received.HTML = string(text)
		} else {
			received.Text = string(text)
		}
	}
	received.Links = linkPattern.FindAllString(received.Text, -1)
	return received, nil
}
