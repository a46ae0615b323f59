package rpc

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
)

func TestGateRejectsBeyondQueue(t *testing.T) {
	t.Parallel()
	gate := NewGate(2, 3, apierr.Unavailable)
	var inside []func()
	for range 2 {
		leave, err := gate.Enter(t.Context())
		require.NoError(t, err)
		inside = append(inside, leave)
	}
	entered := make(chan error, 3)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			leave, err := gate.Enter(t.Context())
			if err == nil {
				leave()
			}
			entered <- err
		})
	}
	require.Eventually(t, func() bool { return gate.Waiting() == 3 }, time.Minute, time.Millisecond)
	_, err := gate.Enter(t.Context())
	require.ErrorIs(t, err, apierr.Unavailable)
	require.Positive(t, apierr.From(err).RetryAfter)
	for _, leave := range inside {
		leave()
	}
	wg.Wait()
	for range 3 {
		require.NoError(t, <-entered)
	}
}

func TestGateCanceledCallLeavesQueue(t *testing.T) {
	t.Parallel()
	g := NewGate(1, 1, apierr.Unavailable)
	leave, err := g.Enter(t.Context())
	require.NoError(t, err)
	defer leave()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = g.Enter(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, g.Waiting())
}
