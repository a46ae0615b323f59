package mail

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

const (
	// sendTimeout limits an attempt. leaseTime is longer, so that no second replica sends the mail
	// meanwhile.
	sendTimeout = time.Minute
	leaseTime   = 2 * time.Minute
)

// pauses are the times between the attempts of a mail, in total less than maxAge.
var pauses = []time.Duration{
	time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 3 * time.Hour, 7 * time.Hour,
	12 * time.Hour,
}

// Values of the column status.
const (
	sent    = "sent"
	failed  = "failed"
	dropped = "dropped"
)

// sendNext sends the next due mail, and reports whether there was one. A failed attempt is logged
// and not returned, because the other mails may succeed.
func (o *Outbox) sendNext(ctx context.Context) (bool, error) {
	if !o.Configured() {
		return false, nil
	}
	now := o.Now()
	row, err := leaseMail(ctx, o.DB, now, now.Add(leaseTime))
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	status, err := o.attempt(ctx, row)
	if err == nil {
		return true, endMail(ctx, o.DB, row, status)
	}
	// The texts of SMTP servers contain addresses.
	problem := reason(err)
	if errors.Is(err, errRejected) || row.Attempts > len(pauses) {
		o.Log.WarnContext(ctx, "failed to send a mail, and gave up", "mail", row.ID,
			"template", row.Template, "attempts", row.Attempts, "reason", problem)
		return true, endMail(ctx, o.DB, row, failed)
	}
	o.Log.WarnContext(ctx, "failed to send a mail", "mail", row.ID, "template", row.Template,
		"attempt", row.Attempts, "reason", problem)
	return true, releaseMail(ctx, o.DB, row, o.Now().Add(pauses[row.Attempts-1]))
}

// attempt sends a mail and returns its new status.
func (o *Outbox) attempt(ctx context.Context, row leased) (string, error) {
	if !row.ExpiresAt.After(o.Now()) {
		return dropped, nil
	}
	// A replica may have died after each of the earlier leases.
	if row.Attempts > len(pauses)+1 {
		return failed, nil
	}
	due, err := o.open(row)
	if err != nil {
		return "", err
	}
	if due.UserID == uuid.Nil {
		resolved := false
		err := pg.InTx(ctx, o.DB, func(tx pgx.Tx) error {
			var err error
			resolved, err = o.Resolve(ctx, tx, due)
			return err
		})
		if err != nil {
			return "", err
		}
		if !resolved {
			return dropped, nil
		}
	}
	text, err := o.render(due)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	return sent, o.server.send(ctx, message{
		id: o.messageID(row.ID), from: o.from, to: due.To, written: text, at: o.Now(),
	})
}
