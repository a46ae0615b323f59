// Package ledger is the service that owns wallets, categories, transactions and receipts, and the
// balances and totals computed from them.
//
// It guarantees that the balances and the monthly totals always equal the sum of the transactions,
// that an event is published for each change, and that a request with an idempotency key has one
// effect. A transaction, its effect on the balances and totals, its event and its idempotency
// record are committed together. Users see and change only their own data.
//
// This package only assembles the service, so that a reader sees which files belong together, and
// the compiler enforces the order. Each subpackage has one subject, with its RPC methods and its
// SQL in store_*.go, and imports only packages on a later line. An error that several packages
// return is declared in request, any other one in the errors.go of its package.
//
//   - distribution: the part of ledger migrate that distributes the tables over servers
//   - verify: the command ledger verify and the background check, which compare the sums with the
//     transactions
//   - erasure: deletes all rows of a user whose account is deleted
//   - sync: the changes that devices follow. export: the books of a user as a file, in several
//     formats
//   - imports: files of banks that become transactions, with a review before and an undo after. Its
//     subpackages: formats has the parsers, staging the staged rows, resolving derives what the
//     rows become, duplicates finds those that exist, booking runs the jobs
//   - views: queries of lists and reports with names
//   - series: income and spending by interval and group
//   - transactions: single transactions, bulk creation and lists
//   - transfers, receipts, reports (the dashboard and the spending of budgets), accounts (wallets
//     and categories)
//   - settings: the preferences of a user on all devices. tags: the names and colors of tags.
//     attachments: files with transactions. files: their content in an object store
//   - rules: the rules of users and the categories that their history suggests. rules/matching and
//     rules/learning: the pure parts
//   - reconciliations: adjustments of balances, and statements of banks that lock transactions.
//     balances: past balances of wallets
//   - posting: applies transactions to balances and totals, and defines the order of locks
//   - request: dates, currencies and references to wallets and categories in requests. reads: the
//     limit on expensive reads
//   - fixture and ledgertest, for tests only: an environment for the tests of subpackages, and
//     large ledgers of generated rows
//
// Start with transactions/transactions.go: a method parses the request, checks the references, runs
// a statement and returns the response. The tests of posting concern all resources: the invariants,
// and every pair of concurrent writes.
package ledger

import (
	"context"
	"embed"
	"errors"
	"log/slog"
	"net"
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
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	ocrv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ocr/v1"
	"github.com/coffer-budget/coffer/services/ledger/accounts"
	"github.com/coffer-budget/coffer/services/ledger/attachments"
	"github.com/coffer-budget/coffer/services/ledger/distribution"
	"github.com/coffer-budget/coffer/services/ledger/erasure"
	"github.com/coffer-budget/coffer/services/ledger/export"
	"github.com/coffer-budget/coffer/services/ledger/files"
	"github.com/coffer-budget/coffer/services/ledger/imports"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/reads"
	"github.com/coffer-budget/coffer/services/ledger/receipts"
	"github.com/coffer-budget/coffer/services/ledger/reconciliations"
	"github.com/coffer-budget/coffer/services/ledger/reports"
	"github.com/coffer-budget/coffer/services/ledger/rules"
	"github.com/coffer-budget/coffer/services/ledger/series"
	"github.com/coffer-budget/coffer/services/ledger/settings"
	"github.com/coffer-budget/coffer/services/ledger/sync"
	"github.com/coffer-budget/coffer/services/ledger/tags"
	"github.com/coffer-budget/coffer/services/ledger/transactions"
	"github.com/coffer-budget/coffer/services/ledger/transfers"
	"github.com/coffer-budget/coffer/services/ledger/verify"
	"github.com/coffer-budget/coffer/services/ledger/views"
)

// Migrations holds the schema as numbered goose migrations. A file never changes once it is
// released.
//
//go:embed migrations/*.sql
var Migrations embed.FS

