package auth

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
)

func (b *bundle) attempt(ctx context.Context, email, password string) error {
	_, err := b.Login(ctx, &authv1.LoginRequest{Email: email, Password: password})
	return err
}

// failures counts n failed sign-ins as if they had happened. Each real one would cost a hash.
func (b *bundle) failures(t *testing.T, email string, n int, address func(i int) string) {
	t.Helper()
	u, err := selectUserByEmail(t.Context(), b.db, email)
	if !errors.Is(err, pgx.ErrNoRows) {
		require.NoError(t, err)
	}
	for i := range n {
		entry := b.entry(auditLoginFailed, u.ID, uuid.Nil, client{})
		require.NoError(t,
			b.fail(t.Context(), loginAttempt(email, u, netip.MustParseAddr(address(i)), entry)))
	}
}

func single(address string) func(int) string { return func(int) string { return address } }

func spread(format string) func(int) string {
	return func(i int) string { return fmt.Sprintf(format, i) }
}

func TestLoginLimits(t *testing.T) {
	t.Parallel()
	const ada, nobody = "ada@example.com", "nobody@example.com"
	closed := func(t *testing.T, b *bundle, address, email string) apierr.Error {
		t.Helper()
		return b.refuses(t, codes.ResourceExhausted, "RATE_LIMITED",
			func() error { return b.attempt(from(t.Context(), address), email, goodPassword) })
	}
	t.Run("close a pair of account and address, also of an unknown account", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		env.register(t, ada)
		other := env.replica(t, testConfig)
		require.NoError(t, other.keys.Refresh(t.Context()))
		var answers []apierr.Error
		for _, email := range []string{ada, nobody} {
			for range failuresPerPair {
				requireReason(t, codes.Unauthenticated, "INVALID_CREDENTIALS",
					env.attempt(from(t.Context(), "203.0.113.7"), email, "wrong password"))
			}
			// Another replica enforces the limit too, and the right password does not help.
			answers = append(answers, closed(t, other, "203.0.113.7", email))
		}
		require.Equal(t, answers[0], answers[1])
		require.Equal(t, failureWindow, answers[0].RetryAfter)
		env.clock.advance(failureWindow - time.Second)
		require.Equal(t, time.Second, closed(t, env, "203.0.113.7", ada).RetryAfter)
		env.clock.advance(time.Second)
		require.NoError(t, env.attempt(from(t.Context(), "203.0.113.7"), ada, goodPassword))
	})
	t.Run("of one stranger leave every other address open", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.register(t, ada)
		b.failures(t, ada, failuresPerPair, single("203.0.113.7"))
		closed(t, b, "203.0.113.7", ada)
		require.NoError(t, b.attempt(from(t.Context(), "203.0.113.8"), ada, goodPassword))
	})
	t.Run("of many strangers leave known addresses and sessions open", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		env.register(t, ada)
		home := from(t.Context(), "2001:db8:1:2::1")
		loginResponse, err := env.Login(home,
			&authv1.LoginRequest{Email: ada, Password: goodPassword})
		require.NoError(t, err)
		for _, email := range []string{ada, nobody} {
			env.failures(t, email, failuresPerAccount, spread("198.51.100.%d"))
			closed(t, env, "203.0.113.7", email)
		}
		require.NoError(t, env.attempt(from(t.Context(), "2001:db8:1:2::9"), ada, goodPassword),
			"the same network")
		closed(t, env, "2001:db8:1:3::1", ada)
		closed(t, env, "2001:db8:1:2::1", nobody)
		_, err = env.ChangePassword(env.as(t, loginResponse.GetAccessToken()),
			&authv1.ChangePasswordRequest{
				CurrentPassword: goodPassword, NewPassword: "another password",
			})
		require.NoError(t, err)

		env.clock.advance(knownAddressKept)
		require.NoError(t, env.expire(t.Context()))
		env.failures(t, ada, failuresPerAccount, spread("198.51.100.%d"))
		closed(t, env, "2001:db8:1:2::1", ada)
	})
	t.Run("close a known address after its own failures", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.register(t, ada)
		require.NoError(t, b.attempt(from(t.Context(), "203.0.113.7"), ada, goodPassword))
		b.failures(t, ada, failuresPerPair, single("203.0.113.7"))
		closed(t, b, "203.0.113.7", ada)
		require.NoError(t, b.attempt(from(t.Context(), "203.0.113.8"), ada, goodPassword))
	})
	t.Run("close an address that tries many accounts", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		env.register(t, ada)
		env.register(t, "bob@example.com")
		require.NoError(t,
			env.attempt(from(t.Context(), "2001:db8:1:2::1"), "bob@example.com", goodPassword))
		for i := range failuresPerAddress {
			env.failures(t, fmt.Sprintf("user%d@example.com", i), 1,
				single(fmt.Sprintf("2001:db8:1:2::%x", i)))
		}
		closed(t, env, "2001:db8:1:2::1", ada)
		require.NoError(t, env.attempt(from(t.Context(), "2001:db8:1:3::1"), ada, goodPassword))
		known := from(t.Context(), "2001:db8:1:2::1")
		require.NoError(t, env.attempt(known, "bob@example.com", goodPassword),
			"who is known there")
	})
	t.Run("of a pair start again after a success, those of the account do not", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.register(t, ada)
		for range 2 {
			b.failures(t, ada, failuresPerPair-1, single("203.0.113.7"))
			require.NoError(t, b.attempt(from(t.Context(), "203.0.113.7"), ada, goodPassword))
		}
		b.failures(t, ada, failuresPerAccount-2*(failuresPerPair-1), spread("198.51.100.%d"))
		closed(t, b, "203.0.113.8", ada)
	})
	t.Run("follow the user to a new e-mail", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		ctx, _ := b.member(t, ada)
		b.failures(t, ada, failuresPerPair, single("203.0.113.7"))
		_, err := b.UpdateMe(ctx, &authv1.UpdateMeRequest{
			Email: new("lovelace@example.com"), CurrentPassword: goodPassword,
		})
		require.NoError(t, err)
		closed(t, b, "203.0.113.7", "lovelace@example.com")
	})
	t.Run("are exceeded by simultaneous guesses up to the number of slots", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		env.register(t, "ada@example.com")
		var compared atomic.Int32
		var all sync.WaitGroup
		for range 40 {
			all.Go(func() {
				err := env.attempt(t.Context(), "ada@example.com", "wrong password")
				if apierr.From(err).Reason == "INVALID_CREDENTIALS" {
					compared.Add(1)
				}
			})
		}
		all.Wait()
		require.GreaterOrEqual(t, int(compared.Load()), failuresPerPair)
		require.LessOrEqual(t, int(compared.Load()),
			failuresPerPair+max(1, runtime.GOMAXPROCS(0)-1)-1)
	})
	t.Run("store neither e-mails nor addresses", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		require.Error(t,
			b.attempt(from(t.Context(), "203.0.113.7"), "nobody@example.com", "wrong password"))
		kept := pgtest.Value[string](t, b.db, `
			SELECT string_agg(convert_from(subject, 'LATIN1') || f::text, ';')
			FROM login_failures f`)
		require.NotContains(t, kept, "nobody")
		require.NotContains(t, kept, "203.0.113")
	})
}

func TestCountFailures(t *testing.T) {
	t.Parallel()
	env := setup(t)
	attempt := loginAttempt("ada@example.com", user{}, netip.MustParseAddr("203.0.113.7"),
		auditEntry{})
	var all sync.WaitGroup
	var failed atomic.Int32
	for range 50 {
		all.Go(func() {
			if env.fail(t.Context(), attempt) != nil {
				failed.Add(1)
			}
		})
	}
	all.Wait()
	require.Zero(t, failed.Load())
	var counts []int
	rows, err := env.db.Query(t.Context(), `SELECT failures FROM login_failures`)
	require.NoError(t, err)
	for rows.Next() {
		var n int
		require.NoError(t, rows.Scan(&n))
		counts = append(counts, n)
	}
	require.NoError(t, rows.Err())
	require.Equal(t, []int{50, 50, 50}, counts)
}
