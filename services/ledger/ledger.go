// Package ledger owns a person's money: wallets, categories, transactions, what receipts turned into, and the sums over
// them.
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

// Migrations is the history of the schema.
//
//go:embed migrations/*.sql
var Migrations embed.FS

// Config is what the service is told.
type Config struct {
	rpc.Config
	Events outbox.Config
	// DatabaseURL is that of the service's own role; its search_path names the service's schema.
	DatabaseURL string `env:"DATABASE_URL,required,notEmpty,unset"`
	// AuthAddr and OCRAddr are host:port of the services that are asked about tokens and receipts.
	AuthAddr string `env:"AUTH_ADDR,required,notEmpty"`
	OCRAddr  string `env:"OCR_ADDR,required,notEmpty"`
}

type server struct {
	ledgerv1.UnsafeLedgerServiceServer

	db       *pgxpool.Pool
	gatherer *gatherer
	// wake makes the relay publish new events soon.
	wake func()
	// batches are booked as many at once as there are cores: more would only hold memory.
	batches rpc.Gate
	reads   *readGates
	ocr     ocrv1.OCRServiceClient
	cursors page.Cursors
	log     *slog.Logger
	now     func() time.Time
	newID   func() uuid.UUID
}

var _ ledgerv1.LedgerServiceServer = (*server)(nil)

// Run serves on lis until ctx ends. It starts while Postgres, auth or ocr are away, and returns an error when the schema
// is behind.
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
	gatherer := newGatherer(db, bus.Wake)
	unmeasure, err := gatherer.measure()
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
	// It outlives the order to stop: what is in flight is finished first.
	writing, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	gatherer.run(writing)

	srv := rpc.NewServer(config.Config, verifier, log)
	ledgerv1.RegisterLedgerServiceServer(srv, &server{
		db:       db,
		gatherer: gatherer,
		wake:     bus.Wake,
		batches:  rpc.NewGate(runtime.GOMAXPROCS(0), waitingBatches, apierr.Unavailable),
		reads:    newReadGates(maxReads, maxWaitingReads),
		ocr:      ocrv1.NewOCRServiceClient(ocrConn),
		cursors:  page.NewCursors(config.ServiceKey),
		log:      log,
		now:      time.Now,
		newID:    func() uuid.UUID { return uuid.Must(uuid.NewV7()) },
	})
	return srv.Serve(ctx, lis, func(ctx context.Context) error { return pg.Ping(ctx, db) })
}
