// Package budget is the budget service. It owns budgets, memberships, goals, alerts, notifications
// and webhooks. The ledger owns the spending and auth owns the users: this service asks them and
// copies neither.
//
// Guarantees: progress is computed by the ledger when a budget is read; the package
// sharing alone decides what a user may do with a budget or a goal; a user without an accepted
// invitation learns nothing newer than the invitation; a change, its events and its notifications
// commit together; and no RPC is called within a database transaction.
//
// The package itself implements BudgetService.
//
//   - budget.go: Config, Run and the background workers; consume.go: the effects of events
//   - budgets.go, parse.go: RPCs that change budgets, and their requests
//   - budgets_read.go, progress.go: RPCs that read budgets, and their responses
//   - members.go: the RPCs of sharing
//   - references.go: reports the categories of budgets to the ledger, so that it keeps or repairs
//     them (ADR 43)
//   - store_*.go: the SQL; errors.go: the public errors; migrations/: the schema
//
// Parts with a separate vocabulary are packages, which do not import this one. It calls them with
// concrete types: an interface would have one implementation. Each reads the tables that it needs,
// so notification has separate statements for budgets and members. Whole alerts are tested here,
// because a check starts with a change of a budget or an event, and ends with notifications.
//
//   - internal/sharing shares budgets and goals: invitations, members, roles
//   - internal/notification implements NotificationService: published events, stored notifications,
//     alerts, live streams
//   - internal/goals implements GoalService: amounts to save, and the money assigned to them
//   - internal/webhook implements WebhookService: webhooks and deliveries
//   - internal/export implements AccountService: the archive of an account
//   - internal/erasure: deletes the data of users whose accounts are deleted
//   - internal/spending: the windows of a budget, and the ledger's sums in them
//   - internal/budgettest: helpers for tests
package budget

import (
	"context"
	"embed"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/grpc"

	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/page"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/rpc"
	"github.com/coffer-budget/coffer/internal/seal"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/erasure"
	"github.com/coffer-budget/coffer/services/budget/internal/export"
	"github.com/coffer-budget/coffer/services/budget/internal/goals"
	"github.com/coffer-budget/coffer/services/budget/internal/notification"
	"github.com/coffer-budget/coffer/services/budget/internal/sharing"
	"github.com/coffer-budget/coffer/services/budget/internal/webhook"
)

// Migrations contains the migrations of the service's schema.
//
//go:embed migrations/*.sql
var Migrations embed.FS

// Config is the service's configuration, read from the environment.
type Config struct {
	rpc.Config
	Events outbox.Config
	// DatabaseURL connects with the service's own role. Its search_path names the service's schema.
	DatabaseURL string `env:"DATABASE_URL,required,notEmpty,unset"`
	// AuthAddr and LedgerAddr are the host:port of auth and of the ledger.
	AuthAddr   string `env:"AUTH_ADDR,required,notEmpty"`
	LedgerAddr string `env:"LEDGER_ADDR,required,notEmpty"`
	// WebhookPrivateAddresses lets every user send requests into the service's network. It is for
	// development.
	WebhookPrivateAddresses bool `env:"WEBHOOK_PRIVATE_ADDRESSES" envDefault:"false"`
}

type server struct {
	budgetv1.UnsafeBudgetServiceServer

	db      *pgxpool.Pool
	auth    authv1.AuthServiceClient
	ledger  ledgerv1.LedgerServiceClient
	cursors page.Cursors
	// notifications and webhooks implement two other services. They write in the transactions of
	// this package.
	notifications *notification.Server
	webhooks      *webhook.Server
	// members and goalMembers share budgets and goals. goals implements GoalService.
	members, goalMembers *sharing.Members
	goals                *goals.Server
	// syncs reports the categories of budgets to the ledger.
	syncs *jobs.Worker
	// erasures deletes the data of users whose accounts are deleted.
	erasures *erasure.Eraser
	log      *slog.Logger
	now      func() time.Time
	newID    func() uuid.UUID
}

var _ budgetv1.BudgetServiceServer = (*server)(nil)

