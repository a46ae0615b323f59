package admission

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/personaltoken"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
)

// tokenAuth replaces the auth service. It issues the access token "access 1" for its first
// successful call, and so on.
type tokenAuth struct {
	authv1.TokenServiceClient

	mu      sync.Mutex
	calls   []*authv1.ExchangeAccessTokenRequest
	issued  int
	failure error
	// hold blocks calls until it is closed, begun counts the blocked ones.
	hold  chan struct{}
	begun chan struct{}
}

func (a *tokenAuth) ExchangeAccessToken(
	ctx context.Context, req *authv1.ExchangeAccessTokenRequest, _ ...grpc.CallOption,
) (*authv1.ExchangeAccessTokenResponse, error) {
	if a.hold != nil {
		a.begun <- struct{}{}
		select {
		case <-a.hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls = append(a.calls, req)
	if a.failure != nil {
		return nil, a.failure
	}
	a.issued++
	return &authv1.ExchangeAccessTokenResponse{
		AccessToken: "access " + string(rune('0'+a.issued)),
	}, nil
}

func (a *tokenAuth) fail(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failure = err
}

func (a *tokenAuth) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.calls)
}

func newExchange(t *testing.T) (*tokenAuth, *Exchange, *time.Time) {
	t.Helper()
	auth, now := &tokenAuth{}, time.Date(2026, 3, 15, 12, 0, 0, 0, time.UTC)
	exchange, err := NewExchange(auth, func() time.Time { return now })
	require.NoError(t, err)
	return auth, exchange, &now
}

func admitAll() error { return nil }

func TestExchange(t *testing.T) {
	t.Parallel()
	auth, exchange, now := newExchange(t)
	token := personaltoken.New()
	get := func() (string, error) {
		return exchange.accessToken(t.Context(), token, "203.0.113.7", admitAll)
	}
	for range 3 {
		access, err := get()
		require.NoError(t, err)
		require.Equal(t, "access 1", access)
	}
	require.Equal(t, 1, auth.count())
	require.Equal(t, token, auth.calls[0].GetToken())
	require.Equal(t, "203.0.113.7", auth.calls[0].GetAddress())
	*now = now.Add(exchangedKept - time.Second)
	_, err := get()
	require.NoError(t, err)
	require.Equal(t, 1, auth.count(), "cached for a minute")
	*now = now.Add(time.Second)
	access, err := get()
	require.NoError(t, err)
	require.Equal(t, "access 2", access)

	auth.fail(apierr.Unavailable)
	*now = now.Add(exchangedKept + staleKept - time.Second)
	access, err = get()
	require.NoError(t, err)
	require.Equal(t, "access 2", access, "the last one is used while auth is unavailable")
	*now = now.Add(time.Second)
	_, err = get()
	require.ErrorIs(t, err, apierr.Unavailable)

	auth.fail(nil)
	_, err = get()
	require.NoError(t, err)
	auth.fail(apierr.TokenExpired)
	*now = now.Add(exchangedKept)
	for range 3 {
		_, err = get()
		require.ErrorIs(t, err, apierr.TokenExpired)
	}
	calls := auth.count()
	auth.fail(errors.New("connection refused"))
	*now = now.Add(exchangedKept)
	_, err = get()
	require.ErrorIs(t, err, apierr.Unavailable, "a rejected token has no last access token")
	require.Equal(t, calls+1, auth.count(), "the rejection was cached for a minute")
}

func TestExchangeRejectsWithoutLookup(t *testing.T) {
	t.Parallel()
	auth, exchange, _ := newExchange(t)
	token := personaltoken.New()
	for _, bad := range []string{"", "cof_", token[:len(token)-1], token + "0", token[1:]} {
		_, err := exchange.accessToken(t.Context(), bad, "", admitAll)
		require.ErrorIs(t, err, apierr.Unauthorized)
	}
	_, err := exchange.accessToken(t.Context(), token, "",
		func() error { return errRateLimited })
	require.ErrorIs(t, err, errRateLimited)
	require.Zero(t, auth.count())
	_, err = exchange.accessToken(t.Context(), token, "", admitAll)
	require.NoError(t, err)
	_, err = exchange.accessToken(t.Context(), token, "",
		func() error { return errRateLimited })
	require.NoError(t, err, "a known token needs no lookup")
}

