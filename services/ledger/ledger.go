// Package ledger is the service that owns wallets, categories, transactions and receipts, and the balances and totals computed
// from them.
//
// It guarantees that the balances and the monthly totals always equal the sum of the transactions, that an event is published for
// each change, and that a request with an idempotency key has one effect. A transaction, its effect on the balances and totals,
// its event and its idempotency record are committed together. Users see and change only their own data.
//
// Start with transactions.go: a method parses the request, checks the references, runs a statement and returns the response. Each
// resource has a file with its RPC methods and a file store_*.go with its SQL:
//
//   - transactions.go, changes.go (validation), batcher.go (group commit of single creates), bulk.go, list.go (filters, cursors)
//   - wallets.go, categories.go (including merges), references.go (ownership of wallets and categories)
//   - budget_references.go: the categories that budgets use, reported by the budget service
//   - dashboard.go, figures.go, window.go: the summary. spending.go: the sums that the budget service asks for
//   - receipts.go, upload.go, bill.go, split.go: receipts, which the ocr service recognizes, and their transactions
//   - verify.go (the command ledger verify) and scrub.go compare balances and totals with the transactions
//   - reads.go limits expensive reads per user. store_locks.go documents the order of locks
package ledger

import (
	"context"
	"embed"
	"errors"
	"log/slog"
	"net"
	"runtime"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/page"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/rpc"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	ocrv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ocr/v1"
)

// Migrations holds the schema as numbered goose migrations. A file never changes once it is released.
//
//go:embed migrations/*.sql
var Migrations embed.FS

// Config is the service's configuration, read from the environment.
type Config struct {
	rpc.Config
	// Events configures the connection to NATS.
	Events outbox.Config
	// DatabaseURL is a postgres:// URL with the service's own role. Its search_path names the service's schema.
	DatabaseURL string `env:"DATABASE_URL,required,notEmpty,unset"`
	// AuthAddr is the host:port of the auth service, which publishes the keys of access tokens. OCRAddr is that of the ocr
	// service, which recognizes receipts.
	AuthAddr string `env:"AUTH_ADDR,required,notEmpty"`
	OCRAddr  string `env:"OCR_ADDR,required,notEmpty"`
}

// server implements LedgerService. Its methods are in the file of each resource.
type server struct {
	// An RPC without a method here is a compile error.
	ledgerv1.UnsafeLedgerServiceServer

	db      *pgxpool.Pool
	batcher *batcher
	// wake makes the relay publish new events soon.
	wake func()
	// bulks limits concurrent bulk creates to the number of cores, because more would only hold memory.
	bulks rpc.Gate
	// reads limits each user's expensive reads.
	reads   *readGates
	ocr     ocrv1.OCRServiceClient
	cursors page.Cursors
	log     *slog.Logger
	now     func() time.Time
	newID   func() uuid.UUID
}

var _ ledgerv1.LedgerServiceServer = (*server)(nil)

// Run serves on lis until ctx ends, and then completes the requests in flight. It starts even if PostgreSQL, auth or ocr are
// unavailable; readiness follows PostgreSQL alone. It returns an error if the schema lacks a migration.
func Run(ctx context.Context, config Config, lis net.Listener) error {
	log := slog.Default().With("service", "ledger")
	db, err := pg.Open(ctx, config.DatabaseURL)
	if err != nil {
		return err
	}
	defer db.Close()
	bus, err := outbox.Connect(config.Events, "ledger", log)
	if err != nil {
		return err
	}
	defer bus.Close()
	authConn, err := rpc.Dial(config.AuthAddr, authv1.File_coffer_auth_v1_auth_proto.Services().ByName("AuthService"), config.ServiceKey, config.TLS)
	if err != nil {
		return err
	}
	defer func() { _ = authConn.Close() }()
	ocrConn, err := rpc.Dial(config.OCRAddr, ocrv1.File_coffer_ocr_v1_ocr_proto.Services().ByName("OCRService"), config.ServiceKey, config.TLS)
	if err != nil {
		return err
	}
	defer func() { _ = ocrConn.Close() }()
	verifier, err := caller.NewVerifier(caller.FromAuth(authv1.NewAuthServiceClient(authConn)), time.Now, log)
	if err != nil {
		return err
	}
	if err := pg.AwaitSchema(ctx, db, Migrations, log); err != nil {
		return err
	}
	go verifier.Run(ctx)
	go pg.Sweep(ctx, log, func(ctx context.Context) error {
		return errors.Join(idem.Expire(ctx, db), expireReferences(ctx, db, time.Now()))
	})
	go bus.Relay(ctx, db)
	batcher := newBatcher(db, bus.Wake)
	unmeasure, err := batcher.measure()
	if err != nil {
		return err
	}
	defer func() { _ = unmeasure() }()
	scrubber := &scrubber{db: db, log: log}
	unmeasureScrubber, err := scrubber.measure()
	if err != nil {
		return err
	}
	defer func() { _ = unmeasureScrubber() }()
	go scrubber.run(ctx)
	// The writers outlive ctx, because the requests in flight are completed after it ends.
	writing, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	batcher.run(writing)

	srv := rpc.NewServer(config.Config, verifier, log)
	ledgerv1.RegisterLedgerServiceServer(srv, &server{
		db:      db,
		batcher: batcher,
		wake:    bus.Wake,
		bulks:   rpc.NewGate(runtime.GOMAXPROCS(0), maxWaitingBulks, apierr.Unavailable),
		reads:   newReadGates(maxReads, maxWaitingReads),
		ocr:     ocrv1.NewOCRServiceClient(ocrConn),
		cursors: page.NewCursors(config.ServiceKey),
		log:     log,
		now:     time.Now,
		newID:   func() uuid.UUID { return uuid.Must(uuid.NewV7()) },
	})
	return srv.Serve(ctx, lis, func(ctx context.Context) error { return pg.Ping(ctx, db) })
}
