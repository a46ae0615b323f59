package deletion

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"

	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/auth/internal/links"
)

const (
	// askAgain is the time after which a service that has not reported is asked again, because the
	// event may have been lost with the stream.
	askAgain = time.Hour
	// eraseTimeout limits the deletion of events, and the wait before it.
	eraseTimeout = time.Minute
	// measureTimeout limits the time that a gauge may delay a scrape of the metrics.
	measureTimeout = time.Second
)

// Consumer returns the consumer of the reports of the services.
func (s *Server) Consumer() outbox.Consumer {
	return outbox.Consumer{
		Name: "auth-erasures", Subject: "*.v1.user.erased", Apply: s.noteReports, Applied: s.Wake,
	}
}

// noteReports stores the reports of the services, whose subjects have the id of the deletion in the
// place of a user. A repeated report changes nothing.
func (s *Server) noteReports(ctx context.Context, tx pgx.Tx, events []outbox.Received) error {
	for _, event := range events {
		var err error
		switch event.Data.(type) {
		case *budgetv1.UserErased:
			err = updateBudgetAt(ctx, tx, event.UserID, event.Time)
		case *ledgerv1.UserErased:
			err = updateLedgerAt(ctx, tx, event.UserID, event.Time)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// work does the next step of each deletion whose grace period has ended. A deletion that fails is
// repeated by the next poll, and does not prevent the others.
func (s *Server) work(ctx context.Context) (more bool, err error) {
	due, err := selectDue(ctx, s.DB, s.Now())
	if err != nil {
		return false, err
	}
	var errs []error
	for _, d := range due {
		if d.next() == "" {
			errs = append(errs, s.finish(ctx, d))
			continue
		}
		ask := func(tx pgx.Tx) error { return s.ask(ctx, tx, d.ID) }
		errs = append(errs, pg.InTx(ctx, s.DB, ask))
	}
	return false, errors.Join(errs...)
}

// ask publishes the event that asks the next service to delete what it stores. Of simultaneous
// calls one publishes.
func (s *Server) ask(ctx context.Context, tx pgx.Tx, id uuid.UUID) error {
	now := s.Now().UTC()
	d, err := lockDeletion(ctx, tx, id)
	if err != nil {
		// Otherwise another replica has completed it.
		return pg.IfNoRows(err, nil)
	}
	next := d.next()
	if next == "" || d.Asked == next && d.AskedAt.After(now.Add(-askAgain)) {
		return nil
	}
	// Otherwise a link could change the e-mail after a service has deleted rows that contain it.
	if err := links.EndAll(ctx, tx, *d.UserID, now); err != nil {
		return err
	}
	user, err := selectAccount(ctx, tx, *d.UserID)
	if err != nil {
		return err
	}
	if err := updateAsked(ctx, tx, id, next, now); err != nil {
		return err
	}
	return s.Publish(ctx, tx, user.ID, &authv1.UserErasing{
		DeletionId: id.String(), Service: next, Email: user.Email,
	})
}

// finish deletes the events of a user, and then the user with all dependent rows. While events of
// the user are in the outbox, it does nothing, and the next poll repeats it: otherwise they could
// be published after the deletion of the others.
func (s *Server) finish(ctx context.Context, d deletion) error {
	user, err := selectAccount(ctx, s.DB, *d.UserID)
	if err != nil {
		// Otherwise another replica has completed it.
		return pg.IfNoRows(err, nil)
	}
	publishing, err := selectPublishing(ctx, s.DB, user.ID)
	if err != nil || publishing {
		return err
	}
	erasing, cancel := context.WithTimeout(ctx, eraseTimeout)
	defer cancel()
	// Otherwise an entry that names the user could follow the deletion of the others.
	if err := s.AwaitApplied(erasing); err != nil {
		return fmt.Errorf("waiting for the audit trail: %w", err)
	}
	if err := s.EraseEvents(erasing, user.ID, user.Email); err != nil {
		return fmt.Errorf("deleting the events: %w", err)
	}
	events := s.Now().UTC()
	return pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		// The lock makes requests that publish events of the user wait.
		locked, err := lockAccount(ctx, tx, user.ID)
		if err != nil {
			return pg.IfNoRows(err, nil)
		}
		// The next poll deletes what contains the new e-mail.
		if locked.Email != user.Email {
			return nil
		}
		publishing, err := selectPublishing(ctx, tx, user.ID)
		if err != nil || publishing {
			return err
		}
		if err := s.Mails.DeleteTo(ctx, tx, user.Email); err != nil {
			return err
		}
		if err := deleteUser(ctx, tx, user); err != nil {
			return err
		}
		return updateErased(ctx, tx, d.ID, events, s.Now().UTC())
	})
}

// Measure publishes the time since the oldest deletion should have begun, until stop is called. It
// is 0 without such a deletion, and has no value while the database is unavailable.
func (s *Server) Measure() (stop func() error, err error) {
	meter := otel.Meter("github.com/coffer-budget/coffer/services/auth")
	const description = "Time since the grace period of the oldest unfinished deletion ended."
	age, err := meter.Int64ObservableGauge("auth.deletions.age",
		metric.WithUnit("s"), metric.WithDescription(description))
	if err != nil {
		return nil, fmt.Errorf("setting up metrics: %w", err)
	}
	registered, err := meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		ctx, cancel := context.WithTimeout(ctx, measureTimeout)
		defer cancel()
		if seconds, err := selectOldestAge(ctx, s.DB, s.Now()); err == nil {
			o.ObserveInt64(age, seconds)
		}
		return nil
	}, age)
	if err != nil {
		return nil, fmt.Errorf("setting up metrics: %w", err)
	}
	return registered.Unregister, nil
}
