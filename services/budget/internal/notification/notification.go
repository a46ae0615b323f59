// Package notification informs users about their budgets: it publishes the service's events, stores
// important ones as notifications, raises alerts when spending reaches a threshold, and serves the
// live stream of a user's events.
//
// Server.Publish and PublishEach add events to the outbox, in the transaction of the change that
// they describe. An event that concerns a user and was caused by another user is also stored as a
// notification with the event's id, in the same transaction. Store stores events of other services
// as notifications, such as the end of an import. Notifications are deleted after a year.
//
// An alert takes three steps. The consumer of the ledger's events queues checks of budgets and
// windows (QueueChecks); a change of a budget queues one too (QueueCheck). A worker (Alerts)
// leases due checks and asks the ledger for the spending. It raises each threshold that the
// spending has reached at most once per window: a unique row decides. Many events cause one check.
// Nothing is counted from events, so a repeated event changes nothing. Only current and recent
// windows raise alerts (ADR 44).
//
// The stream follows a user's events of all services from a sealed position, and ends with the
// user's token.
//
// Start reading with PublishEach in publish.go, settle in alerts.go, and StreamEvents in stream.go.
// notifications.go has the RPCs of stored notifications.
package notification

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/page"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// retention is the time for which a notification is kept, read or not.
const retention = 365 * 24 * time.Hour

// Dependencies are the parts of the process that the package uses.
type Dependencies struct {
	DB      *pgxpool.Pool
	Ledger  ledgerv1.LedgerServiceClient
	Cursors page.Cursors
	// Bus is used by the stream. WakeRelay makes the outbox relay publish new events soon.
	Bus       *outbox.Bus
	WakeRelay func()
	Log       *slog.Logger
	Now       func() time.Time
	NewID     func() uuid.UUID
}

// Server implements NotificationService, and publishes events for the other services of the package
// budget.
type Server struct {
	budgetv1.UnsafeNotificationServiceServer

	db        *pgxpool.Pool
	ledger    ledgerv1.LedgerServiceClient
	cursors   page.Cursors
	bus       *outbox.Bus
	wakeRelay func()
	streams   streams
	Alerts    *jobs.Worker
	log       *slog.Logger
	now       func() time.Time
	newID     func() uuid.UUID
}

var _ budgetv1.NotificationServiceServer = (*Server)(nil)

// New returns a server. Alerts are raised while Alerts.Run is running.
func New(dependencies Dependencies) *Server {
	server := &Server{
		db:        dependencies.DB,
		ledger:    dependencies.Ledger,
		cursors:   dependencies.Cursors,
		bus:       dependencies.Bus,
		wakeRelay: dependencies.WakeRelay,
		streams:   streams{open: map[uuid.UUID]int{}},
		log:       dependencies.Log,
		now:       dependencies.Now,
		newID:     dependencies.NewID,
	}
	server.Alerts = jobs.NewWorker(jobs.PollInterval, dependencies.Log,
		"failed to check budgets for alerts", func(ctx context.Context) (more bool, err error) {
			checked, err := server.CheckBudgets(ctx)
			// A full batch suggests that more are due.
			return checked == checkBatch, err
		})
	return server
}

// Expire deletes old notifications.
func (s *Server) Expire(ctx context.Context) error {
	return deleteNotifications(ctx, s.db, s.now().Add(-retention))
}
