// Package devstack runs all of Coffer on one machine: a private PostgreSQL, an embedded NATS
// server, the services and the gateway, each with a listener as in production. It is the stack of
// `make run`, which keeps its data, and of the tests, which start an ephemeral one.
//
// Start and StartEphemeral return when all parts are ready. The stack then restarts a part that
// fails (supervise.go), until Stop. It guarantees that a second stack never uses the same data,
// that an occupied port is reported before anything is started, and that nothing keeps running
// after Stop or, on Linux, after the death of the process. Halt, Kill and Resume stop and start
// single parts in tests. Backup and Restore copy the data.
//
// Start reading with assemble in this file. stores.go starts PostgreSQL (package pgserver) and
// NATS, database.go creates roles and schemas, services.go and programs.go start the services, and
// secrets.go creates passwords and certificates.
package devstack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/coffer-budget/coffer/devstack/pgserver"
	"github.com/coffer-budget/coffer/internal/app"
	"github.com/coffer-budget/coffer/internal/mtls"
	"github.com/coffer-budget/coffer/services/auth/mailbox"
)

// Config is the configuration of a stack, read from the environment. Addresses are host:port; port
// 0 selects a free port.
type Config struct {
	// DataDir is the folder of the database, the events, the secrets and the log.
	DataDir string `env:"DATA_DIR" envDefault:".data"`
	// HTTPAddr is the address of the gateway. The following fields are the addresses of the
	// services and of NATS.
	HTTPAddr   string `env:"HTTP_ADDR" envDefault:"127.0.0.1:8080"`
	AuthAddr   string `env:"AUTH_ADDR" envDefault:"127.0.0.1:9081"`
	LedgerAddr string `env:"LEDGER_ADDR" envDefault:"127.0.0.1:9082"`
	BudgetAddr string `env:"BUDGET_ADDR" envDefault:"127.0.0.1:9083"`
	OCRAddr    string `env:"OCR_ADDR" envDefault:"127.0.0.1:9084"`
	NATSAddr   string `env:"NATS_ADDR" envDefault:"127.0.0.1:9085"`
	// MetricsAddr serves the metrics of all services. If it is empty, no metrics are served.
	MetricsAddr string `env:"METRICS_ADDR" envDefault:"127.0.0.1:9464"`
	// MailAddr receives the mails of auth, and MailPageAddr shows them. If MailAddr is empty, auth
	// sends no mails.
	MailAddr     string `env:"MAIL_ADDR" envDefault:"127.0.0.1:1025"`
	MailPageAddr string `env:"MAIL_PAGE_ADDR" envDefault:"127.0.0.1:8025"`
	// PGBin is the folder of PostgreSQL's programs. If it is empty, pgserver searches for them.
	PGBin string `env:"PG_BIN"`
	// LogLevel is the level of coffer.log.
	LogLevel slog.Level `env:"LOG_LEVEL" envDefault:"INFO"`
	// MTLS turns on mutual TLS between the services and to NATS, as in production.
	MTLS bool `env:"MTLS" envDefault:"false"`

	// Environment adds variables for the services, such as CORS_ALLOWED_ORIGINS.
	Environment map[string]string `env:"-"`
	// Programs is a folder with the services' programs. Each then runs as a separate process. If it
	// is empty, all run in this process.
	Programs string `env:"-"`
	// Link, if set, replaces the address with which a part connects to another, for example by a
	// proxy that injects faults.
	Link func(from, to, addr string) (string, error) `env:"-"`

	// ephemeral makes the stores faster but not durable, and deletes all data at the end.
	ephemeral bool
	// server is the superuser's URL of a running PostgreSQL. The stack creates a database on it.
	server string
}

// Stack is a running Coffer.
type Stack struct {
	// URL is the URL of the gateway, without a trailing slash.
	URL string
	// GRPC is each service's host:port, by name: auth, ledger, budget, ocr.
	GRPC map[string]string
	// Databases maps each service to the URL of its role, and "" to the URL of the superuser. All
	// name the same database.
	Databases map[string]string
	// NATS is the server's URL, with user and password.
	NATS string
	// Mailbox has the mails that auth has sent, and MailPage is the URL of their page. It is nil if
	// MailAddr is empty or another mail server is configured.
	Mailbox  *mailbox.Mailbox
	MailPage string
	// ServiceKey authenticates RPCs between services.
	ServiceKey string
	// Certificates maps the services, the gateway and NATS to their certificates. It is empty
	// without MTLS.
	Certificates map[string]mtls.Config
	// PostgresDir is the folder of the cluster, empty if the stack uses an existing server.
	PostgresDir string
	// Failed delivers the failures of parts, which the stack restarts. Failures that no receiver
	// reads are dropped.
	Failed <-chan error

	// parts are in the order of their start.
	parts  []*supervised
	failed chan error
	// smtp is the address of Mailbox.
	smtp string
	// unsupervise ends the supervision. It returns when no restart is in progress.
	unsupervise func()
	// tidy has the functions to call after all parts have stopped, in reverse order.
	tidy []func() error
}

// part can be stopped and started again while the others run. postgres, natsServer and service
// implement it.
type part interface {
	// name is the argument of Halt, Kill and Resume.
	name() string
	// start returns when the part is ready.
	start(ctx context.Context) error
	// stop returns when the part has finished the requests in flight.
	stop() error
	// failures delivers the reason when the part ends or stops working although stop was not
	// called.
	failures() <-chan error
}

// Start starts all parts and returns when they are ready. Its errors are messages for the user at
// the terminal. After an error all parts are stopped.
func Start(ctx context.Context, config Config) (*Stack, error) {
	s := &Stack{failed: make(chan error, 8), unsupervise: func() {}}
	s.Failed = s.failed
	if err := s.assemble(ctx, config); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	s.supervise(ctx)
	return s, nil
}