type server struct {
	// An RPC without a method here is a compile error.
	ledgerv1.UnsafeLedgerServiceServer

	*accounts.Accounts
	*transactions.Transactions
	*receipts.Receipts
	*reports.Reports
}

var _ ledgerv1.LedgerServiceServer = (*server)(nil)

// Run serves on lis until ctx ends, and then completes the requests in flight. It starts even if
// PostgreSQL, auth or ocr are unavailable; readiness follows PostgreSQL alone. It returns an error
// if the schema lacks a migration.
func Run(ctx context.Context, config Config, lis net.Listener) error {
	log := slog.Default().With("service", "ledger")
	db, store, err := config.open(ctx, log)
	if err != nil {
		return err
	}
	defer db.Close()
	bus, err := outbox.Connect(config.Events, "ledger", log)
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
	ocrConn, err := rpc.Dial(config.OCRAddr, ocrv1.OCRService_ServiceDesc.ServiceName,
		config.Config)
	if err != nil {
		return err
	}
	defer func() { _ = ocrConn.Close() }()
	verifier, err := caller.NewVerifier(caller.FromAuth(authv1.NewAuthServiceClient(authConn)),
		time.Now, log)
	if err != nil {
		return err
	}
	if err := pg.AwaitSchema(ctx, db, Migrations, log); err != nil {
		return err
	}
	go verifier.Run(ctx)
	go distribution.Relay(ctx, config.Distributed, bus, db)
	scrubber := &verify.Scrubber{DB: db, Log: log}
	go scrubber.Run(ctx)

	book := config.newBook(db, bus.Wake)
	// The packages share the gates, so that the limit applies to all expensive reads of a user
	// together.
	cursors := page.NewCursors(config.ServiceKey)
	gates := reads.NewGates(reads.MaxRunning, reads.MaxWaiting)
	receiving, err := receipts.New(book, cursors, ocrv1.NewOCRServiceClient(ocrConn), log)
	if err != nil {
		return err
	}
	receiving.Files = store
	server := &server{
		Accounts:     &accounts.Accounts{Ledger: book, Cursors: cursors, Gates: gates},
		Transactions: transactions.New(book, cursors, gates),
		Receipts:     receiving,
		Reports:      &reports.Reports{Ledger: book, Reads: gates},
	}
	ruling := rules.New(book, gates, log)
	importing := imports.New(server.Accounts, cursors, config.ServiceKey, log)
	unmeasure, err := measure(scrubber.Measure, book.Volume.Measure, server.Measure,
		ruling.Jobs.Measure, importing.Jobs.Measure, store.Measure)
	defer unmeasure()
	if err != nil {
		return err
	}
	startSweeps(ctx, db, store, log)
	erasure.New(book, store, receiving.OCR, log).Start(ctx, bus)
	defer startJobs(ctx, ruling.Jobs, importing.Jobs)()
	// The writers outlive ctx, because the requests in flight are completed after it ends.
	writing, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	server.Run(writing)
	srv := rpc.NewServer(config.Config, verifier, log)
	ledgerv1.RegisterLedgerServiceServer(srv, server)
	ledgerv1.RegisterImportServiceServer(srv, importing)
	ledgerv1.RegisterRuleServiceServer(srv, ruling)
	registerResources(srv, config, store, server.Accounts, gates)
	return srv.Serve(ctx, lis, healthCheck(srv, book, ocrConn))
}

func newID() uuid.UUID { return uuid.Must(uuid.NewV7()) }

// measure registers metrics. unmeasure ends those that were registered, also after an error.
func measure(registrations ...func() (func() error, error)) (unmeasure func(), err error) {
	var stops []func() error
	unmeasure = func() {
		for _, stop := range stops {
			_ = stop()
		}
	}
	for _, register := range registrations {
		stop, err := register()
		if err != nil {
			return unmeasure, err
		}
		stops = append(stops, stop)
	}
	return unmeasure, nil
}

