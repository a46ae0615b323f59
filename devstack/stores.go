package devstack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/coffer-budget/coffer/devstack/pgserver"
	"github.com/coffer-budget/coffer/devstack/ports"
	"github.com/coffer-budget/coffer/internal/mtls"
	"github.com/coffer-budget/coffer/internal/outbox"
)

// postgres is the stack's private PostgreSQL server. It keeps its port when it starts again,
// because the services know its URL.
type postgres struct {
	options pgserver.Options
	server  *pgserver.Server
	broken  chan error
	// stopping is closed before the server is stopped. It is nil while the server is not running.
	stopping chan struct{}
}

func (p *postgres) name() string { return "postgres" }

func (p *postgres) failures() <-chan error { return p.broken }

// start implements part. A goroutine reports the end of the server unless stop or kill caused it.
func (p *postgres) start(ctx context.Context) error {
	started, err := pgserver.Start(ctx, p.options)
	if err != nil {
		return err
	}
	p.options.Port = started.Port
	stopping := make(chan struct{})
	p.server, p.stopping = started, stopping
	go func() {
		<-started.Done()
		select {
		case <-stopping:
		default:
			report(p.broken, fmt.Errorf("PostgreSQL ended:%s", started.LastLog()))
		}
	}()
	return nil
}

func (p *postgres) stop() error {
	if p.stopping == nil {
		return nil
	}
	close(p.stopping)
	p.stopping = nil
	return p.server.Stop()
}

// kill ends the server like a crash. The next start recovers from the write-ahead log.
func (p *postgres) kill() error {
	if p.stopping == nil {
		return errors.New("it is not running")
	}
	close(p.stopping)
	p.stopping = nil
	p.server.Kill()
	return nil
}

const (
	// natsUser is the user of all services. The password is in secrets.json.
	natsUser = "coffer"
	// natsMaxStore limits the stream's files, in bytes. NATS's default is three quarters of the
	// space that is free at its start. That is too little after the disk was full.
	natsMaxStore = 8 << 30
)

// natsServer is the embedded NATS server with JetStream. It runs in this process and stores its
// streams in dir. addr is its host:port.
type natsServer struct {
	addr, dir, password string
	// certificate turns on mutual TLS with the services. It is empty without MTLS.
	certificate mtls.Config
	server      *server.Server
	// reports is the connection on which relays report that the server stores no events.
	reports *outbox.Bus
	broken  chan error
}

func (n *natsServer) name() string { return "nats" }

// failures implements part. The relays of the services detect that the server stores no events.
func (n *natsServer) failures() <-chan error { return n.broken }

// start implements part. It returns when the stream exists.
func (n *natsServer) start(ctx context.Context) error {
	host, portText, err := net.SplitHostPort(n.addr)
	if err != nil {
		return err
	}
	port, err := strconv.Atoi(portText)
	if err != nil {
		return fmt.Errorf("the port of NATS_ADDR=%s is not a number", n.addr)
	}
	options := &server.Options{
		ServerName: "coffer", Host: host, Port: port, Username: natsUser, Password: n.password,
		JetStream: true, StoreDir: n.dir, JetStreamMaxStore: natsMaxStore, NoSigs: true,
		// The relay keeps an event in the outbox for longer than this, until NATS has certainly
		// synced it (ADR 25).
		SyncInterval: time.Second,
	}
	if n.certificate.On() {
		if options.TLSConfig, err = server.GenTLSConfig(&server.TLSConfigOpts{
			CertFile: n.certificate.Cert, KeyFile: n.certificate.Key, CaFile: n.certificate.CA,
			Verify: true,
		}); err != nil {
			return fmt.Errorf("setting up NATS's certificate: %w", err)
		}
	}
	started, err := server.NewServer(options)
	if err != nil {
		return fmt.Errorf("setting up NATS: %w", err)
	}
	started.SetLoggerV2(natsLog{slog.Default().With("service", "nats")}, false, false, false)
	ports.AwaitClosed(ctx, n.addr)
	started.Start()
	n.server = started
	if !started.ReadyForConnections(30*time.Second) || !started.JetStreamEnabled() {
		return fmt.Errorf("NATS did not start with its data in %s", n.dir)
	}
	n.addr = started.Addr().String()
	config := outbox.Config{NATSURL: n.url(), NATSReplicas: 1, TLS: n.certificate}
	if n.reports, err = outbox.Connect(config, "coffer", slog.Default()); err != nil {
		return err
	}
	unstored := func() { report(n.broken, errors.New("NATS stores no events")) }
	if err := n.reports.NotifyUnstored(unstored); err != nil {
		return fmt.Errorf("listening for reports of relays: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return n.reports.EnsureStream(ctx)
}

func (n *natsServer) url() string {
	u := url.URL{Scheme: "nats", User: url.UserPassword(natsUser, n.password), Host: n.addr}
	return u.String()
}

func (n *natsServer) stop() error {
	if n.reports != nil {
		n.reports.Close()
		n.reports = nil
	}
	if n.server == nil {
		return nil
	}
	n.server.Shutdown()
	n.server.WaitForShutdown()
	n.server = nil
	return nil
}

// natsLog writes errors of NATS to the log. Its warnings are about the configuration of the
// embedded server, which the user cannot change, so they have level INFO. Notices and debug
// messages are dropped.
type natsLog struct{ log *slog.Logger }

// The following methods implement server.Logger.

func (l natsLog) Noticef(string, ...any) {}
func (l natsLog) Debugf(string, ...any)  {}
func (l natsLog) Tracef(string, ...any)  {}

func (l natsLog) Warnf(format string, v ...any) { l.log.Info(fmt.Sprintf(format, v...)) }

func (l natsLog) Errorf(format string, v ...any) { l.log.Error(fmt.Sprintf(format, v...)) }

func (l natsLog) Fatalf(format string, v ...any) { l.log.Error(fmt.Sprintf(format, v...)) }
