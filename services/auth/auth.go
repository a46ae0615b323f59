// Package auth is the service that owns users, their sessions, the signing keys of access tokens,
// and the audit trail.
//
// It guarantees that a password is stored only as an argon2id hash and a refresh token only as a
// SHA-256 hash, that guesses of a password are limited, and that an ended session stops working
// here immediately. The other services verify access tokens themselves. They load the public keys
// and the ended sessions every 5 seconds (internal/caller), so a session stops working everywhere
// within a minute. A write, its event, its audit entry and its idempotency record are committed
// together.
//
// Start with session.go and refresh.go. The other RPC methods and rules:
//
//   - secondfactor.go (the second step of a sign-in, and passkeys)
//   - register.go (also users of identity providers), profile.go (GetMe, UpdateMe, ChangePassword),
//     audit.go (ListAudit), directory.go (RPCs for services, such as the ended sessions)
//   - recovery.go (a forgotten password), verification.go (e-mails, and their change)
//   - failures.go (limits of failed attempts, and Reauthenticate)
//   - errors.go (public errors)
//
// auth.go assembles the service: Run starts it, expire deletes old rows. Some subjects are separate
// packages:
//
//   - internal/browser: what a browser states about the page that sent a request (ADR 74)
//   - internal/deletion: the deletion of accounts
//   - internal/email: the form of e-mail addresses
//   - internal/mail: the mails that are sent
//   - internal/factors: authenticator apps, recovery codes and passkeys
//   - internal/invitations: mails of invitations to shared budgets
//   - internal/links: the links in mails, each of which works once
//   - internal/oidc: sign-in with identity providers
//   - internal/password: hashes of passwords, rules for new passwords
//   - internal/signing: the keys that sign access tokens
//   - internal/tokens: personal access tokens
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
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/page"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/rpc"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	"github.com/coffer-budget/coffer/services/auth/internal/deletion"
	"github.com/coffer-budget/coffer/services/auth/internal/factors"
	"github.com/coffer-budget/coffer/services/auth/internal/invitations"
	"github.com/coffer-budget/coffer/services/auth/internal/links"
	"github.com/coffer-budget/coffer/services/auth/internal/mail"
	"github.com/coffer-budget/coffer/services/auth/internal/oidc"
	"github.com/coffer-budget/coffer/services/auth/internal/password"
	"github.com/coffer-budget/coffer/services/auth/internal/signing"
	"github.com/coffer-budget/coffer/services/auth/internal/tokens"
)

// Migrations holds the SQL files that create and change the schema, in order.
//
//go:embed migrations/*.sql
var Migrations embed.FS

// Config is the configuration of the service, read from the environment. Run returns an error that
// names every invalid value.
type Config struct {
	rpc.Config
	Events outbox.Config
	// DatabaseURL connects as the role of this service. Its search_path names the schema of the
	// service.
	DatabaseURL string `env:"DATABASE_URL,required,notEmpty,unset"`
	// AccessTTL is the lifetime of an access token, at least one second. The other services keep an
	// ended session in memory for this long.
	AccessTTL time.Duration `env:"ACCESS_TTL" envDefault:"1h"`
	// RefreshTTL is the lifetime of a refresh token. Each refresh extends the session by it; not
	// shorter than AccessTTL.
	RefreshTTL time.Duration `env:"REFRESH_TTL" envDefault:"720h"`
	// KeyRotation is the time for which a key signs before the next one replaces it, at least
	// signing.MinRotation.
	KeyRotation time.Duration `env:"KEY_ROTATION" envDefault:"720h"`
	Mail        mail.Config
	OIDC        oidc.Config
	// DeletionGrace is the time between the request to delete an account and the deletion. It is at
	// least AccessTTL: otherwise a request that is in progress, or a replica that starts in that
	// time and accepts an access token, could store rows after the deletion. 0 is for tests, and
	// deletes immediately.
	DeletionGrace time.Duration `env:"DELETION_GRACE" envDefault:"72h"`
}

func (c Config) check() error {
	problems := []error{c.Mail.Check(), c.OIDC.Check(c.Mail.PublicURL)}
	if c.AccessTTL < time.Second {
		problems = append(problems, errors.New("ACCESS_TTL must be at least 1s"))
	}
	if c.RefreshTTL < c.AccessTTL {
		problems = append(problems, errors.New("REFRESH_TTL must not be shorter than ACCESS_TTL"))
	}
	if c.KeyRotation < signing.MinRotation {
		problems = append(problems,
			fmt.Errorf("KEY_ROTATION must be at least %s", signing.MinRotation))
	}
	if c.DeletionGrace < 0 {
		problems = append(problems, errors.New("DELETION_GRACE must not be negative"))
	}
	return errors.Join(problems...)
}

// server implements AuthService. Replicas share nothing but the database and the service key.
type server struct {
	authv1.UnsafeAuthServiceServer

	db      *pgxpool.Pool
	config  Config
	hasher  *password.Hasher
	keys    *signing.Ring
	mails   *mail.Outbox
	tokens  *tokens.Server
	factors *factors.Server
	oidc    *oidc.Server
	// deletions deletes accounts.
	deletions *deletion.Server
	// invitations sends the mails of the budget service's invitations.
	invitations *invitations.Sender
	// cursors seals the positions of lists with the service key, so that all replicas accept them.
	cursors page.Cursors
	// wake makes the relay publish new events soon.
	wake func()
	// now is the time of all decisions and of all stored timestamps.
	now func() time.Time
	// newID returns a UUIDv7, so ids sort by the time of creation and lists use the id as their
	// position.
	newID func() uuid.UUID
}

