// Package mtls is how services prove to each other who they are: each has a certificate with its own name as DNS name, made
// by the installation's authority, and connections between them ask both ends for it.
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

// Config names PEM files: the process's certificate with its key, and the authority's. All of them empty: connections
// are not encrypted.
type Config struct {
	Cert string `env:"TLS_CERT"`
	Key  string `env:"TLS_KEY"`
	CA   string `env:"TLS_CA"`
}

// On tells whether connections are encrypted.
func (c Config) On() bool { return c != Config{} }

// Check finds out at the start what else each handshake would fail on.
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

// Client is for connections to a service, by name. The server's certificate must have that name, whatever the address is.
func Client(c Config, service string) credentials.TransportCredentials {
	if !c.On() {
		return insecure.NewCredentials()
	}
	return newReloading(c, service)
}

// Server is for a service's listener: whoever comes without a certificate of the authority is refused in the handshake.
func Server(c Config) credentials.TransportCredentials {
	if !c.On() {
		return insecure.NewCredentials()
	}
	return newReloading(c, "")
}

// IsCaller tells whether the call that ctx serves comes from one of the services.
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

// material is what the files hold.
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

// Certificate is what the files hold now, for clients of what does not speak gRPC.
func (c Config) Certificate() (tls.Certificate, error) {
	certificate, err := tls.LoadX509KeyPair(c.Cert, c.Key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("reading the certificate: %w", err)
	}
	return certificate, nil
}

// Authority is whose certificates are to be trusted now.
func (c Config) Authority() (*x509.CertPool, error) {
	text, err := os.ReadFile(c.CA)
	if err != nil {
		return nil, fmt.Errorf("reading the authority's certificate: %w", err)
	}
	authority := x509.NewCertPool()
	if !authority.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s holds no certificate", c.CA)
	}
	return authority, nil
}

// reloading reads the files on each handshake, which are few, so that a rotated certificate counts from the next one on.
type reloading struct {
	files Config
	// server is whom a client wants to reach.
	server string
	// last is what the files held when they could be read, and the same for all clones: gRPC makes one for each connection.
	last *atomic.Pointer[material]
}

// newReloading reads the files at once: the first handshake may fall into a rotation.
func newReloading(files Config, server string) *reloading {
	r := &reloading{files: files, server: server, last: &atomic.Pointer[material]{}}
	if m, err := files.load(); err == nil {
		r.last.Store(m)
	}
	return r
}

// current is what the files hold, or held: a rotation may be half done.
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

// ClientHandshake implements credentials.TransportCredentials.
func (r *reloading) ClientHandshake(ctx context.Context, _ string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	m, err := r.current()
	if err != nil {
		return nil, nil, err
	}
	return credentials.NewTLS(&tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{m.certificate}, RootCAs: m.authority, ServerName: r.server,
	}).ClientHandshake(ctx, r.server, conn)
}

// ServerHandshake implements credentials.TransportCredentials.
func (r *reloading) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	m, err := r.current()
	if err != nil {
		return nil, nil, err
	}
	return credentials.NewTLS(&tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{m.certificate}, ClientCAs: m.authority,
		ClientAuth: tls.RequireAndVerifyClientCert,
	}).ServerHandshake(conn)
}

// Info implements credentials.TransportCredentials.
func (r *reloading) Info() credentials.ProtocolInfo {
	return credentials.ProtocolInfo{SecurityProtocol: "tls"}
}

// Clone implements credentials.TransportCredentials.
func (r *reloading) Clone() credentials.TransportCredentials {
	return &reloading{files: r.files, server: r.server, last: r.last}
}

// OverrideServerName implements credentials.TransportCredentials, which asks for it although nothing calls it any more.
func (r *reloading) OverrideServerName(string) error {
	return errors.New("a service's name is not overridden")
}
