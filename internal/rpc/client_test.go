package rpc

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/coffer-budget/coffer/internal/mtls"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	_ "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

func dial(t *testing.T, addr, key string, certificate mtls.Config) authv1.AuthServiceClient {
	t.Helper()
	conn, err := Dial(addr, authv1.AuthService_ServiceDesc.ServiceName,
		Config{ServiceKey: key, TLS: certificate})
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return authv1.NewAuthServiceClient(conn)
}

func TestDialForwardsRequestID(t *testing.T) {
	t.Parallel()
	srv := start(t)
	var seen string
	srv.do = func(ctx context.Context) error { seen = RequestID(ctx); return nil }
	client := dial(t, srv.addr, "", mtls.Config{})
	_, err := client.Login(WithRequestID(t.Context(), "look-for-me"), &authv1.LoginRequest{})
	require.NoError(t, err)
	require.Equal(t, "look-for-me", seen)
	for _, bad := range []string{strings.Repeat("x", maxRequestID+1), "two words", ""} {
		_, err := srv.auth.Login(as(t, "x-request-id", bad), &authv1.LoginRequest{})
		require.NoError(t, err)
		require.NotEqual(t, bad, seen)
		require.NotEmpty(t, seen)
	}
	_, err = srv.auth.Login(as(t, "x-request-id", "one", "x-request-id", "two"),
		&authv1.LoginRequest{})
	require.NoError(t, err)
	require.NotContains(t, []string{"one", "two"}, seen)
}

func TestDialRetriesOnlyMethodsWithoutSideEffects(t *testing.T) {
	t.Parallel()
	srv := start(t)
	var tries atomic.Int32
	srv.do = func(context.Context) error {
		tries.Add(1)
		return status.Error(codes.Unavailable, "going down")
	}
	client := dial(t, srv.addr, "", mtls.Config{})
	ctx := as(t, "authorization", "Bearer "+srv.token)
	_, err := client.GetMe(ctx, &authv1.GetMeRequest{})
	require.Equal(t, "SERVICE_UNAVAILABLE", reason(err))
	require.Equal(t, int32(3), tries.Swap(0))
	_, err = client.UpdateMe(ctx, &authv1.UpdateMeRequest{})
	require.Equal(t, "SERVICE_UNAVAILABLE", reason(err))
	require.Equal(t, int32(1), tries.Load())
}

func TestServiceConfig(t *testing.T) {
	t.Parallel()
	config, err := serviceConfig("coffer.ledger.v1")
	require.NoError(t, err)
	for method, retried := range map[string]bool{
		"SumSpending": true, "CheckReferences": true, "CreateTransaction": false,
		"SyncReferences": false,
	} {
		require.Equal(t, retried, strings.Contains(config, `"`+method+`"`), method)
	}
}

func TestDialUnavailableServiceFailsImmediately(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.stop()
	require.NoError(t, <-s.ended)
	client := dial(t, s.addr, "", mtls.Config{})
	begin := time.Now()
	_, err := client.UpdateMe(as(t, "authorization", "Bearer "+s.token), &authv1.UpdateMeRequest{})
	require.Equal(t, "SERVICE_UNAVAILABLE", Public(err).Reason)
	require.NotZero(t, Public(err).RetryAfter)
	require.Less(t, time.Since(begin), 10*time.Second)
}

// TestDialDoesNotSendServiceKeyWithCertificates also checks that a key or a token does not replace
// a certificate.
func TestDialDoesNotSendServiceKeyWithCertificates(t *testing.T) {
	t.Parallel()
	authority, err := mtls.NewAuthority(time.Now)
	require.NoError(t, err)
	issue := func(service string) mtls.Config {
		c, err := authority.Issue(t.TempDir(), service, time.Hour)
		require.NoError(t, err)
		return c
	}
	var keys []string
	encrypted := start(t, func(s *setup) {
		s.do = func(ctx context.Context) error {
			keys = metadata.ValueFromIncomingContext(ctx, metadataService)
			return nil
		}
		s.server = NewServer(Config{ServiceKey: serviceKey, TLS: issue("auth")},
			s.server.verifier, s.server.log)
		authv1.RegisterAuthServiceServer(s.server, s)
	})
	_, err = dial(t, encrypted.addr, serviceKey, issue("budget")).FindUserByEmail(t.Context(),
		&authv1.FindUserByEmailRequest{})
	require.NoError(t, err)
	require.Empty(t, keys)
	ledger := dial(t, encrypted.addr, serviceKey, issue("ledger"))
	_, err = ledger.FindUserByEmail(as(t, metadataService, serviceKey),
		&authv1.FindUserByEmailRequest{})
	require.Equal(t, "INSUFFICIENT_PERMISSIONS", reason(err),
		"the key does not replace the certificate")
	_, err = ledger.GetMe(as(t, "authorization", "Bearer "+encrypted.token), &authv1.GetMeRequest{})
	require.Equal(t, "INSUFFICIENT_PERMISSIONS", reason(err),
		"a user's token is not enough for a service that should not have it")
	gateway := dial(t, encrypted.addr, "", issue("gateway"))
	_, err = gateway.GetMe(t.Context(), &authv1.GetMeRequest{})
	require.Equal(t, "UNAUTHORIZED", reason(err),
		"the gateway's certificate does not replace the user's token")
	_, err = gateway.GetMe(as(t, "authorization", "Bearer "+encrypted.token),
		&authv1.GetMeRequest{})
	require.NoError(t, err)
	_, err = encrypted.auth.Login(t.Context(), &authv1.LoginRequest{})
	require.Equal(t, codes.Unavailable, status.Code(err),
		"the server accepts no connection without TLS")
	_, err = Dial(encrypted.addr, authv1.AuthService_ServiceDesc.ServiceName,
		Config{TLS: mtls.Config{CA: "none.pem"}})
	require.ErrorContains(t, err, "must be set together")
}
