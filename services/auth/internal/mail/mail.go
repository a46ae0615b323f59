// Package mail sends the mails of auth. It owns the table mails.
//
// A mail is queued in the transaction of the change that it reports, and any replica sends it
// (Outbox.Run). Delivery is at-least-once: a replica that dies after it sent a mail and before it
// recorded that causes one repetition, with the same Message-ID. A mail has 8 attempts within 24
// hours.
//
// The addresses and parameters of queued mails are sealed with the service key, and removed once
// the mail is sent. A token in a link is derived from the id of its mail and the service key
// (Outbox.Token), so that no table contains it, and a repetition contains the same link. Logs
// contain neither links nor addresses.
//
// Without SMTP_URL nothing is queued, and Queue reports that.
//
// queue.go queues, store_mails.go has the statements, send.go leases and sends, smtp.go is the
// client, templates.go writes the texts.
package mail

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Config is the configuration of outgoing mail, read from the environment. Without URL no mail is
// sent.
type Config struct {
	// URL is the SMTP server, see parseURL.
	URL string `env:"SMTP_URL,unset"`
	// From is the address of the sender, possibly with a name.
	From string `env:"MAIL_FROM"`
	// PublicURL is the base of all links.
	PublicURL string `env:"PUBLIC_URL"`
	// Verification is what an e-mail that is not verified prevents: off (nothing), soft (inviting
	// others, creating personal access tokens and exporting the account) or required (also signing
	// in). Without a value it is soft if mail is configured, and off otherwise.
	Verification string `env:"EMAIL_VERIFICATION"`
}

// Values of EMAIL_VERIFICATION.
const (
	VerificationOff      = "off"
	VerificationSoft     = "soft"
	VerificationRequired = "required"
)

// Configured reports whether mails can be sent.
func (c Config) Configured() bool { return c.URL != "" }

// Check returns an error that names each invalid variable.
func (c Config) Check() error {
	var problems []error
	if c.PublicURL != "" {
		base, err := url.Parse(c.PublicURL)
		if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" ||
			base.RawQuery != "" || base.Fragment != "" {
			problems = append(problems,
				errors.New("PUBLIC_URL must be a URL like https://coffer.example.com"))
		}
	}
	switch c.Verification {
	case "", VerificationOff:
	case VerificationSoft, VerificationRequired:
		if !c.Configured() {
			problems = append(problems, errors.New("EMAIL_VERIFICATION requires SMTP_URL"))
		}
	default:
		problems = append(problems,
			errors.New("EMAIL_VERIFICATION must be off, soft or required"))
	}
	if !c.Configured() {
		return errors.Join(problems...)
	}
	if _, err := parseURL(c.URL); err != nil {
		problems = append(problems, err)
	}
	if _, err := mail.ParseAddress(c.From); err != nil {
		problems = append(problems,
			errors.New("MAIL_FROM must be an e-mail address, because SMTP_URL is set"))
	}
	if c.PublicURL == "" {
		problems = append(problems, errors.New("PUBLIC_URL is required, because SMTP_URL is set"))
	}
	return errors.Join(problems...)
}

// Mail is a mail to queue.
type Mail struct {
	// ID is a new UUID. The Message-ID and the token of the mail's link are derived from it.
	ID uuid.UUID
	// UserID is the recipient's id, or uuid.Nil if it is unknown.
	UserID uuid.UUID
	// Template is one of the constants in templates.go.
	Template string
	// To is an address that package email has normalized.
	To string
	// Language is a result of Language.
	Language string
	// Params are the parameters of the template.
	Params map[string]string
	// TTL is the time after which the mail would have no effect. The mail is not sent after it, nor
	// after maxAge.
	TTL time.Duration
	// DedupeKey names the event of which the mail informs, which may be delivered more than once.
	DedupeKey string
}

// Token returns the token of the link in a mail. It cannot be guessed without the service key.
func (o *Outbox) Token(id uuid.UUID) string {
	mac := hmac.New(sha256.New, o.tokenKey[:])
	mac.Write(id[:])
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// addressMAC returns the MAC by which mails to an address are counted.
func (o *Outbox) addressMAC(address string) []byte {
	mac := hmac.New(sha256.New, o.addressKey[:])
	mac.Write([]byte(address))
	return mac.Sum(nil)
}

// messageID returns the Message-ID without angle brackets: the id of the mail at the sender's
// domain.
func (o *Outbox) messageID(id uuid.UUID) string {
	_, domain, _ := strings.Cut(o.from.Address, "@")
	return fmt.Sprintf("%s@%s", id, domain)
}
