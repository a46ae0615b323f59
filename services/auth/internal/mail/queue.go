package mail

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/mail"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/seal"
)

const (
	// maxAge is the time after which a mail is not sent any more.
	maxAge = 24 * time.Hour
	// Limits of mails to one address within LimitWindow.
	perTemplate = 5
	perAddress  = 20
	// LimitWindow is the time after which an address that has reached a limit gets mails again.
	LimitWindow = 24 * time.Hour
	// logKept is the retention of the log of mails.
	logKept = 30 * 24 * time.Hour
)

// Options are the dependencies of an Outbox.
type Options struct {
	Config     Config
	DB         *pgxpool.Pool
	ServiceKey string
	Now        func() time.Time
	Log        *slog.Logger
	// Resolve is called for a mail without a user before each attempt, in a transaction. It finds
	// the recipient and creates the link. It reports false for a mail that must not be sent, for
	// example to an address without an account.
	Resolve func(ctx context.Context, tx pgx.Tx, due *Due) (bool, error)
}

// Outbox queues mails and sends them. All replicas share the table mails.
type Outbox struct {
	Options
	*jobs.Worker
	from *mail.Address
	// server is the zero value without SMTP_URL.
	server                       server
	tokenKey, addressKey, sealer seal.Key
}

// New returns an outbox. Its mails wait until Run is called. The configuration must have passed
// Check.
func New(options Options) (*Outbox, error) {
	outbox := &Outbox{
		Options:    options,
		from:       &mail.Address{},
		tokenKey:   seal.NewKey(options.ServiceKey, "mail link"),
		addressKey: seal.NewKey(options.ServiceKey, "mail address"),
		sealer:     seal.NewKey(options.ServiceKey, "mail"),
	}
	outbox.Worker = jobs.NewWorker(jobs.PollInterval, options.Log, "failed to lease a mail",
		outbox.sendNext)
	if !options.Config.Configured() {
		return outbox, nil
	}
	var err error
	if outbox.server, err = parseURL(options.Config.URL); err != nil {
		return nil, err
	}
	if outbox.from, err = mail.ParseAddress(options.Config.From); err != nil {
		return nil, fmt.Errorf("parsing MAIL_FROM: %w", err)
	}
	return outbox, nil
}

// Configured reports whether mails can be sent.
func (o *Outbox) Configured() bool { return o.Config.Configured() }

// Queue stores a mail in the transaction of the change that it reports, and reports whether it did.
// It does nothing without SMTP_URL, for a used DedupeKey, and beyond the limits of the address.
// Mails to one address are queued one after the other, so that simultaneous ones do not exceed the
// limits. Call Wake after the commit.
func (o *Outbox) Queue(ctx context.Context, tx pgx.Tx, queued Mail) (bool, error) {
	if !o.Configured() {
		return false, nil
	}
	params, err := json.Marshal(queued.Params)
	if err != nil {
		return false, fmt.Errorf("encoding the parameters of a mail: %w", err)
	}
	now := o.Now().UTC()
	row := newMail{
		Mail: queued, toMAC: o.addressMAC(queued.To), now: now,
		expires: now.Add(min(queued.TTL, maxAge)),
	}
	if row.to, err = o.sealer.Seal([]byte(queued.To), "to "+queued.ID.String()); err != nil {
		return false, err
	}
	if row.params, err = o.sealer.Seal(params, "params "+queued.ID.String()); err != nil {
		return false, err
	}
	return insertMail(ctx, tx, row)
}

// open returns a leased row with its address and parameters.
func (o *Outbox) open(row leased) (*Due, error) {
	due := &Due{
		ID: row.ID, Template: row.Template, Language: row.Language, CreatedAt: row.CreatedAt,
		Params: map[string]string{},
	}
	if row.UserID != nil {
		due.UserID = *row.UserID
	}
	to, err := o.sealer.Open(row.ToSealed, "to "+row.ID.String())
	if err != nil {
		return nil, fmt.Errorf("opening the address of a mail: %w", err)
	}
	params, err := o.sealer.Open(row.ParamsSealed, "params "+row.ID.String())
	if err != nil {
		return nil, fmt.Errorf("opening the parameters of a mail: %w", err)
	}
	due.To = string(to)
	return due, json.Unmarshal(params, &due.Params)
}

// Due is a mail that is about to be sent.
type Due struct {
	ID        uuid.UUID
	UserID    uuid.UUID
	Template  string
	Language  string
	To        string
	Params    map[string]string
	CreatedAt time.Time
}

// DeleteTo deletes the mails to an address, also from the log, because its account is deleted.
func (o *Outbox) DeleteTo(ctx context.Context, tx pgx.Tx, address string) error {
	return deleteMailsTo(ctx, tx, o.addressMAC(address))
}

// Expire deletes rows that the limits and the log do not need any more.
func (o *Outbox) Expire(ctx context.Context) error {
	now := o.Now()
	return deleteMails(ctx, o.DB, now.Add(-logKept), now.Add(-LimitWindow))
}

// Language returns the language of mails for the value of a header Accept-Language: the first one
// in which the templates exist, or English. The header lists languages by preference.
func Language(accepted string) string {
	for tag := range strings.SplitSeq(accepted, ",") {
		tag, _, _ = strings.Cut(strings.TrimSpace(tag), ";")
		tag, _, _ = strings.Cut(strings.ToLower(tag), "-")
		if tag == "de" || tag == "en" {
			return tag
		}
	}
	return "en"
}
