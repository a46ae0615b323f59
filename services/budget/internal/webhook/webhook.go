// Package webhook owns the webhooks of users, and delivers events to them over HTTPS.
//
// The consumer of the service calls Server.QueueDeliveries with each batch of events. It stores a
// row per event and subscribed webhook, in the transaction that acknowledges the events. Workers,
// started by Server.Run, send the rows, sign each request, and retry failures with backoff for a
// day. A worker leases a webhook before it sends, so that a webhook gets its events one after the
// other, oldest first, from any number of replicas.
//
// A delivery arrives at least once: a worker that stops after sending and before recording leaves
// the delivery to the next one. Receivers drop repetitions by the event's id. A failing address
// delays no other: it is paused, and a user holds at most two workers of a replica. A webhook that
// fails for five days, or answers 410, is disabled.
//
// Users choose the addresses, so deliveryClient is the only HTTP client that may send to them. It
// connects to public addresses only, and follows no redirects. Secrets are sealed in the database.
//
// Start reading with QueueDeliveries in deliveries.go and deliverBatch in deliver.go. retries.go
// has the rules for backoff, pauses and disabling; address.go the rules for URLs and addresses;
// patterns.go the rules for subscriptions; webhooks.go the RPCs; measure.go the metrics.
// docs/webhooks.md is for receivers.
package webhook

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/page"
	"github.com/coffer-budget/coffer/internal/seal"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
)

// Dependencies are the parts of the process that the package uses.
type Dependencies struct {
	DB      *pgxpool.Pool
	Cursors page.Cursors
	// Sealer encrypts the secrets of webhooks in the database.
	Sealer seal.Key
	// PrivateAddresses allows deliveries to private and loopback addresses. It is for development.
	PrivateAddresses bool
	Log              *slog.Logger
	// Now and NewID are replaced in tests.
	Now   func() time.Time
	NewID func() uuid.UUID
}

// Server implements WebhookService and the delivery of events.
type Server struct {
	budgetv1.UnsafeWebhookServiceServer

	db      *pgxpool.Pool
	cursors page.Cursors
	sealer  seal.Key
	// destinations limits the URLs of webhooks. client applies the same limit to the addresses that
	// it connects to.
	destinations destinations
	client       deliveryClient
	// Deliveries sends due deliveries. The consumer wakes it after each batch of events. It polls
	// for retries that have become due.
	Deliveries *jobs.Worker
	// claiming serializes the claims of this replica, so that each claim counts the webhooks that
	// its other workers hold.
	claiming sync.Mutex
	// attempts discards its values unless Measure was called.
	attempts metric.Int64Counter
	log      *slog.Logger
	now      func() time.Time
	newID    func() uuid.UUID
}

var _ budgetv1.WebhookServiceServer = (*Server)(nil)

// New returns a server. Deliveries are sent while Run is running.
func New(dependencies Dependencies) *Server {
	allowed := destinations(dependencies.PrivateAddresses)
	server := &Server{
		db:           dependencies.DB,
		cursors:      dependencies.Cursors,
		sealer:       dependencies.Sealer,
		destinations: allowed,
		client:       newDeliveryClient(allowed.contains, nil, nil),
		log:          dependencies.Log,
		now:          dependencies.Now,
		newID:        dependencies.NewID,
		attempts:     noop.Int64Counter{},
	}
	server.Deliveries = jobs.NewWorker(
		jobs.PollInterval, dependencies.Log, "failed to deliver events", server.deliverBatch)
	return server
}

// Run delivers events until ctx ends, with several workers.
func (s *Server) Run(ctx context.Context) {
	var workers sync.WaitGroup
	for range deliveryWorkers {
		workers.Go(func() { s.Deliveries.Run(ctx) })
	}
	workers.Wait()
}

// Expire fails deliveries that were retried for a day, and deletes the log of deliveries after 30
// days.
func (s *Server) Expire(ctx context.Context) error {
	now := s.now()
	return expireDeliveries(ctx, s.db, now.Add(-deliveryLife), now.Add(-logRetention))
}
