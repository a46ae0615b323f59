package auth

import (
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	"github.com/coffer-budget/coffer/services/auth/internal/password"
)

func registration() *authv1.RegisterRequest {
	return &authv1.RegisterRequest{
		Name: " Ada Lovelace ", Email: " Ada@Example.COM ", Password: goodPassword,
	}
}

func TestRegister(t *testing.T) {
	t.Parallel()
	t.Run("returns the normalized user and publishes an event", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		resp, err := env.Register(t.Context(), registration())
		require.NoError(t, err)
		user := resp.GetUser()
		require.Equal(t, "Ada Lovelace", user.GetName())
		require.Equal(t, "ada@example.com", user.GetEmail())
		require.Equal(t, "2026-03-15T12:00:00.000Z", user.GetCreatedAt())
		events := env.events(t)
		require.Len(t, events, 1)
		require.Equal(t, "auth.v1.user.registered", events[0].Subject)
		require.Equal(t, user.GetId(), events[0].UserID.String())
		require.True(t, proto.Equal(&authv1.UserRegistered{User: user}, events[0].message(t)))
		require.NotContains(t, env.state(t), goodPassword)
	})
	t.Run("names every invalid field", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		type request = authv1.RegisterRequest
		cases := map[string]struct {
			change func(*request)
			fields []string
		}{
			"nothing at all": {
				func(r *request) { proto.Reset(r) }, []string{"name", "email", "password"},
			},
			"a blank name": {func(r *request) { r.Name = " \t" }, []string{"name"}},
			"a name of 101 characters": {
				func(r *request) { r.Name = strings.Repeat("ü", 101) }, []string{"name"},
			},
			"a name with NUL": {func(r *request) { r.Name = "a\x00b" }, []string{"name"}},
			"no e-mail":       {func(r *request) { r.Email = "ada" }, []string{"email"}},
			"a password of 7 characters": {
				func(r *request) { r.Password = "abcde 7" }, []string{"password"},
			},
			"a well-known password": {
				func(r *request) { r.Password = "PassWord123" }, []string{"password"},
			},
			"the e-mail as the password": {
				func(r *request) { r.Password = "ADA@example.com" }, []string{"password"},
			},
			"bad e-mail and password": {
				func(r *request) { r.Email, r.Password = "@", "x" }, []string{"email", "password"},
			},
		}
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				req := registration()
				c.change(req)
				e := env.refuses(t, codes.InvalidArgument, "VALIDATION_ERROR",
					pgtest.Call(t.Context(), env.Register, req))
				require.Equal(t, c.fields, fieldNames(e))
			})
		}
	})
	t.Run("rejects an e-mail that exists in any letter case", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.register(t, "ada@example.com")
		b.refuses(t, codes.AlreadyExists, "EMAIL_ALREADY_EXISTS",
			pgtest.Call(t.Context(), b.Register, registration()))
	})
	t.Run("accepts one of simultaneous requests with the same e-mail", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		errs := make([]error, 8)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() { _, errs[i] = env.Register(t.Context(), registration()) })
		}
		all.Wait()
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
				continue
			}
			require.ErrorIs(t, err, errEmailAlreadyExists)
		}
		require.Equal(t, 1, won)
		require.Len(t, env.events(t), 1)
	})
	t.Run("returns the first response to a repeated request", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		answers := make([]*authv1.RegisterResponse, 6)
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() {
				req := registration()
				req.IdempotencyKey = "k"
				resp, err := env.Register(t.Context(), req)
				if err == nil {
					answers[i] = resp
				}
			})
		}
		all.Wait()
		fresh := 0
		for _, a := range answers {
			require.NotNil(t, a)
			require.Equal(t, answers[0].GetUser().GetId(), a.GetUser().GetId())
			if !a.GetReplayed() {
				fresh++
			}
		}
		require.Equal(t, 1, fresh)
		env.refuses(t, codes.AlreadyExists, "IDEMPOTENCY_KEY_CONFLICT", func() error {
			req := registration()
			req.IdempotencyKey, req.Password = "k", "another password"
			_, err := env.Register(t.Context(), req)
			return err
		})
	})
	t.Run("is unavailable while the queue of the hasher is full", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		fillQueue(t, b.hasher)
		b.refuses(t, codes.Unavailable, "SERVICE_UNAVAILABLE",
			pgtest.Call(t.Context(), b.Register, registration()))
		require.Positive(t, apierr.Unavailable.RetryAfter)
	})
}

// fillQueue keeps the hasher and its queue full until the test ends.
func fillQueue(t *testing.T, hasher *password.Hasher) {
	t.Helper()
	release, rejected := make(chan struct{}), make(chan struct{}, 1)
	var requests sync.WaitGroup
	// The queue has room for 128 requests per processor.
	for range 200 * runtime.GOMAXPROCS(0) {
		requests.Go(func() {
			err := hasher.Run(t.Context(), func() error { <-release; return nil })
			if err == nil {
				return
			}
			select {
			case rejected <- struct{}{}:
			default:
			}
		})
	}
	<-rejected
	t.Cleanup(func() { close(release); requests.Wait() })
}
