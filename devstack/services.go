package devstack

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/coffer-budget/coffer/devstack/ports"
	"github.com/coffer-budget/coffer/gateway"
	"github.com/coffer-budget/coffer/services/auth"
	"github.com/coffer-budget/coffer/services/budget"
	"github.com/coffer-budget/coffer/services/ledger"
	"github.com/coffer-budget/coffer/services/ocr"
)

const (
	// readyTime limits the start of a service. It is long because the machine may be compiling at
	// the same time.
	readyTime = time.Minute
	// stopTimeout limits how long Stop waits for the requests in flight of a service.
	stopTimeout = 5 * time.Second
)

// service is the gateway or one of the services. It runs in this process, or as a separate one
// (programs.go).
type service struct {
	title string
	// addr stays the same when the service starts again.
	addr string
	// lis is the open listener of a service that has not begun yet.
	lis   net.Listener
	serve serve
	// probe returns an error while the service is not ready.
	probe func(ctx context.Context, addr string) error

	// broken has room for one failure, see report. cancel is nil while the service is not running,
	// and ended is closed when serve has returned.
	broken chan error
	cancel context.CancelCauseFunc
	ended  chan struct{}
	// err is the result of serve, and unrequested reports that it returned before stop. Both are
	// valid once ended is closed.
	err         error
	unrequested bool
}

func (s *service) name() string { return s.title }

func (s *service) failures() <-chan error { return s.broken }

// begin runs the service without waiting until it is ready, because services wait for each other.
func (s *service) begin(ctx context.Context) error {
	if s.lis == nil {
		ports.AwaitClosed(ctx, s.addr)
		lis, err := ports.Listen(ctx, s.addr)
		if err != nil {
			return fmt.Errorf("listening again: %w", err)
		}
		s.lis = lis
	}
	// The service runs until stop, not until the caller's context ends, because Stop stops the
	// parts in order.
	serving, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	s.cancel, s.ended, s.err, s.unrequested = cancel, make(chan struct{}), nil, false
	go func(lis net.Listener) {
		defer close(s.ended)
		defer lis.Close()
		s.err = s.serve(serving, lis)
		if serving.Err() == nil {
			s.unrequested = true
			report(s.broken, fmt.Errorf("%s ended: %w", s.title, reason(s.err)))
		}
	}(s.lis)
	s.lis = nil
	return nil
}

// reason returns the error of a service that ended before stop, also if it returned without one.
func reason(err error) error {
	if err == nil {
		return errors.New("it returned")
	}
	return err
}

func (s *service) start(ctx context.Context) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	return s.await(ctx)
}

