package mtls

import (
	"context"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// callee accepts only calls of the gateway. Its RPC is the health check, because that needs no
// proto of this repository.
type callee struct {
	healthpb.UnimplementedHealthServer
}

func (callee) Check(
	ctx context.Context, _ *healthpb.HealthCheckRequest,
) (*healthpb.HealthCheckResponse, error) {
	if !IsCaller(ctx, []string{"gateway"}) {
		return nil, status.Error(codes.PermissionDenied, "not the gateway")
	}
	return &healthpb.HealthCheckResponse{}, nil
}

func serve(t *testing.T, c Config) (addr string) {
	t.Helper()
	lis, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := grpc.NewServer(grpc.Creds(Server(c)))
	healthpb.RegisterHealthServer(server, callee{})
	go func() { _ = server.Serve(lis) }()
	t.Cleanup(server.Stop)
	return lis.Addr().String()
}

// call calls the server on a new connection, so that the client reads the current files. It returns
// the serial number of the server's certificate.
func call(
	t *testing.T, addr string, creds credentials.TransportCredentials,
) (serial string, err error) {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+addr, grpc.WithTransportCredentials(creds))
	require.NoError(t, err)
	defer conn.Close()
	var p peer.Peer
	_, err = healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{},
		grpc.Peer(&p))
	if info, ok := p.AuthInfo.(credentials.TLSInfo); ok {
		serial = info.State.PeerCertificates[0].SerialNumber.String()
	}
	return serial, err
}

func authority(t *testing.T, at time.Time) *Authority {
	t.Helper()
	a, err := NewAuthority(func() time.Time { return at })
	require.NoError(t, err)
	return a
}

func issue(t *testing.T, a *Authority, service string, life time.Duration) Config {
	t.Helper()
	c, err := a.Issue(t.TempDir(), service, life)
	require.NoError(t, err)
	require.NoError(t, c.Check())
	return c
}

func TestServerAcceptsOnlyCertificatesOfItsAuthority(t *testing.T) {
	t.Parallel()
	ours, theirs := authority(t, time.Now()), authority(t, time.Now())
	addr := serve(t, issue(t, ours, "ledger", time.Hour))
	genuine := issue(t, ours, "gateway", time.Hour)
	_, err := call(t, addr, Client(genuine, "ledger"))
	require.NoError(t, err)

	foreign := issue(t, theirs, "gateway", time.Hour)
	foreign.CA = genuine.CA
	expired := issue(t, ours, "gateway", -time.Second)
	early := issue(t, &Authority{
		certificate: ours.certificate, key: ours.key,
		now: func() time.Time { return time.Now().Add(time.Hour) },
	}, "gateway", time.Hour)
	trusting, err := credentials.NewClientTLSFromFile(genuine.CA, "ledger")
	require.NoError(t, err)
	for what, creds := range map[string]credentials.TransportCredentials{
		"another authority's": Client(foreign, "ledger"),
		"expired":             Client(expired, "ledger"),
		"not yet valid":       Client(early, "ledger"),
		"none":                trusting,
		"not even TLS":        insecure.NewCredentials(),
	} {
		_, err := call(t, addr, creds)
		require.Equal(t, codes.Unavailable, status.Code(err), "%s: %v", what, err)
	}
	_, err = call(t, addr, Client(issue(t, ours, "ocr", time.Hour), "ledger"))
	require.Equal(t, codes.PermissionDenied, status.Code(err),
		"a service that is not on the list: %v", err)
}

func TestClientVerifiesServiceName(t *testing.T) {
	t.Parallel()
	ours, theirs := authority(t, time.Now()), authority(t, time.Now())
	genuine := issue(t, ours, "gateway", time.Hour)
	for what, impostor := range map[string]Config{
		"another service":     issue(t, ours, "ocr", time.Hour),
		"another authority's": issue(t, theirs, "ledger", time.Hour),
		"expired":             issue(t, ours, "ledger", -time.Second),
		"no TLS":              {},
	} {
		_, err := call(t, serve(t, impostor), Client(genuine, "ledger"))
		require.Equal(t, codes.Unavailable, status.Code(err), "%s: %v", what, err)
	}
}

// TestRotationNeedsNoRestart also replaces the authority, the most difficult kind of rotation.
func TestRotationNeedsNoRestart(t *testing.T) {
	t.Parallel()
	before, after := authority(t, time.Now()), authority(t, time.Now())
	ledger, gateway := t.TempDir(), t.TempDir()
	serving, err := before.Issue(ledger, "ledger", time.Hour)
	require.NoError(t, err)
	calling, err := before.Issue(gateway, "gateway", time.Hour)
	require.NoError(t, err)
	addr, client := serve(t, serving), Client(calling, "ledger")
	first, err := call(t, addr, client)
	require.NoError(t, err)

	_, err = before.Issue(ledger, "ledger", time.Hour)
	require.NoError(t, err)
	second, err := call(t, addr, client)
	require.NoError(t, err)
	require.NotEqual(t, first, second)

	old := issue(t, before, "gateway", time.Hour)
	_, err = after.Issue(ledger, "ledger", time.Hour)
	require.NoError(t, err)
	_, err = call(t, addr, Client(old, "ledger"))
	require.Equal(t, codes.Unavailable, status.Code(err))
	_, err = after.Issue(gateway, "gateway", time.Hour)
	require.NoError(t, err)
	third, err := call(t, addr, client)
	require.NoError(t, err)
	require.NotEqual(t, second, third)
}

// TestIncompleteRotationKeepsPreviousCertificate includes a client that has not made a call yet.
func TestIncompleteRotationKeepsPreviousCertificate(t *testing.T) {
	t.Parallel()
	ours := authority(t, time.Now())
	serving, calling := issue(t, ours, "ledger", time.Hour), issue(t, ours, "gateway", time.Hour)
	addr, client := serve(t, serving), Client(calling, "ledger")
	require.NoError(t, os.WriteFile(calling.CA, nil, 0o600))
	first, err := call(t, addr, client)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(serving.Cert, []byte("-----BEGIN CERT"), 0o600))
	second, err := call(t, addr, client)
	require.NoError(t, err)
	require.Equal(t, first, second)
}

func TestCheck(t *testing.T) {
	t.Parallel()
	require.NoError(t, Config{}.Check())
	require.ErrorContains(t, Config{Cert: "a", Key: "b"}.Check(), "must be set together")
	c := issue(t, authority(t, time.Now()), "ledger", time.Hour)
	require.ErrorContains(t, Config{Cert: c.Cert, Key: c.Key, CA: c.Key}.Check(),
		"contains no certificate")
	require.ErrorIs(t, Config{Cert: c.Cert, Key: c.Key, CA: c.CA + "x"}.Check(), os.ErrNotExist)
	other := issue(t, authority(t, time.Now()), "ledger", time.Hour)
	require.Error(t, Config{Cert: c.Cert, Key: other.Key, CA: c.CA}.Check())
	require.ErrorIs(t, Config{Cert: c.Cert + "x", Key: c.Key, CA: c.CA}.Check(), os.ErrNotExist)
}
