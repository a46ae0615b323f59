// Package mtls provides mutual TLS between services, and the identity of the calling service.
//
// Each service has a certificate with its own name as DNS name, issued by the installation's
// authority: cert-manager in production, Authority on one machine and in tests. Client and Server
// return gRPC credentials that require a certificate of the authority from both ends, and Client
// also checks the name. IsCaller reports whether a call comes from one of the services that a proto
// lists. Certificate files are read again on each handshake, so that rotation needs no restart.
// While a rotation has written only some of the files, the previous certificates are used. Without
// files, connections are not encrypted and services identify themselves with the service key
// (package rpc).
package mtls

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync/atomic"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/peer"
)

// Config names PEM files: the process's certificate, its key, and the authority's certificate. If
// all are empty, connections are not encrypted.
type Config struct {
	Cert string `env:"TLS_CERT"`
	Key  string `env:"TLS_KEY"`
	CA   string `env:"TLS_CA"`
}

// On reports whether connections are encrypted.
func (c Config) On() bool { return c != Config{} }

// Check returns an error if the files are incomplete or unreadable. Call it at the start; otherwise
// each handshake would fail.
func (c Config) Check() error {
	if !c.On() {
		return nil
	}
	if c.Cert == "" || c.Key == "" || c.CA == "" {
		return errors.New("TLS_CERT, TLS_KEY and TLS_CA must be set together, or none of them")
	}
	_, err := c.load()
	return err
}

// Client returns credentials for connections to the named service. The server's certificate must
// have that name, regardless of the address.
func Client(c Config, service string) credentials.TransportCredentials {
	if !c.On() {
		return insecure.NewCredentials()
	}
	return newReloading(c, service)
}

// Server returns credentials for a service's listener. Clients without a certificate of the
// authority fail in the handshake.
func Server(c Config) credentials.TransportCredentials {
	if !c.On() {
		return insecure.NewCredentials()
	}
	return newReloading(c, "")
}

// IsCaller reports whether the call that ctx serves comes from one of the named services.
func IsCaller(ctx context.Context, services []string) bool {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return false
	}
	info, ok := p.AuthInfo.(credentials.TLSInfo)
	if !ok || len(info.State.VerifiedChains) == 0 {
		return false
	}
	for _, name := range info.State.VerifiedChains[0][0].DNSNames {
		if slices.Contains(services, name) {
			return true
		}
	}
	return false
}

type material struct {
	certificate tls.Certificate
	authority   *x509.CertPool
}

func (c Config) load() (*material, error) {
	certificate, err := c.Certificate()
	if err != nil {
		return nil, err
	}
	authority, err := c.Authority()
	if err != nil {
		return nil, err
	}
	return &material{certificate: certificate, authority: authority}, nil
}

// Certificate reads the process's certificate and key, for clients that do not use gRPC.
func (c Config) Certificate() (tls.Certificate, error) {
	certificate, err := tls.LoadX509KeyPair(c.Cert, c.Key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("reading the certificate: %w", err)
	}
	return certificate, nil
}

// Authority reads the pool with the authority's certificates.
func (c Config) Authority() (*x509.CertPool, error) {
	text, err := os.ReadFile(c.CA)
	if err != nil {
		return nil, fmt.Errorf("reading the authority's certificate: %w", err)
	}
	authority := x509.NewCertPool()
	if !authority.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s contains no certificate", c.CA)
	}
	return authority, nil
}

// reloading reads the files on each handshake, so that a rotated certificate takes effect with the
// next connection.
type reloading struct {
	files Config
	// server is the name that the server's certificate must have; empty on the server side.
	server string
	// last holds the last readable contents. All clones share it; gRPC clones the credentials for
	// each connection.
	last *atomic.Pointer[material]
}

// newReloading reads the files immediately, because the first handshake may happen during a
// rotation.
func newReloading(files Config, server string) *reloading {
	r := &reloading{files: files, server: server, last: &atomic.Pointer[material]{}}
	if m, err := files.load(); err == nil {
		r.last.Store(m)
	}
	return r
}

// current returns the contents of the files, or the last readable contents while a rotation is in
// progress.
func (r *reloading) current() (*material, error) {
	now, err := r.files.load()
	if err == nil {
		r.last.Store(now)
		return now, nil
	}
	if last := r.last.Load(); last != nil {
		return last, nil
	}
	return nil, err
}

func (r *reloading) ClientHandshake(
	ctx context.Context, _ string, conn net.Conn,
) (net.Conn, credentials.AuthInfo, error) {
	m, err := r.current()
	if err != nil {
		return nil, nil, err
	}
	return credentials.NewTLS(&tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{m.certificate},
		RootCAs: m.authority, ServerName: r.server,
	}).ClientHandshake(ctx, r.server, conn)
}

func (r *reloading) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	m, err := r.current()
	if err != nil {
		return nil, nil, err
	}
	return credentials.NewTLS(&tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{m.certificate},
		ClientCAs:  m.authority,
		ClientAuth: tls.RequireAndVerifyClientCert,
	}).ServerHandshake(conn)
}

func (r *reloading) Info() credentials.ProtocolInfo {
	return credentials.ProtocolInfo{SecurityProtocol: "tls"}
}

func (r *reloading) Clone() credentials.TransportCredentials {
	return &reloading{files: r.files, server: r.server, last: r.last}
}

// OverrideServerName is never called, but credentials.TransportCredentials requires it.
func (r *reloading) OverrideServerName(string) error {
	return errors.New("a service's name is not overridden")
}
