package reads

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestEnter(t *testing.T) {
	t.Parallel()
	gates, user, other := NewGates(1, 1), uuid.Must(uuid.NewV7()), uuid.Must(uuid.NewV7())
	leave, err := gates.Enter(t.Context(), user)
	require.NoError(t, err)
	queued := make(chan error, 1)
	go func() {
		leave, err := gates.Enter(t.Context(), user)
		if err == nil {
			leave()
		}
		queued <- err
	}()
	require.Eventually(t, func() bool {
		return gates.waitingOf(user) == 1
	}, time.Minute, time.Millisecond)
	_, err = gates.Enter(t.Context(), user)
	require.ErrorIs(t, err, errTooManyReads)
	require.Positive(t, errTooManyReads.RetryAfter)
	leaveOther, err := gates.Enter(t.Context(), other)
	require.NoError(t, err, "another user")
	leaveOther()

	leave()
	require.NoError(t, <-queued)
	require.Empty(t, gates.byUser)
}

// waitingOf returns the number of a user's queued reads.
func (g *Gates) waitingOf(user uuid.UUID) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	if gate, ok := g.byUser[user]; ok {
		return gate.Waiting()
	}
	return 0
}

func TestEnterEndsWithContext(t *testing.T) {
	t.Parallel()
	gates, user := NewGates(1, 1), uuid.Must(uuid.NewV7())
	leave, err := gates.Enter(t.Context(), user)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = gates.Enter(ctx, user)
	require.ErrorIs(t, err, context.Canceled)
	leave()
	require.Empty(t, gates.byUser)
}