func (s *service) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	for {
		err := s.probe(ctx, s.addr)
		if err == nil {
			return nil
		}
		select {
		case <-s.ended:
			return fmt.Errorf("%s did not start: %w", s.title, reason(s.err))
		case <-ctx.Done():
			return fmt.Errorf("%s did not become ready: %w", s.title, errors.Join(ctx.Err(), err))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (s *service) closeUnused() error {
	if s.lis == nil {
		return nil
	}
	return s.lis.Close()
}

// stop implements part. It cancels serve's context and waits until serve has returned. After a
// timeout the service counts as running, so that stop can be called again.
func (s *service) stop() error {
	if s.cancel == nil {
		return nil
	}
	s.cancel(errStopped)
	select {
	case <-s.ended:
		s.cancel = nil
		if s.unrequested {
			return nil // failures delivered it
		}
		return s.err
	case <-time.After(stopTimeout):
		return fmt.Errorf("it still has requests in flight after %s", stopTimeout)
	}
}

// open opens the ports of all services. It also verifies that the ports of NATS and the metrics are
// free, and replaces port 0 in their addresses. These two are closed again, because NATS and the
// metrics server open their ports themselves.
func (s *Stack) open(ctx context.Context, config *Config) ([]*service, error) {
	services := []*service{
		{title: "auth", addr: config.AuthAddr, probe: s.healthy("auth")},
		{title: "ocr", addr: config.OCRAddr, probe: s.healthy("ocr")},
		{title: "ledger", addr: config.LedgerAddr, probe: s.healthy("ledger")},
		{title: "budget", addr: config.BudgetAddr, probe: s.healthy("budget")},
		{title: "gateway", addr: config.HTTPAddr, probe: ready},
	}
	// The settings are named in the errors of listen.
	settings := map[string]string{
		"auth": "AUTH_ADDR", "ocr": "OCR_ADDR", "ledger": "LEDGER_ADDR", "budget": "BUDGET_ADDR",
		"gateway": "HTTP_ADDR",
	}
	s.GRPC = map[string]string{}
	for _, service := range services {
		lis, err := listen(ctx, service.addr, service.title, settings[service.title])
		if err != nil {
			return nil, err
		}
		s.tidy = append(s.tidy, service.closeUnused)
		service.lis, service.broken, service.addr = lis, make(chan error, 1), reachable(lis.Addr())
		s.GRPC[service.title] = service.addr
	}
	s.URL = "http://" + s.GRPC["gateway"]
	delete(s.GRPC, "gateway")
	for _, other := range []struct {
		addr          *string
		what, setting string
	}{
		{&config.NATSAddr, "NATS", "NATS_ADDR"},
		{&config.MetricsAddr, "the metrics", "METRICS_ADDR"},
	} {
		if *other.addr == "" {
			continue
		}
		lis, err := listen(ctx, *other.addr, other.what, other.setting)
		if err != nil {
			return nil, err
		}
		_ = lis.Close()
		*other.addr = lis.Addr().String()
		ports.AwaitClosed(ctx, *other.addr)
	}
	return services, nil
}

// startServices starts all services and returns when all are ready. They start concurrently,
// because readiness of one may require another.
func (s *Stack) startServices(ctx context.Context, services []*service, config Config) error {
	here := map[string]func(map[string]string) serve{
		"auth": bind(auth.Run), "ocr": bind(ocr.Run), "ledger": bind(ledger.Run),
		"budget": bind(budget.Run), "gateway": bind(gateway.Run),
	}
	// A listener accepts connections before its service is ready, so requests during the start wait
	// instead of failing.
	for _, service := range services {
		environment, err := s.environment(service.title, config)
		if err != nil {
			return err
		}
		service.serve = here[service.title](environment)
		if config.Programs != "" {
			service.serve = launch(filepath.Join(config.Programs, service.title),
				filepath.Join(config.DataDir, service.title+".log"), environment)
		}
		s.parts = append(s.parts, &supervised{part: service})
		if err := service.begin(ctx); err != nil {
			return err
		}
	}
	for _, service := range services {
		if err := service.await(ctx); err != nil {
			return err
		}
	}
	return nil
}

// environment returns the environment variables of a service: the Environment of the configuration,
// the addresses of the other parts, the secrets and the certificates. Services in this process read
// the same variables as separate processes. Ports and folders of the user's shell have no influence
// on services in this process.
func (s *Stack) environment(title string, config Config) (map[string]string, error) {
	environment := maps.Clone(config.Environment)
	if environment == nil {
		environment = map[string]string{}
	}
	certificates := s.Certificates[title]
	maps.Copy(environment, map[string]string{
		"SERVICE_KEY": s.ServiceKey, "REFLECTION": "true", "HEALTH_ADDR": "",
		"TLS_CERT": certificates.Cert, "TLS_KEY": certificates.Key, "TLS_CA": certificates.CA,
	})
	if s.PostgresDir != "" && environment["STORAGE_FOLDER"] == "" {
		environment["STORAGE_FOLDER"] = s.PostgresDir
	}
	if title == "auth" {
		maps.Copy(environment, s.mailEnvironment(config))
	}
	link := config.Link
	if link == nil {
		link = func(_, _, addr string) (string, error) { return addr, nil }
	}
	var err error
	for other, addr := range s.GRPC {
		if addr, err = link(title, other, addr); err != nil {
			return nil, err
		}
		environment[strings.ToUpper(other)+"_ADDR"] = addr
	}
	for name, other := range map[string]struct{ title, url string }{
		"DATABASE_URL": {"postgres", s.Databases[title]}, "NATS_URL": {"nats", s.NATS},
	} {
		target, err := url.Parse(other.url)
		if err != nil {
			return nil, err
		}
		if target.Host != "" {
			if target.Host, err = link(title, other.title, target.Host); err != nil {
				return nil, err
			}
		}
		environment[name] = target.String()
	}
	return environment, nil
}
