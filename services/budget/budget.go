// Package budget owns budgets and the people they are shared with. What was spent is the ledger's to know, and who a
// member is auth's; neither is copied.
package budget

import (
	"context"
	"embed"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/page"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/rpc"
	"github.com/coffer-budget/coffer/internal/seal"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// Migrations is the history of the schema.
//
//go:embed migrations/*.sql
var Migrations embed.FS

// remindEvery is how long a check or a delivery waits that nobody was woken for.
const remindEvery = 5 * time.Second

// Config is the service's configuration, read from the environment.
type Config struct {
	rpc.Config
	Events outbox.Config
	// DatabaseURL is that of the service's own role; its search_path names the service's schema.
	DatabaseURL string `env:"DATABASE_URL,required,notEmpty,unset"`
	// AuthAddr and LedgerAddr are host:port of the services that are asked about users and money.
	AuthAddr   string `env:"AUTH_ADDR,required,notEmpty"`
	LedgerAddr string `env:"LEDGER_ADDR,required,notEmpty"`
	// WebhookPrivateAddresses lets every user send requests into the network of the service. It is for development.
	WebhookPrivateAddresses bool `env:"WEBHOOK_PRIVATE_ADDRESSES" envDefault:"false"`
}

type server struct {
	budgetv1.UnsafeBudgetServiceServer
	budgetv1.UnsafeNotificationServiceServer
	budgetv1.UnsafeWebhookServiceServer

	db      *pgxpool.Pool
	auth    authv1.AuthServiceClient
	ledger  ledgerv1.LedgerServiceClient
	cursors page.Cursors
	bus     *outbox.Bus
	// relay makes the outbox relay publish new events soon.
	relay   func()
	streams streams
	// spent wakes the worker that checks budgets.
	spent chan struct{}
	// written wakes the worker that reports the categories of budgets to the ledger.
	written chan struct{}
	// queued wakes a worker that delivers events.
	queued chan struct{}
	// claiming lets one worker at a time look for a webhook, so that each knows what of a user the others hold.
	claiming sync.Mutex
	// sealer keeps the webhooks' secrets from whoever reads the database.
	sealer seal.Key
	// webhooksTo limits the webhooks' URLs. client applies the same limit to addresses.
	webhooksTo destinations
	client     deliveryClient
	log        *slog.Logger
	now        func() time.Time
	newID      func() uuid.UUID
}

var (
	_ budgetv1.BudgetServiceServer       = (*server)(nil)
	_ budgetv1.NotificationServiceServer = (*server)(nil)
	_ budgetv1.WebhookServiceServer      = (*server)(nil)
)

// Run serves on lis until ctx ends. It starts while Postgres, auth or the ledger are away, and returns an error when the
// schema is behind.
func Run(ctx context.Context, config Config, lis net.Listener) error {
	log := slog.Default().With("service", "budget")
	db, err := pg.Open(ctx, config.DatabaseURL)
	if err != nil {
		return err
	}
	defer db.Close()
	bus, err := outbox.Connect(config.Events, "budget", log)
	if err != nil {
		return err
	}
	defer bus.Close()
	authConn, err := rpc.Dial(config.AuthAddr, authv1.File_coffer_auth_v1_auth_proto.Services().ByName("AuthService"), config.ServiceKey, config.TLS)
	if err != nil {
		return err
	}
	defer func() { _ = authConn.Close() }()
	ledgerConn, err := rpc.Dial(config.LedgerAddr, ledgerv1.File_coffer_ledger_v1_ledger_proto.Services().ByName("LedgerService"), config.ServiceKey, config.TLS)
	if err != nil {
		return err
	}
	defer func() { _ = ledgerConn.Close() }()
	auth := authv1.NewAuthServiceClient(authConn)
	verifier, err := caller.NewVerifier(caller.FromAuth(auth), time.Now, log)
	if err != nil {
		return err
	}
	if err := pg.AwaitSchema(ctx, db, Migrations, log); err != nil {
		return err
	}
	webhooksTo := destinations(config.WebhookPrivateAddresses)
	if webhooksTo == privateToo {
		log.WarnContext(ctx, "webhooks may be delivered to private addresses: WEBHOOK_PRIVATE_ADDRESSES is set")
	}
	s := &server{
		db:         db,
		auth:       auth,
		ledger:     ledgerv1.NewLedgerServiceClient(ledgerConn),
		cursors:    page.NewCursors(config.ServiceKey),
		bus:        bus,
		relay:      bus.Wake,
		streams:    streams{open: map[uuid.UUID]int{}},
		spent:      make(chan struct{}, 1),
		written:    make(chan struct{}, 1),
		queued:     make(chan struct{}, 1),
		sealer:     seal.NewKey(config.ServiceKey, "webhook secret"),
		webhooksTo: webhooksTo,
		client:     newDeliveryClient(webhooksTo.contains, nil, nil),
		log:        log,
		now:        time.Now,
		newID:      func() uuid.UUID { return uuid.Must(uuid.NewV7()) },
	}
	stopMeasuring, err := s.measure()
	if err != nil {
		return err
	}
	defer func() { _ = stopMeasuring() }()
	go verifier.Run(ctx)
	go bus.Relay(ctx, db)
	go bus.Consume(ctx, db, s.consumer())
	go s.raiseAlerts(ctx)
	go s.syncReferences(ctx)
	go s.remind(ctx)
	go pg.Sweep(ctx, log, s.expire)
	for range deliveryWorkers {
		go s.deliver(ctx)
	}

	srv := rpc.NewServer(config.Config, verifier, log)
	budgetv1.RegisterBudgetServiceServer(srv, s)
	budgetv1.RegisterNotificationServiceServer(srv, s)
	budgetv1.RegisterWebhookServiceServer(srv, s)
	return srv.Serve(ctx, lis, func(ctx context.Context) error { return pg.Ping(ctx, db) })
}

// remind has somebody look, until ctx ends, for what nobody was woken for: another replica left it, or its time has come.
func (s *server) remind(ctx context.Context) {
	for ctx.Err() == nil {
		s.wake()
		select {
		case <-ctx.Done():
		case <-time.After(remindEvery):
		}
	}
}

// expire forgets what is not kept for good.
func (s *server) expire(ctx context.Context) error {
	now := s.now()
	return errors.Join(
		idem.Expire(ctx, s.db),
		deleteNotifications(ctx, s.db, now.Add(-notificationsKept)),
		expireDeliveries(ctx, s.db, now.Add(-deliveryLife), now.Add(-deliveryLog)),
		deleteInvitationTries(ctx, s.db, now.Add(-invitationWindow)))
}