// StartEphemeral starts a stack for tests, on free ports and with temporary data. It creates a
// database on server, the URL of a PostgreSQL superuser, or starts a temporary PostgreSQL if server
// is empty. environment is the environment of `make run`, except folders and addresses.
func StartEphemeral(
	ctx context.Context, server string, environment map[string]string,
) (*Stack, error) {
	dir, err := os.MkdirTemp("", "coffer-")
	if err != nil {
		return nil, fmt.Errorf("creating a folder for temporary data: %w", err)
	}
	// PostgreSQL may run as another user, which must be able to enter the folder.
	if err := os.Chmod(dir, 0o711); err != nil {
		return nil, errors.Join(fmt.Errorf("setting the permissions of %s: %w", dir, err),
			os.RemoveAll(dir))
	}
	const free = "127.0.0.1:0"
	config := Config{
		DataDir: dir, HTTPAddr: free, AuthAddr: free, LedgerAddr: free, BudgetAddr: free,
		OCRAddr: free, NATSAddr: free, MailAddr: free, MailPageAddr: free,
		MTLS: environment["MTLS"] == "true", Environment: environment, ephemeral: true,
		server: server,
	}
	s, err := Start(ctx, config)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	s.tidy = slices.Insert(s.tidy, 0, func() error { return os.RemoveAll(dir) })
	return s, nil
}

// Stop stops all parts in the reverse order of their start, because a part needs the earlier ones
// to finish its requests. Then it deletes temporary data.
func (s *Stack) Stop() error {
	s.unsupervise()
	var failures []error
	for _, p := range slices.Backward(s.parts) {
		if err := p.part.stop(); err != nil {
			failures = append(failures, fmt.Errorf("stopping %s: %w", p.part.name(), err))
		}
	}
	for _, f := range slices.Backward(s.tidy) {
		failures = append(failures, f())
	}
	s.parts, s.tidy = nil, nil
	return errors.Join(failures...)
}

// assemble starts the parts in the order of their dependencies. It locks the data directory before
// it uses the data. Each step registers its cleanup in s.parts or s.tidy, so that Stop also cleans
// up after a failed step.
func (s *Stack) assemble(ctx context.Context, config Config) error {
	dir, err := filepath.Abs(config.DataDir)
	if err != nil {
		return fmt.Errorf("finding the folder %s: %w", config.DataDir, err)
	}
	if err := pgserver.MakeDir(dir); err != nil {
		return err
	}
	unlock, err := lock(dir)
	if err != nil {
		return err
	}
	s.tidy = append(s.tidy, unlock)
	secrets, err := loadSecrets(dir)
	if err != nil {
		return err
	}
	s.ServiceKey = secrets.ServiceKey

	if s.Certificates, err = issueCertificates(dir, config.MTLS); err != nil {
		return err
	}
	// Listeners open first, so that an occupied port is reported before a part starts, and early
	// requests wait.
	services, err := s.open(ctx, &config)
	if err != nil {
		return err
	}
	if err := s.startMailbox(ctx, config); err != nil {
		return err
	}
	if err := s.startStores(ctx, config, dir, secrets); err != nil {
		return err
	}
	if err := s.measure(ctx, config); err != nil {
		return err
	}
	return s.startServices(ctx, services, config)
}

// startStores starts PostgreSQL and NATS, and prepares the database.
func (s *Stack) startStores(ctx context.Context, config Config, dir string, secrets secrets) error {
	superuser := config.server
	if superuser == "" {
		options := pgserver.Options{
			Dir: filepath.Join(dir, "postgres"), Bin: config.PGBin, Durable: !config.ephemeral,
		}
		p := &postgres{options: options, broken: make(chan error, 1)}
		if err := s.start(ctx, p); err != nil {
			return err
		}
		superuser, s.PostgresDir = p.server.URL, p.server.Dir
		if config.ephemeral {
			s.tidy = append(s.tidy, func() error { return os.RemoveAll(s.PostgresDir) })
		}
	}
	var err error
	if config.server != "" {
		s.Databases, err = s.borrowDatabase(ctx, superuser)
	} else {
		s.Databases, err = prepareDatabase(ctx, superuser, database, secrets.Passwords)
	}
	if err != nil {
		return err
	}
	// psql and Backup use this file. Only the user can read it, because it contains the superuser's
	// password.
	file := filepath.Join(dir, databaseURLFile)
	if err := os.WriteFile(file, []byte(s.Databases[""]+"\n"), 0o600); err != nil {
		return fmt.Errorf("storing the database's URL: %w", err)
	}
	n := &natsServer{
		addr: config.NATSAddr, dir: filepath.Join(dir, "nats"), password: secrets.NATS,
		certificate: s.Certificates["nats"], broken: make(chan error, 1),
	}
	if err := s.start(ctx, n); err != nil {
		return err
	}
	s.NATS = n.url()
	return nil
}

// start starts a part. The part is listed even if that fails, because Stop must stop a part that
// failed during its start.
func (s *Stack) start(ctx context.Context, p part) error {
	s.parts = append(s.parts, &supervised{part: p})
	if err := p.start(ctx); err != nil {
		return fmt.Errorf("%s: %w", p.name(), err)
	}
	return nil
}

// measure serves the metrics of this process. The stacks of tests do not, because one process may
// run several of them.
func (s *Stack) measure(ctx context.Context, config Config) error {
	if config.MetricsAddr == "" {
		return nil
	}
	stop, err := app.Telemetry(ctx, "coffer", config.MetricsAddr)
	if err != nil {
		return err
	}
	s.tidy = append(s.tidy, stop)
	return nil
}
