// Package gateway serves Coffer's REST API by calling its gRPC services.
//
// A request passes these steps, each in a file of its name. serve in handler.go calls the steps
// from admit on in this order:
//
//  1. loadshed.go rejects requests to an overloaded service.
//  2. accesslog.go assigns the request id and logs the request at its end. middleware.go sets
//     security headers, answers CORS preflights, recovers from panics and rejects unclean paths.
//  3. route.go describes the RPC behind each path, which the mux of grpc-gateway matches.
//     endpoints.go has the gateway's own paths. pages.go decides which requests get the console,
//     and console.go serves its files.
//  4. admit.go verifies the token and counts the request with ratelimit.go.
//  5. internal/decode makes the request message from path, headers, query and body.
//  6. call.go calls the service. events.go streams events instead, upload.go and download.go files,
//     within the limits of transfer.go.
//  7. encode.go makes status, headers and body from the reply. conditional.go replaces an unchanged
//     body by 304.
//  8. errors.go converts the error of any step to a response.
//
// The gateway contains no code for a single resource, except for events: it reads everything from
// the options in the protos. It verifies tokens, but the services verify them again and check all
// permissions.
//
// Every response of an RPC has the status and the envelope that its proto declares, and every error
// the body that docs/errors.md describes. Limits of size, time, rate and concurrent requests
// protect the users of one service from those of another.
package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/connlimit"
	"github.com/coffer-budget/coffer/internal/mtls"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
)

// readReserve is added to the deadline of a request for the time to read it.
const readReserve = 5 * time.Second

// maxProbes limits the connections of probes.
const maxProbes = 100

// drainTime is how long a stopping gateway waits for requests in flight.
const drainTime = 20 * time.Second

// Config is the gateway's configuration, read from the environment.
type Config struct {
	// AuthAddr, LedgerAddr and BudgetAddr are the host:port of the services. The gateway never calls
	// ocr.
	AuthAddr   string `env:"AUTH_ADDR,required,notEmpty"`
	LedgerAddr string `env:"LEDGER_ADDR,required,notEmpty"`
	BudgetAddr string `env:"BUDGET_ADDR,required,notEmpty"`
	// ServiceKey lets the gateway ask auth which sessions were revoked. It is never sent along with a
	// user's request.
	ServiceKey string `env:"SERVICE_KEY,required,notEmpty,unset"`
	// TLS holds the certificate that the gateway presents to the services. REST itself is not
	// encrypted: the proxy in front of the gateway does that.
	TLS mtls.Config
	// AllowedOrigins are the web origins that browsers may call from, or "*". If empty, only the
	// gateway's own origin may.
	AllowedOrigins []string `env:"CORS_ALLOWED_ORIGINS"`
	// TrustProxyHops is the number of proxies in front of the gateway that append to X-Forwarded-For.
	// If 0, the header is ignored.
	TrustProxyHops int `env:"TRUST_PROXY_HOPS" envDefault:"0"`
	// RateLimit is the number of requests per second that a user, or an address without a user, may
	// make, with bursts of 5 times as many. 0 means no limit. Each instance counts separately.
	RateLimit float64 `env:"RATE_LIMIT" envDefault:"50"`
	// MaxConnections limits the open connections in total, MaxConnectionsPerAddress per client
	// address; 0: no limit. Behind proxies every connection comes from one of few addresses, so the
	// second does not apply if TrustProxyHops is set.
	MaxConnections           int `env:"MAX_CONNECTIONS" envDefault:"10000"`
	MaxConnectionsPerAddress int `env:"MAX_CONNECTIONS_PER_ADDRESS" envDefault:"1000"`
	// Web switches the console on. If false, "/" redirects to the documentation.
	Web bool `env:"WEB" envDefault:"true"`
	// HealthAddr serves /livez and /readyz, too, so that clients cannot take the connections of
	// probes; empty: nowhere.
	HealthAddr string `env:"HEALTH_ADDR"`
}

// Run serves the REST API on lis until ctx ends, then finishes the requests in flight. It starts
// even if the services are unavailable: their requests get 503 until they answer, and /readyz
// reports them.
func Run(ctx context.Context, config Config, lis net.Listener) error {
	log := slog.Default().With("service", "gateway")
	conns, err := dial(config)
	if err != nil {
		return err
	}
	defer conns.close()
	verifier, err := caller.NewVerifier(caller.FromAuth(authv1.NewAuthServiceClient(conns.trust)), time.Now, log)
	if err != nil {
		return fmt.Errorf("making the token verifier: %w", err)
	}
	background, stop := context.WithCancel(ctx)
	defer stop()
	go verifier.Run(background)

	handler, err := newHandler(ctx, config, conns, verifier, log)
	if err != nil {
		return err
	}
	limited, err := connlimit.Listen(ctx, lis, config.connections())
	if err != nil {
		return err
	}
	stopHealth, err := serveHealth(ctx, config.HealthAddr, handler)
	if err != nil {
		return err
	}
	defer stopHealth()
	return serve(ctx, limited, &http.Server{
		ConnState:         limited.ConnState,
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		// A little more than the deadline: net/http cancels a request after ReadTimeout even if all of it
		// has been read, and DEADLINE_EXCEEDED is the better response. admit extends it for uploads.
		ReadTimeout:    usualDeadline + readReserve,
		WriteTimeout:   multipartDeadline + 30*time.Second,
		IdleTimeout:    2 * time.Minute,
		MaxHeaderBytes: 64 << 10,
		ErrorLog:       slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	})
}

// connections returns the limits of the REST API's listener.
func (c Config) connections() connlimit.Limits {
	limits := connlimit.Limits{Total: c.MaxConnections, PerAddress: c.MaxConnectionsPerAddress}
	if c.TrustProxyHops > 0 {
		limits.PerAddress = 0
	}
	return limits
}

// serveHealth serves the probes on a separate listener with its own limit of connections: under a
// flood of connections, Kubernetes would otherwise restart a gateway that works.
func serveHealth(ctx context.Context, addr string, api http.Handler) (stop func(), err error) {
	if addr == "" {
		return func() {}, nil
	}
	lis, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listening for probes: %w", err)
	}
	limited, err := connlimit.Listen(ctx, lis, connlimit.Limits{Total: maxProbes})
	if err != nil {
		return nil, errors.Join(err, lis.Close())
	}
	mux := http.NewServeMux()
	mux.Handle("GET "+livePath, api)
	mux.Handle("GET "+readyPath, api)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute, ConnState: limited.ConnState}
	go func() { _ = server.Serve(limited) }()
	return func() { _ = server.Close() }, nil
}

// serve serves HTTP until ctx ends and then waits up to drainTime for the requests in flight.
func serve(ctx context.Context, lis net.Listener, server *http.Server) error {
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(lis) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serving HTTP: %w", err)
	case <-ctx.Done():
	}
	draining, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	if err := server.Shutdown(draining); err != nil {
		return errors.Join(fmt.Errorf("finishing requests in flight: %w", err), server.Close())
	}
	return nil
}
