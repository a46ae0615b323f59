package devstack

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/coffer-budget/coffer/gateway"
	"github.com/coffer-budget/coffer/internal/app"
	"github.com/coffer-budget/coffer/internal/mtls"
	"github.com/coffer-budget/coffer/internal/rpc"
	"github.com/coffer-budget/coffer/services/auth"
	"github.com/coffer-budget/coffer/services/budget"
	"github.com/coffer-budget/coffer/services/ledger"
	"github.com/coffer-budget/coffer/services/ocr"
)

const (
	// readyTime is generous: a machine may be compiling beside us.
	readyTime = time.Minute
	// patience is how long a service may finish what is in flight before the person at the terminal has waited enough.
	patience = 5 * time.Second
)

// service is one that runs in this process.
type service struct {
	title string
	// addr stays the same when the service starts again.
	addr  string
	lis   net.Listener
	serve func(ctx context.Context, lis net.Listener) error
	probe func(ctx context.Context, addr string) error

	broken chan error
	cancel context.CancelCauseFunc
	ended  chan struct{}
	// err is how it ended, and alone that nobody had asked it to; both are set once ended is closed.
	err   error
	alone bool
}

func (s *service) name() string { return s.title }

func (s *service) failures() <-chan error { return s.broken }

// begin serves without waiting to be ready: the services wait for each other.
func (s *service) begin(ctx context.Context) error {
	if s.lis == nil {
		lis, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.addr)
		if err != nil {
			return fmt.Errorf("listening again: %w", err)
		}
		s.lis = lis
	}
	// It ends when it is told to, not when the caller's context does: there is an order.
	serving, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	s.cancel, s.ended, s.err, s.alone = cancel, make(chan struct{}), nil, false
	go func(lis net.Listener) {
		defer close(s.ended)
		defer lis.Close()
		s.err = s.serve(serving, lis)
		if serving.Err() == nil {
			s.alone = true
			report(s.broken, fmt.Errorf("%s ended: %w", s.title, reason(s.err)))
		}
	}(s.lis)
	s.lis = nil
	return nil
}

// reason is for a service that returned although nobody asked it to.
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

// forget closes a port that was taken for a service which never came to use it.
func (s *service) forget() error {
	if s.lis == nil {
		return nil
	}
	return s.lis.Close()
}

func (s *service) stop() error {
	if s.cancel == nil {
		return nil
	}
	s.cancel(errAsked)
	select {
	case <-s.ended:
		s.cancel = nil
		if s.alone {
			return nil // it was told when it happened
		}
		return s.err
	case <-time.After(patience):
		return fmt.Errorf("it still has requests in flight after %s", patience)
	}
}

// open takes the ports of all services.
func (s *Stack) open(ctx context.Context, config Config) ([]*service, error) {
	services := []*service{
		{title: "auth", addr: config.AuthAddr, probe: s.healthy("auth")},
		{title: "ocr", addr: config.OCRAddr, probe: s.healthy("ocr")},
		{title: "ledger", addr: config.LedgerAddr, probe: s.healthy("ledger")},
		{title: "budget", addr: config.BudgetAddr, probe: s.healthy("budget")},
		{title: "gateway", addr: config.HTTPAddr, probe: ready},
	}
	settings := map[string]string{"auth": "AUTH_ADDR", "ocr": "OCR_ADDR", "ledger": "LEDGER_ADDR", "budget": "BUDGET_ADDR", "gateway": "HTTP_ADDR"}
	s.GRPC = map[string]string{}
	for _, service := range services {
		if config.Programs != "" {
			service.addr = lasting(ctx, service.addr)
		}
		lis, err := listen(ctx, service.addr, service.title, settings[service.title])
		if err != nil {
			return nil, err
		}
		s.tidy = append(s.tidy, service.forget)
		service.lis, service.broken, service.addr = lis, make(chan error, 1), reachable(lis.Addr())
		s.GRPC[service.title] = service.addr
	}
	s.URL = "http://" + s.GRPC["gateway"]
	delete(s.GRPC, "gateway")
	for _, other := range []struct{ addr, what, setting string }{
		{config.NATSAddr, "NATS", "NATS_ADDR"},
		{config.MetricsAddr, "the metrics", "METRICS_ADDR"},
	} {
		if other.addr == "" {
			continue
		}
		lis, err := listen(ctx, other.addr, other.what, other.setting)
		if err != nil {
			return nil, err
		}
		_ = lis.Close()
	}
	return services, nil
}

// startServices starts all services and waits for all.
func (s *Stack) startServices(ctx context.Context, services []*service, config Config) error {
	here := map[string]func(environment map[string]string) func(context.Context, net.Listener) error{
		"auth": bind(auth.Run), "ocr": bind(ocr.Run), "ledger": bind(ledger.Run), "budget": bind(budget.Run), "gateway": bind(gateway.Run),
	}
	for _, service := range services {
		environment, err := s.environment(service.title, config)
		if err != nil {
			return err
		}
		service.serve = here[service.title](environment)
		if config.Programs != "" {
			service.serve = launch(filepath.Join(config.Programs, service.title), filepath.Join(config.DataDir, service.title+".log"), environment)
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

// environment is what a service finds in its own.
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
	link := config.Link
	if link == nil {
		link = func(_, _, addr string) (string, error) { return addr, nil }
	}
	var err error
	for other, addr := range s.GRPC {
		if addr, err = link(title, other, addr); err != nil {
			return nil, err
		}
		if config.direct() {
			addr = rpc.InProcess + addr
		}
		environment[strings.ToUpper(other)+"_ADDR"] = addr
	}
	for name, other := range map[string]struct{ title, url string }{
		"DATABASE_URL": {"postgres", s.Databases[title]}, "NATS_URL": {"nats", s.NATS},
	} {
		u, err := url.Parse(other.url)
		if err != nil {
			return nil, err
		}
		if u.Host != "" {
			if u.Host, err = link(title, other.title, u.Host); err != nil {
				return nil, err
			}
		}
		environment[name] = u.String()
	}
	return environment, nil
}

// bind reads a service's configuration as its own process would, so that defaults and checks are the same.
func bind[C any](run func(context.Context, C, net.Listener) error) func(map[string]string) func(context.Context, net.Listener) error {
	return func(environment map[string]string) func(context.Context, net.Listener) error {
		return func(ctx context.Context, lis net.Listener) error {
			config, err := app.ParseEnv[C](environment)
			if err != nil {
				return err
			}
			return run(ctx, config, lis)
		}
	}
}

// healthy asks a service whether it is ready; with certificates, as the gateway.
func (s *Stack) healthy(name string) func(ctx context.Context, addr string) error {
	return func(ctx context.Context, addr string) error {
		conn, err := grpc.NewClient("passthrough:///"+addr, grpc.WithTransportCredentials(mtls.Client(s.Certificates["gateway"], name)))
		if err != nil {
			return err
		}
		defer conn.Close()
		return serving(ctx, conn)
	}
}

func serving(ctx context.Context, conn *grpc.ClientConn) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	resp, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{}, grpc.WaitForReady(true))
	if err != nil {
		return err
	}
	if resp.GetStatus() != healthpb.HealthCheckResponse_SERVING {
		return fmt.Errorf("it says %s", resp.GetStatus())
	}
	return nil
}

func ready(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/readyz", http.NoBody)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("/readyz answers %s", resp.Status)
	}
	return nil
}