var _ authv1.AuthServiceServer = (*server)(nil)

// Run serves on lis until ctx ends. It starts while PostgreSQL is unavailable, and returns an error
// if the schema is older than Migrations.
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
	server, err := newServer(db, config, bus.Wake, time.Now, log)
	if err != nil {
		return err
	}
	verifier, err := caller.NewVerifier(server.trust(), time.Now, log)
	if err != nil {
		return err
	}
	if err := pg.AwaitSchema(ctx, db, Migrations, log); err != nil {
		return err
	}
	// Load or create the first key before serving, so that GetKeySet never returns an empty set.
	if err := server.keys.Refresh(ctx); err != nil {
		log.WarnContext(ctx, "failed to load the signing keys", "error", err)
	}
	go server.keys.Run(ctx)
	go verifier.Run(ctx)
	go server.mails.Run(ctx)
	go bus.Relay(ctx, db)
	go bus.Consume(ctx, db,
		outbox.Consumer{
			Name: auditConsumer, Subject: sharingSubject, Apply: server.noteSharing,
			Applied: server.mails.Wake,
		})
	server.deletions.AwaitApplied = func(ctx context.Context) error {
		return bus.AwaitApplied(ctx, auditConsumer)
	}
	server.deletions.EraseEvents = bus.Erase
	go bus.Consume(ctx, db, server.deletions.Consumer())
	go server.deletions.Run(ctx)
	go pg.Sweep(ctx, log, server.expire)

	stopMeasuring, err := server.deletions.Measure()
	if err != nil {
		return err
	}
	defer func() { _ = stopMeasuring() }()
	srv := rpc.NewServer(config.Config, verifier, log)
	authv1.RegisterAuthServiceServer(srv, server)
	authv1.RegisterTokenServiceServer(srv, server.tokens)
	authv1.RegisterFactorServiceServer(srv, server.factors)
	authv1.RegisterPasskeyServiceServer(srv, server.factors)
	authv1.RegisterDeletionServiceServer(srv, server.deletions)
	authv1.RegisterOidcServiceServer(srv, server.oidc)
	return srv.Serve(ctx, lis, server.ready)
}

// newServer returns a server without background work; Run starts that.
func newServer(
	db *pgxpool.Pool, config Config, wake func(), now func() time.Time, log *slog.Logger,
) (*server, error) {
	hasher, err := password.NewHasher()
	if err != nil {
		return nil, err
	}
	server := &server{
		db:      db,
		config:  config,
		hasher:  hasher,
		cursors: page.NewCursors(config.ServiceKey),
		wake:    wake,
		now:     now,
		newID:   func() uuid.UUID { return uuid.Must(uuid.NewV7()) },
	}
	server.keys = signing.New(signing.Config{
		DB: db, ServiceKey: config.ServiceKey, Rotation: config.KeyRotation,
		AccessTTL: config.AccessTTL, Log: log, Now: now, NewID: server.newID,
	})
	server.mails, err = mail.New(mail.Options{
		Config: config.Mail, DB: db, ServiceKey: config.ServiceKey, Now: now, Log: log,
		Resolve: server.resolveMail,
	})
	if err != nil {
		return nil, err
	}
	server.tokens = &tokens.Server{Config: tokens.Config{
		DB: db, Keys: server.keys, User: server.currentUserID, Audit: server.noteToken,
		CheckCreator: server.checkVerified, Wake: server.mails.Wake,
		ClientAddress: config.ClientAddress, Now: now, NewID: server.newID,
	}}
	server.factors = server.newFactors()
	server.invitations = &invitations.Sender{
		Mails: server.mails, Publish: server.publish, Now: now, NewID: server.newID,
		RequireVerified: config.verification() != verificationOff,
	}
	server.deletions = server.newDeletions(log)
	server.oidc = server.newOidc(log)
	return server, nil
}

// ready reports whether the service can answer: PostgreSQL is available, and a signing key is
// loaded, because without one no user could sign in.
func (s *server) ready(ctx context.Context) error {
	if err := s.keys.Ready(); err != nil {
		return err
	}
	return pg.Ping(ctx, s.db)
}

// expire deletes rows that no longer have an effect. Any replica may run it at any time.
func (s *server) expire(ctx context.Context) error {
	now := s.now()
	// Verifiers read an ended session from the table until its last access token has expired.
	return errors.Join(
		idem.Expire(ctx, s.db),
		deleteSessions(ctx, s.db, now.Add(-s.config.AccessTTL-revokedMargin)),
		deleteRefreshTokens(ctx, s.db, now),
		deleteFailures(ctx, s.db, now),
		deleteKnownAddresses(ctx, s.db, now.Add(-knownAddressKept)),
		deleteAudit(ctx, s.db, now.Add(-auditKept)),
		s.tokens.Expire(ctx),
		s.factors.Expire(ctx),
		s.deletions.Expire(ctx),
		links.Expire(ctx, s.db, now),
		s.mails.Expire(ctx))
}

// publish adds an event to the outbox in the transaction tx, so that it is published if and only if
// the change is committed.
func (s *server) publish(ctx context.Context, tx pgx.Tx, user uuid.UUID, data proto.Message) error {
	// The relay polls soon after this. If that is before the commit, a later poll finds the event.
	s.wake()
	return outbox.Add(ctx, tx, outbox.Event{ID: s.newID(), UserID: user, Data: data})
}

// trust returns the state that this service verifies tokens against. It calls the methods directly;
// the other services use gRPC.
func (s *server) trust() caller.Trust { return caller.TrustOf(s.GetKeySet, s.ListRevokedSessions) }
