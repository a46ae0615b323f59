package auth

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	"github.com/coffer-budget/coffer/internal/rpc"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
)

const goodPassword = "horse staple 7"

var testConfig = Config{
	Config: rpc.Config{ServiceKey: "test"}, AccessTTL: time.Hour, RefreshTTL: 720 * time.Hour,
	KeyRotation: 720 * time.Hour,
}

// clock returns the same time until advance is called.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

type bundle struct {
	*server
	clock *clock
}

func setup(t *testing.T) *bundle {
	t.Helper()
	b := &bundle{clock: &clock{at: time.Date(2026, 3, 15, 12, 0, 0, 0, time.UTC)}}
	var err error
	b.server, err = newServer(pgtest.New(t, Migrations), testConfig, func() {}, b.clock.now,
		slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.NoError(t, b.keys.Refresh(t.Context()))
	return b
}

// replica returns another process of the same installation, on the same database.
func (b *bundle) replica(t *testing.T, config Config) *bundle {
	t.Helper()
	s, err := newServer(b.db, config, func() {}, b.clock.now, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	return &bundle{server: s, clock: b.clock}
}

func (b *bundle) register(t *testing.T, email string) *authv1.User {
	t.Helper()
	resp, err := b.Register(t.Context(),
		&authv1.RegisterRequest{Name: "Ada", Email: email, Password: goodPassword})
	require.NoError(t, err)
	return resp.GetUser()
}

func (b *bundle) login(t *testing.T, email string) *authv1.LoginResponse {
	t.Helper()
	resp, err := b.Login(t.Context(), &authv1.LoginRequest{Email: email, Password: goodPassword})
	require.NoError(t, err)
	return resp
}

func (b *bundle) refresh(ctx context.Context, token string) (*authv1.RefreshResponse, error) {
	return b.Refresh(ctx, &authv1.RefreshRequest{RefreshToken: token})
}

// as returns the context of a request with this access token.
func (b *bundle) as(t *testing.T, access string) context.Context {
	t.Helper()
	id, err := b.verify(t, access)
	require.NoError(t, err)
	return caller.With(t.Context(), id)
}

// verify verifies a token like a service that has just loaded the keys and ended sessions.
func (b *bundle) verify(t *testing.T, access string) (caller.Identity, error) {
	t.Helper()
	v, err := caller.NewVerifier(b.trust(), b.clock.now, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	return v.Verify(t.Context(), access)
}

// member registers a user and signs in.
func (b *bundle) member(t *testing.T, email string) (context.Context, *authv1.LoginResponse) {
	t.Helper()
	b.register(t, email)
	l := b.login(t, email)
	return b.as(t, l.GetAccessToken()), l
}

// from returns the context of a request that the gateway received from an address.
func from(ctx context.Context, address string) context.Context {
	return metadata.NewIncomingContext(ctx, metadata.Pairs("x-forwarded-for", address,
		"coffer-service-key", rpc.GatewayKey(testConfig.ServiceKey)))
}

// state returns all stored rows as text, except failed attempts and audit entries.
func (b *bundle) state(t *testing.T) string {
	t.Helper()
	s := pgtest.Value[string](t, b.db, `
		SELECT coalesce((SELECT string_agg(u::text, ';' ORDER BY u.id) FROM users u), '')
			|| coalesce((SELECT string_agg(s::text, ';' ORDER BY s.id) FROM sessions s), '')
			|| coalesce((SELECT string_agg(r::text, ';' ORDER BY r.hash) FROM refresh_tokens r), '')
			|| (SELECT count(*) FROM outbox)::text || ' '
			|| (SELECT count(*) FROM idempotency_keys)::text`)
	return s
}

func requireReason(t *testing.T, code codes.Code, reason string, err error) apierr.Error {
	t.Helper()
	e := apierr.From(err)
	require.NotNil(t, e, "%v", err)
	require.Equal(t, reason, e.Reason)
	require.Equal(t, code, e.Code)
	return *e
}

// refuses requires a reason and code, and that nothing changed.
func (b *bundle) refuses(
	t *testing.T, code codes.Code, reason string, call func() error,
) apierr.Error {
	t.Helper()
	before := b.state(t)
	e := requireReason(t, code, reason, call())
	require.Equal(t, before, b.state(t))
	return e
}

func fieldNames(e apierr.Error) []string {
	var names []string
	for _, f := range e.Fields {
		names = append(names, f.Name)
	}
	return names
}

// published is an event in the outbox.
type published struct {
	UserID  uuid.UUID `db:"user_id"`
	Subject string
	Data    []byte
}

func (b *bundle) events(t *testing.T) []published {
	t.Helper()
	events, err := pg.All[published](t.Context(), b.db,
		`SELECT user_id, subject, data FROM outbox ORDER BY seq`)
	require.NoError(t, err)
	return events
}

func (e published) message(t *testing.T) proto.Message {
	t.Helper()
	var data anypb.Any
	require.NoError(t, proto.Unmarshal(e.Data, &data))
	m, err := data.UnmarshalNew()
	require.NoError(t, err)
	return m
}

func TestConfigCheck(t *testing.T) {
	t.Parallel()
	require.NoError(t, testConfig.check())
	err := Config{AccessTTL: 0, RefreshTTL: -1, KeyRotation: time.Minute}.check()
	require.ErrorContains(t, err, "ACCESS_TTL")
	require.ErrorContains(t, err, "REFRESH_TTL")
	require.ErrorContains(t, err, "KEY_ROTATION")
}

func TestExpire(t *testing.T) {
	t.Parallel()
	env := setup(t)
	env.register(t, "ada@example.com")
	old := env.login(t, "ada@example.com")
	_, err := env.Logout(env.as(t, old.GetAccessToken()), &authv1.LogoutRequest{})
	require.NoError(t, err)
	live := env.login(t, "ada@example.com")
	_, err = env.Login(t.Context(),
		&authv1.LoginRequest{Email: "ada@example.com", Password: "wrong password"})
	require.Error(t, err)
	count := func(table string) (n int) {
		require.NoError(t, env.db.QueryRow(t.Context(), `SELECT count(*) FROM `+table).Scan(&n))
		return n
	}
	require.NoError(t, env.expire(t.Context()))
	require.Equal(t, []int{2, 2, 3},
		[]int{count("sessions"), count("refresh_tokens"), count("login_failures")})

	env.clock.advance(testConfig.AccessTTL + revokedMargin + time.Second)
	require.NoError(t, env.expire(t.Context()))
	require.Equal(t, []int{1, 1, 0},
		[]int{count("sessions"), count("refresh_tokens"), count("login_failures")})
	_, err = env.refresh(t.Context(), live.GetRefreshToken())
	require.NoError(t, err)

	env.clock.advance(2 * testConfig.RefreshTTL)
	require.NoError(t, env.expire(t.Context()))
	require.Equal(t, []int{0, 0, 1},
		[]int{count("sessions"), count("refresh_tokens"), count("users")})
}
