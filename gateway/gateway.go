// Package gateway serves Coffer's REST API by calling its gRPC services.
//
// A request passes these packages and files in this order, and no import runs against it:
//
//  1. handler.go joins the parts. admission limits requests: load shedding comes first.
//  2. response assigns the request id and logs the request at its end. middleware.go sets security
//     headers, answers CORS preflights and recovers from panics.
//  3. router.go rejects unclean paths. The mux of grpc-gateway matches the other paths: those of
//     RPCs, and the gateway's own in endpoints.go, docs.go and readiness.go. Without a match,
//     router.go answers with a file or a screen of console, or with an error.
//  4. transcoding handles the requests of RPCs. admission verifies the token and counts the
//     request, and decode makes the request message. transcoding calls the service over
//     connections.go, and makes the response from the reply.
//  5. response converts the error of any step to a response.
//
// The gateway verifies tokens, but the services verify them again and check all permissions.
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

	"github.com/coffer-budget/coffer/gateway/internal/admission"
	"github.com/coffer-budget/coffer/gateway/internal/transcoding"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/connlimit"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
)

const maxProbes = 100

const drainTime = 20 * time.Second

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
	trust := caller.FromAuth(authv1.NewAuthServiceClient(conns.trust))
	verifier, err := caller.NewVerifier(trust, time.Now, log)
	if err != nil {
		return fmt.Errorf("making the token verifier: %w", err)
	}
	background, stop := context.WithCancel(ctx)
	defer stop()
	go verifier.Run(background)

	routes, err := transcoding.Routes()
	if err != nil {
		return err
	}
	s := &server{config, conns, verifier, admission.UsualTransfers, log}
	handler, err := s.handler(ctx, routes)
	if err != nil {
		return err
	}
	limited, err := connlimit.Listen(ctx, lis, config.connectionLimits())
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
		ReadTimeout:       transcoding.ReadTimeout,
		WriteTimeout:      transcoding.WriteTimeout,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	})
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
	server := &http.Server{
		Handler: mux, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute,
		ConnState: limited.ConnState,
	}
	go func() { _ = server.Serve(limited) }()
	return func() { _ = server.Close() }, nil
}

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
