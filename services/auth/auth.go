// Package auth owns users, their sessions, and the keys that access tokens are signed with. Gateway, ledger
// and budget verify tokens themselves, and learn here which keys are good and which sessions were revoked.
package auth

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"net"
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
	// AccessTTL is how long an access token is good, RefreshTTL how long a session lives without being refreshed.
	AccessTTL  time.Duration `env:"ACCESS_TTL" envDefault:"1h"`
	RefreshTTL time.Duration `env:"REFRESH_TTL" envDefault:"720h"`
	// KeyRotation is how long a key signs before another one takes over.
	KeyRotation time.Duration `env:"KEY_ROTATION" envDefault:"720h"`
}

func (c Config) check() error {
	var problems []error
	if c.AccessTTL < time.Second {
		problems = append(problems, errors.New("ACCESS_TTL must be at least 1s"))
	}
	if c.RefreshTTL < c.AccessTTL {
		problems = append(problems, errors.New("REFRESH_TTL must not be shorter than ACCESS_TTL"))
	}
	if c.KeyRotation < minKeyRotation {
		problems = append(problems, fmt.Errorf("KEY_ROTATION must be at least %s", minKeyRotation))
	}
	return errors.Join(problems...)
}

type server struct {
	authv1.UnsafeAuthServiceServer

	db      *pgxpool.Pool
	config  Config
	hasher  *hasher
	keys    *keyring
	cursors page.Cursors
	// wake makes the relay publish new events soon.
	wake  func()
	now   func() time.Time
	newID func() uuid.UUID
}

var _ authv1.AuthServiceServer = (*server)(nil)

// Run serves on lis until ctx ends. It starts while Postgres is away, and returns an error when the schema is behind.
func Run(ctx context.Context, config Config, lis net.Listener) error {
	log := slog.Default().With("service", "auth")
	if err := config.check(); err != nil {
		return err
	}
	db, err := pg.Open(ctx, config.DatabaseURL)
	if err != nil {
		return err
	}
	defer db.Close()
	bus, err := outbox.Connect(config.Events, "auth", log)
	if err != nil {
		return err
	}
	defer bus.Close()
	s, err := newServer(db, config, bus.Wake, time.Now, log)
	if err != nil {
		return err
	}
	verifier, err := caller.NewVerifier(s.trust(), time.Now, log)
	if err != nil {
		return err
	}
	if err := pg.AwaitSchema(ctx, db, Migrations, log); err != nil {
		return err
	}
	// The first key is there before anybody can ask for the set.
	if err := s.keys.refresh(ctx); err != nil {
		log.WarnContext(ctx, "loading the signing keys", "error", err)
	}
	go s.keys.run(ctx)
	go verifier.Run(ctx)
	go bus.Relay(ctx, db)
	go bus.Consume(ctx, db, outbox.Consumer{Name: "auth-audit", Subject: sharingSubject, Apply: s.noteSharing})
	go pg.Sweep(ctx, log, s.expire)

	srv := rpc.NewServer(config.Config, verifier, log)
	authv1.RegisterAuthServiceServer(srv, s)
	return srv.Serve(ctx, lis, s.ready)
}

func newServer(db *pgxpool.Pool, config Config, wake func(), now func() time.Time, log *slog.Logger) (*server, error) {
	hasher, err := newHasher()
	if err != nil {
		return nil, err
	}
	s := &server{
		db:      db,
		config:  config,
		hasher:  hasher,
		cursors: page.NewCursors(config.ServiceKey),
		wake:    wake,
		now:     now,
		newID:   func() uuid.UUID { return uuid.Must(uuid.NewV7()) },
	}
	s.keys = &keyring{
		db: db, sealer: seal.NewKey(config.ServiceKey, "signing key"), rotation: config.KeyRotation, accessTTL: config.AccessTTL, log: log, now: now, newID: s.newID,
	}
	return s, nil
}

// ready also asks for a key: without one nobody could sign in.
func (s *server) ready(ctx context.Context) error {
	if _, err := s.keys.signer(); err != nil {
		return err
	}
	return pg.Ping(ctx, s.db)
}

// expire deletes what has no meaning any more.
func (s *server) expire(ctx context.Context) error {
	now := s.now()
	// A revoked session is named to the other services until its last access token has expired.
	return errors.Join(
		idem.Expire(ctx, s.db),
		deleteSessions(ctx, s.db, now.Add(-s.config.AccessTTL-revokedMargin)),
		deleteRefreshTokens(ctx, s.db, now),
		deleteFailures(ctx, s.db, now),
		deleteKnownAddresses(ctx, s.db, now.Add(-knownAddressKept)),
		deleteAudit(ctx, s.db, now.Add(-auditKept)))
}
