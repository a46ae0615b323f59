package auth

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
)

func (b *bundle) attempt(ctx context.Context, email, password string) error {
	_, err := b.Login(ctx, &authv1.LoginRequest{Email: email, Password: password})
	return err
}

func TestTenFailuresCloseAnAccountForAQuarterOfAnHourWhetherItExistsOrNot(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.register(t, "ada@example.com")
	other := b.replica(t, testConfig)
	require.NoError(t, other.keys.refresh(t.Context()))
	var answers []apierr.Error
	for _, email := range []string{"ada@example.com", "nobody@example.com"} {
		for i := range failuresPerAccount {
			ctx := from(t.Context(), fmt.Sprintf("203.0.113.%d", i))
			requireReason(t, codes.Unauthenticated, "INVALID_CREDENTIALS", b.attempt(ctx, email, "wrong password"))
		}
		// Another replica knows it too, and the right password does not help.
		answers = append(answers, b.refuses(t, codes.ResourceExhausted, "RATE_LIMITED", func() error {
			return other.attempt(t.Context(), email, goodPassword)
		}))
	}
	require.Equal(t, answers[0], answers[1])
	require.Equal(t, failureWindow, answers[0].RetryAfter)

	b.clock.advance(failureWindow - time.Second)
	e := requireReason(t, codes.ResourceExhausted, "RATE_LIMITED", b.attempt(t.Context(), "ada@example.com", goodPassword))
	require.Equal(t, time.Second, e.RetryAfter)
	b.clock.advance(time.Second)
	require.NoError(t, b.attempt(t.Context(), "ada@example.com", goodPassword))
}

func TestTheRightPasswordForgetsTheAccountsFailures(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.register(t, "ada@example.com")
	for range 3 {
		for range failuresPerAccount - 1 {
			require.ErrorIs(t, b.attempt(t.Context(), "ada@example.com", "wrong password"), errInvalidCredentials)
		}
		require.NoError(t, b.attempt(t.Context(), "ada@example.com", goodPassword))
	}
}

func TestAnAddressThatTriesManyAccountsIsShutOut(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.register(t, "ada@example.com")
	attacker := from(t.Context(), "2001:db8:1:2::1")
	// As if so many guesses had failed; each would cost a hash.
	for i := range failuresPerAddress {
		try := newAttempt(fmt.Sprintf("user%d@example.com", i), netip.MustParseAddr(fmt.Sprintf("2001:db8:1:2::%x", i)), auditEntry{})
		require.NoError(t, b.fail(t.Context(), try))
	}
	b.refuses(t, codes.ResourceExhausted, "RATE_LIMITED", func() error { return b.attempt(attacker, "ada@example.com", goodPassword) })
	require.NoError(t, b.attempt(from(t.Context(), "2001:db8:1:3::1"), "ada@example.com", goodPassword))
	require.NoError(t, b.attempt(from(t.Context(), "203.0.113.7"), "ada@example.com", goodPassword))
}

func TestGuessesSentAllAtOnceExceedTheLimitByNoMoreThanRunAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.register(t, "ada@example.com")
	var compared atomic.Int32
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() {
			if apierr.From(b.attempt(t.Context(), "ada@example.com", "wrong password")).Reason == "INVALID_CREDENTIALS" {
				compared.Add(1)
			}
		})
	}
	all.Wait()
	require.GreaterOrEqual(t, int(compared.Load()), failuresPerAccount)
	require.LessOrEqual(t, int(compared.Load()), failuresPerAccount+cap(b.hasher.slots)-1)
}

func TestFailuresAreCountedExactlyHoweverManyComeAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := newAttempt("ada@example.com", netip.MustParseAddr("203.0.113.7"), auditEntry{})
	var all sync.WaitGroup
	var failed atomic.Int32
	for range 50 {
		all.Go(func() {
			if b.fail(t.Context(), a) != nil {
				failed.Add(1)
			}
		})
	}
	all.Wait()
	require.Zero(t, failed.Load())
	var counts []int
	rows, err := b.db.Query(t.Context(), `SELECT failures FROM login_failures`)
	require.NoError(t, err)
	for rows.Next() {
		var n int
		require.NoError(t, rows.Scan(&n))
		counts = append(counts, n)
	}
	require.NoError(t, rows.Err())
	require.Equal(t, []int{50, 50}, counts)
}

func TestNeitherEmailsNorAddressesAreKeptWithTheFailures(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.Error(t, b.attempt(from(t.Context(), "203.0.113.7"), "nobody@example.com", "wrong password"))
	var kept string
	require.NoError(t, b.db.QueryRow(t.Context(), `SELECT string_agg(convert_from(subject, 'LATIN1') || f::text, ';') FROM login_failures f`).Scan(&kept))
	require.NotContains(t, kept, "nobody")
	require.NotContains(t, kept, "203.0.113")
}
