package auth

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	"github.com/coffer-budget/coffer/internal/rpc"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
)

// database creates a role for a schema, like an installation, and returns its URL, its name, and
// the URL of the owner.
func database(t *testing.T) (role, name, owner string) {
	t.Helper()
	owner = os.Getenv("TEST_DATABASE_URL")
	if owner == "" {
		t.Skip("needs Postgres")
	}
	name = "auth_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	exec := func(ctx context.Context, sql string) {
		conn, err := pgx.Connect(ctx, owner)
		require.NoError(t, err)
		defer conn.Close(ctx)
		pgtest.Exec(t, conn, sql)
	}
	exec(t.Context(), fmt.Sprintf(`CREATE ROLE %s LOGIN PASSWORD 'test'`, name))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		exec(ctx, fmt.Sprintf(`DROP SCHEMA IF EXISTS %[1]s CASCADE; DROP ROLE %[1]s`, name))
	})
	u, err := url.Parse(owner)
	require.NoError(t, err)
	u.User = url.UserPassword(name, "test")
	q := u.Query()
	q.Set("search_path", name)
	u.RawQuery = q.Encode()
	return u.String(), name, owner
}

func TestRun(t *testing.T) {
	t.Parallel()
	t.Run("serves with its own role and rejects users in RPCs for services", func(t *testing.T) {
		t.Parallel()
		role, name, owner := database(t)
		require.NoError(t, pg.Migrate(t.Context(), owner, name, Migrations))
		config := testConfig
		config.DatabaseURL = role
		lis, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- Run(ctx, config, lis) }()

		service := authv1.AuthService_ServiceDesc.ServiceName
		asGateway, err := rpc.Dial(lis.Addr().String(), service, rpc.Config{TLS: config.TLS})
		require.NoError(t, err)
		defer asGateway.Close()
		asService, err := rpc.Dial(lis.Addr().String(), service, config.Config)
		require.NoError(t, err)
		defer asService.Close()
		require.Eventually(t, func() bool {
			resp, err := healthpb.NewHealthClient(asGateway).Check(t.Context(),
				&healthpb.HealthCheckRequest{})
			return err == nil && resp.GetStatus() == healthpb.HealthCheckResponse_SERVING
		}, time.Minute, 20*time.Millisecond)

		client := authv1.NewAuthServiceClient(asGateway)
		_, err = client.Register(t.Context(),
			&authv1.RegisterRequest{Name: "Ada", Email: "ada@example.com", Password: goodPassword})
		require.NoError(t, err)
		l, err := client.Login(t.Context(),
			&authv1.LoginRequest{Email: "ada@example.com", Password: goodPassword})
		require.NoError(t, err)
		user := metadata.AppendToOutgoingContext(t.Context(), "authorization",
			"Bearer "+l.GetAccessToken())
		list, err := client.ListSessions(user, &authv1.ListSessionsRequest{})
		require.NoError(t, err)
		require.Equal(t, "127.0.0.1", list.GetSessions()[0].GetIpAddress())
		forged := metadata.AppendToOutgoingContext(user, "x-forwarded-for", "203.0.113.7")
		trail := func(client authv1.AuthServiceClient, address string) {
			_, err = client.UpdateMe(forged, &authv1.UpdateMeRequest{Name: new("Ada")})
			require.NoError(t, err)
			audit, err := client.ListAudit(user, &authv1.ListAuditRequest{})
			require.NoError(t, err)
			require.Equal(t, address, audit.GetEntries()[0].GetAddress())
		}
		trail(client, "127.0.0.1")
		asForwarder, err := rpc.Dial(lis.Addr().String(), service,
			rpc.Config{ServiceKey: rpc.GatewayKey(config.ServiceKey), TLS: config.TLS})
		require.NoError(t, err)
		defer asForwarder.Close()
		trail(authv1.NewAuthServiceClient(asForwarder), "203.0.113.7")
		_, err = client.FindUserByEmail(user,
			&authv1.FindUserByEmailRequest{Email: "ada@example.com"})
		requireReason(t, codes.PermissionDenied, "INSUFFICIENT_PERMISSIONS", err)
		_, err = authv1.NewAuthServiceClient(asService).FindUserByEmail(t.Context(),
			&authv1.FindUserByEmailRequest{Email: "ada@example.com"})
		require.NoError(t, err)
		_, err = client.Logout(user, &authv1.LogoutRequest{})
		require.NoError(t, err)
		_, err = client.GetMe(user, &authv1.GetMeRequest{})
		requireReason(t, codes.Unauthenticated, "UNAUTHORIZED", err)

		stop()
		require.NoError(t, <-ended)
	})
	t.Run("returns an error if the schema is behind", func(t *testing.T) {
		t.Parallel()
		role, name, owner := database(t)
		conn, err := pgx.Connect(t.Context(), owner)
		require.NoError(t, err)
		defer conn.Close(t.Context())
		pgtest.Exec(t, conn,
			fmt.Sprintf(`CREATE SCHEMA %[1]s; GRANT ALL ON SCHEMA %[1]s TO %[1]s`, name))
		config := testConfig
		config.DatabaseURL = role
		lis, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer lis.Close()
		require.ErrorContains(t, Run(t.Context(), config, lis), "the schema is behind")
	})
}