// TestExchangeTokenInUse requires that neither the requests of others at the same address nor
// invented tokens reject a token that was accepted a few minutes ago.
func TestExchangeTokenInUse(t *testing.T) {
	t.Parallel()
	auth, exchange, now := newExchange(t)
	token := personaltoken.New()
	limited := func() error { return errRateLimited }
	_, err := exchange.accessToken(t.Context(), token, "", admitAll)
	require.NoError(t, err)
	*now = now.Add(exchangedKept)
	access, err := exchange.accessToken(t.Context(), token, "", limited)
	require.NoError(t, err)
	require.Equal(t, "access 2", access)

	*now = now.Add(exchangedKept)
	for range maxLookups {
		exchange.slots <- struct{}{}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	access, err = exchange.lookUp(ended, personaltoken.Hash(token), nil)
	require.NoError(t, err, "all slots are in use")
	require.Equal(t, "access 2", access)
	require.Equal(t, 2, auth.count())

	*now = now.Add(staleKept)
	_, err = exchange.lookUp(ended, personaltoken.Hash(token), nil)
	require.ErrorIs(t, err, apierr.Unavailable)
	_, err = exchange.accessToken(t.Context(), token, "", limited)
	require.ErrorIs(t, err, errRateLimited)
}

// TestExchangeInventedTokens sends more invented tokens than the cache holds. They do not remove a
// token in use.
func TestExchangeInventedTokens(t *testing.T) {
	t.Parallel()
	auth, exchange, _ := newExchange(t)
	used := personaltoken.New()
	_, err := exchange.accessToken(t.Context(), used, "", admitAll)
	require.NoError(t, err)
	auth.fail(apierr.Unauthorized)
	for range maxExchanged + 100 {
		_, err := exchange.accessToken(t.Context(), personaltoken.New(), "", admitAll)
		require.ErrorIs(t, err, apierr.Unauthorized)
	}
	require.Equal(t, maxExchanged, exchange.rejected.Len())
	require.Equal(t, 1, exchange.accepted.Len())
	_, err = exchange.accessToken(t.Context(), used, "", admitAll)
	require.NoError(t, err)
}

func TestExchangeSharesLookups(t *testing.T) {
	t.Parallel()
	auth, exchange, _ := newExchange(t)
	auth.hold, auth.begun = make(chan struct{}), make(chan struct{}, 1)
	token := personaltoken.New()
	first, cancel := context.WithCancel(t.Context())
	canceled := make(chan error, 1)
	go func() {
		_, err := exchange.accessToken(first, token, "", admitAll)
		canceled <- err
	}()
	<-auth.begun
	cancel()
	require.ErrorIs(t, <-canceled, context.Canceled)
	var wait, asking sync.WaitGroup
	asking.Add(50)
	for range 50 {
		wait.Go(func() {
			access, err := exchange.accessToken(t.Context(), token, "",
				func() error { asking.Done(); return nil })
			if err != nil || access != "access 1" {
				t.Error(access, err)
			}
		})
	}
	asking.Wait()
	close(auth.hold)
	wait.Wait()
	require.Equal(t, 1, auth.count(), "a canceled request does not end the lookup of the others")
}

func TestExchangeLimitsLookups(t *testing.T) {
	t.Parallel()
	auth, exchange, _ := newExchange(t)
	auth.hold, auth.begun = make(chan struct{}), make(chan struct{}, maxLookups+1)
	var wait sync.WaitGroup
	for range maxLookups {
		wait.Go(func() {
			if _, err := exchange.accessToken(t.Context(), personaltoken.New(), "",
				admitAll); err != nil {
				t.Error(err)
			}
		})
	}
	for range maxLookups {
		<-auth.begun
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := exchange.accessToken(ctx, personaltoken.New(), "", func() error {
		cancel()
		return nil
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, auth.begun, "it waits for a slot")
	close(auth.hold)
	wait.Wait()
}