// Run serves on lis until ctx ends. It starts also if PostgreSQL, auth or the ledger are
// unavailable, and returns an error if the schema is older than the program.
func Run(ctx context.Context, config Config, lis net.Listener) error {
	log := slog.Default().With("service", "budget")
	// Connections are opened when they are needed, so that the service starts while its
	// dependencies are unavailable.
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
	authConn, err := rpc.Dial(config.AuthAddr, authv1.AuthService_ServiceDesc.ServiceName,
		config.Config)
	if err != nil {
		return err
	}
	defer func() { _ = authConn.Close() }()
	ledgerConn, err := rpc.Dial(config.LedgerAddr, ledgerv1.LedgerService_ServiceDesc.ServiceName,
		config.Config)
	if err != nil {
		return err
	}
	defer func() { _ = ledgerConn.Close() }()
	auth := authv1.NewAuthServiceClient(authConn)
	ledger := ledgerv1.NewLedgerServiceClient(ledgerConn)
	verifier, err := caller.NewVerifier(caller.FromAuth(auth), time.Now, log)
	if err != nil {
		return err
	}
	// A service on an older schema would fail in the middle of requests.
	if err := pg.AwaitSchema(ctx, db, Migrations, log); err != nil {
		return err
	}
	if config.WebhookPrivateAddresses {
		log.WarnContext(ctx,
			"webhooks may be delivered to private addresses: WEBHOOK_PRIVATE_ADDRESSES is set")
	}
	server := &server{
		db: db, auth: auth, ledger: ledger, cursors: page.NewCursors(config.ServiceKey), log: log,
		now: time.Now, newID: func() uuid.UUID { return uuid.Must(uuid.NewV7()) },
	}
	server.notifications = notification.New(notification.Dependencies{
		DB: db, Ledger: ledger, Cursors: server.cursors, Bus: bus, WakeRelay: bus.Wake, Log: log,
		Now: server.now, NewID: server.newID,
	})
	server.syncs, server.webhooks = server.newSyncs(), webhook.New(webhook.Dependencies{
		DB: db, Cursors: server.cursors, Sealer: seal.NewKey(config.ServiceKey, "webhook secret"),
		PrivateAddresses: config.WebhookPrivateAddresses,
		Log:              log, Now: server.now, NewID: server.newID,
	})
	server.newSharing()
	server.erasures = server.newErasures(func(ctx context.Context) error {
		return bus.AwaitApplied(ctx, consumerName)
	})
	stopMeasuring, err := server.measure(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = stopMeasuring() }()
	// All background work ends with ctx. Run returns when the requests have ended, and closes what
	// the work uses.
	go verifier.Run(ctx)
	go bus.Relay(ctx, db)
	go bus.Consume(ctx, db, server.consumer())
	go server.notifications.Alerts.Run(ctx)
	go server.webhooks.Run(ctx)
	go server.syncs.Run(ctx)
	go server.erasures.Jobs.Run(ctx)
	go pg.Sweep(ctx, log, server.expire)

	srv := rpc.NewServer(config.Config, verifier, log)
	server.register(srv, ledgerv1.NewExportServiceClient(ledgerConn), config.ClientAddress)
	return srv.Serve(ctx, lis, func(ctx context.Context) error { return pg.Ping(ctx, db) })
}

// register registers the proto services, which share a port and the verification of tokens.
func (s *server) register(
	srv grpc.ServiceRegistrar, ledger ledgerv1.ExportServiceClient,
	clientAddress func(context.Context) netip.Addr,
) {
	budgetv1.RegisterBudgetServiceServer(srv, s)
	budgetv1.RegisterNotificationServiceServer(srv, s.notifications)
	budgetv1.RegisterWebhookServiceServer(srv, s.webhooks)
	budgetv1.RegisterGoalServiceServer(srv, s.goals)
	budgetv1.RegisterAccountServiceServer(srv, &export.Server{Dependencies: export.Dependencies{
		Auth: s.auth, Ledger: ledger, Budgets: s, Goals: s.goals,
		Notifications: s.notifications, Webhooks: s.webhooks, ClientAddress: clientAddress,
		Now: s.now,
	}})
}

// newSharing creates the parts that share budgets and goals, and the service of goals.
func (s *server) newSharing() {
	shared := sharing.Dependencies{
		DB: s.db, Auth: s.auth, Notifications: s.notifications, Cursors: s.cursors, Log: s.log,
		Now: s.now, NewID: s.newID,
	}
	s.members = &sharing.Members{Kind: sharing.Budgets, Dependencies: shared}
	s.goalMembers = &sharing.Members{Kind: sharing.Goals, Dependencies: shared}
	s.goals = &goals.Server{Dependencies: goals.Dependencies{
		DB: s.db, Ledger: s.ledger, Members: s.goalMembers, Notifications: s.notifications,
		Cursors: s.cursors, Log: s.log, Now: s.now, NewID: s.newID,
	}}
}

// expire deletes rows whose retention has ended. pg.Sweep calls it every hour on each replica. A
// failure of one part does not prevent the others.
func (s *server) expire(ctx context.Context) error {
	return errors.Join(
		idem.Expire(ctx, s.db),
		s.members.ExpireMailed(ctx),
		s.goalMembers.ExpireMailed(ctx),
		s.notifications.Expire(ctx),
		s.webhooks.Expire(ctx),
		sharing.ExpireTries(ctx, s.db, s.now()))
}

// categoriesLost returns the event of categories that no longer exist.
func (b budget) categoriesLost(lost, remaining []uuid.UUID) *budgetv1.BudgetCategoriesLost {
	return &budgetv1.BudgetCategoriesLost{
		BudgetId: b.ID.String(), BudgetName: b.Name, OwnerId: b.OwnerID.String(),
		CategoryIds: idStrings(lost), RemainingCategoryIds: idStrings(remaining),
	}
}

// newWallet returns the wallet that an update changes to, or nil. An unchanged wallet is not
// checked, because it may have been deleted, and its budget stays. A budget of a deleted wallet has
// no progress, and its other fields can still be changed.
func (c changes) newWallet(b budget) *uuid.UUID {
	if c.wallet == nil || *c.wallet == b.WalletID {
		return nil
	}
	return c.wallet
}