// startJobs runs queues until ctx ends. A queue that stops ends its lease, so that another replica
// continues its job at once. wait stops the queues, and returns when all have stopped.
func startJobs(ctx context.Context, queues ...*jobs.Queue) (wait func()) {
	ctx, stop := context.WithCancel(ctx)
	stopped := make(chan struct{})
	for _, q := range queues {
		go func() {
			q.Run(ctx)
			stopped <- struct{}{}
		}()
	}
	return func() {
		stop()
		for range queues {
			<-stopped
		}
	}
}

// healthCheck returns a function that returns an error if PostgreSQL is unavailable. It reports to
// srv whether receipts can be recognized, and whether the volume of the database has space for
// files, if that is known. Readiness does not depend on ocr, so PostgreSQL has the first share of
// the time.
func healthCheck(
	srv *rpc.Server, book *posting.Ledger, ocrConn *grpc.ClientConn,
) func(context.Context) error {
	return func(ctx context.Context) error {
		if _, known := book.Volume.Free(); known {
			srv.SetOptional(rpc.HealthStorage, book.Volume.Check() == nil)
		}
		err := pg.Ping(ctx, book.DB)
		srv.SetOptional(rpc.HealthReceipts, rpc.Serving(ctx, ocrConn, ""))
		srv.SetOptional(rpc.HealthNeuralReceipts, rpc.Serving(ctx, ocrConn, rpc.HealthNeural))
		return err
	}
}

// startSweeps starts the regular deletion of expired rows, and the moves of files into the store.
// They end with ctx.
func startSweeps(ctx context.Context, db *pgxpool.Pool, store *files.Store, log *slog.Logger) {
	go store.Run(ctx, db)
	go pg.Sweep(ctx, log, func(ctx context.Context) error {
		now := time.Now()
		return errors.Join(idem.ExpireOwned(ctx, db), accounts.ExpireReferences(ctx, db, now),
			staging.Expire(ctx, db, now), rules.Expire(ctx, db, now),
			sync.Sweep(ctx, db, now))
	})
	go pg.SweepEvery(ctx, files.SweepInterval, log, func(ctx context.Context) error {
		return store.Sweep(ctx, db, time.Now())
	})
	go pg.SweepEvery(ctx, attachments.ExpireInterval, log, func(ctx context.Context) error {
		return attachments.Expire(ctx, db, time.Now())
	})
}

// registerResources registers the services of the resources that need the database only.
func registerResources(
	srv grpc.ServiceRegistrar, config Config, store *files.Store, resources *accounts.Accounts,
	gates *reads.Gates,
) {
	ledgerv1.RegisterExportServiceServer(srv, export.New(resources.Ledger, store))
	ledgerv1.RegisterSettingsServiceServer(srv, &settings.Server{Ledger: resources.Ledger})
	ledgerv1.RegisterSyncServiceServer(srv,
		&sync.Server{Ledger: resources.Ledger, Cursors: resources.Cursors})
	ledgerv1.RegisterTagServiceServer(srv, &tags.Server{Ledger: resources.Ledger, Reads: gates})
	ledgerv1.RegisterAttachmentServiceServer(srv, &attachments.Attachments{
		Ledger: resources.Ledger, Quota: config.AttachmentQuota, Files: store,
	})
	ledgerv1.RegisterReportServiceServer(srv,
		&series.Reports{Ledger: resources.Ledger, Reads: gates})
	ledgerv1.RegisterReconciliationServiceServer(srv,
		&reconciliations.Reconciliations{Ledger: resources.Ledger, Cursors: resources.Cursors})
	ledgerv1.RegisterViewServiceServer(srv, &views.Server{Ledger: resources.Ledger})
	ledgerv1.RegisterTransferServiceServer(srv,
		&transfers.Transfers{Ledger: resources.Ledger, Cursors: resources.Cursors, Reads: gates})
}
