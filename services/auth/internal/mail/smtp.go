package mail

import (
	"context"
	"errors"
	"fmt"
	"net/mail"
	"net/textproto"
	"net/url"
	"strconv"
	"time"

	smtp "github.com/wneessen/go-mail"
	protocol "github.com/wneessen/go-mail/smtp"
)

// errRejected is returned for a mail that the server rejected permanently, because of its
// recipient.
var errRejected = errors.New("the server rejected the recipient")

// server is an SMTP server. go-mail connects to it for each mail, so that no connection waits idle.
type server struct {
	host    string
	options []smtp.Option
}

// parseURL returns the server of a URL:
//
//	smtp://user:password@host:587?starttls=required   STARTTLS: required (the default) or off
//	smtps://user:password@host:465                    TLS from the start
//
// The error does not repeat the URL, because it contains the password.
func parseURL(text string) (server, error) {
	invalid := errors.New("SMTP_URL must be a URL like smtp://user:password@host:587 or " +
		"smtps://user:password@host:465")
	parsed, err := url.Parse(text)
	if err != nil || parsed.Hostname() == "" {
		return server{}, invalid
	}
	port, options := 587, []smtp.Option{smtp.WithTimeout(sendTimeout / 2)}
	starttls := parsed.Query().Get("starttls")
	switch {
	case parsed.Scheme == "smtps" && starttls == "":
		port, options = 465, append(options, smtp.WithSSL())
	case parsed.Scheme == "smtp" && (starttls == "" || starttls == "required"):
		options = append(options, smtp.WithTLSPolicy(smtp.TLSMandatory))
	case parsed.Scheme == "smtp" && starttls == "off":
		options = append(options, smtp.WithTLSPolicy(smtp.NoTLS))
	default:
		return server{}, invalid
	}
	if parsed.Port() != "" {
		if port, err = strconv.Atoi(parsed.Port()); err != nil {
			return server{}, invalid
		}
	}
	options = append(options, smtp.WithPort(port))
	if name := parsed.User.Username(); name != "" {
		password, _ := parsed.User.Password()
		options = append(options, smtp.WithSMTPAuth(smtp.SMTPAuthAutoDiscover),
			smtp.WithUsername(name), smtp.WithPassword(password))
	}
	return server{host: parsed.Hostname(), options: options}, nil
}

// message is a mail with its texts.
type message struct {
	id   string
	from *mail.Address
	to   string
	written
	at time.Time
}

// send sends a mail. It returns errRejected if a further attempt cannot succeed.
func (s server) send(ctx context.Context, m message) error {
	mail := smtp.NewMsg(smtp.WithNoDefaultUserAgent())
	if err := mail.From(m.from.String()); err != nil {
		return fmt.Errorf("setting the sender: %w", err)
	}
	if err := mail.To(m.to); err != nil {
		return errRejected
	}
	mail.SetMessageIDWithValue(m.id)
	mail.SetDateWithValue(m.at)
	mail.Subject(m.subject)
	// Otherwise mail servers answer with notices of absence.
	mail.SetGenHeader("Auto-Submitted", "auto-generated")
	mail.SetBodyString(smtp.TypeTextPlain, m.text)
	mail.AddAlternativeString(smtp.TypeTextHTML, m.html)
	client, err := smtp.NewClient(s.host, s.options...)
	if err != nil {
		return fmt.Errorf("preparing the SMTP client: %w", err)
	}
	err = client.DialAndSendWithContext(ctx, mail)
	// The session may fail after the server has accepted the mail. Another attempt would send the
	// mail again.
	if mail.IsDelivered() {
		return nil
	}
	if failed, ok := errors.AsType[*smtp.SendError](err); ok &&
		failed.Reason == smtp.ErrSMTPRcptTo && !failed.IsTemp() {
		return errRejected
	}
	return err
}

// reason returns the cause of a failed attempt without texts of the server, which may contain
// addresses.
func reason(err error) string {
	if failed, ok := errors.AsType[*smtp.SendError](err); ok {
		return fmt.Sprintf("%s (%d)", failed.Reason, failed.ErrorCode())
	}
	// The other errors are those of the connection and the authentication.
	if answer, ok := errors.AsType[*textproto.Error](err); ok {
		return fmt.Sprintf("the server rejected the connection or the login (%d)", answer.Code)
	}
	_, malformed := errors.AsType[textproto.ProtocolError](err)
	if malformed || errors.Is(err, protocol.ErrUnexpectedServerResponse) {
		return "the response of the server is not valid"
	}
	return err.Error()
}
