package outbox

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// TestAwaitApplied waits for an event that a consumer is applying, and not for later ones.
func TestAwaitApplied(t *testing.T) {
	t.Parallel()
	pool, bus := setup(t)
	require.NoError(t, bus.EnsureStream(t.Context()))
	user := uuid.New()
	applying, release := make(chan struct{}, 2), make(chan struct{})
	go bus.Consume(t.Context(), pool, Consumer{
		Name: "test", Subject: subject,
		Apply: func(ctx context.Context, _ pgx.Tx, _ []Received) error {
			applying <- struct{}{}
			select {
			case <-release:
			case <-ctx.Done():
			}
			return ctx.Err()
		},
	})
	require.Eventually(t, func() bool { return bus.AwaitApplied(t.Context(), "test") == nil },
		time.Minute, 10*time.Millisecond, "there is no event")
	bus.send(t, user, &ledgerv1.WalletDeleted{}, "")
	<-applying
	short, cancel := context.WithTimeout(t.Context(), 3*minPollInterval)
	defer cancel()
	require.ErrorIs(t, bus.AwaitApplied(short, "test"), context.DeadlineExceeded)
	done := make(chan error, 1)
	go func() { done <- bus.AwaitApplied(t.Context(), "test") }()
	release <- struct{}{}
	require.NoError(t, <-done)
	bus.send(t, user, &ledgerv1.WalletCreated{}, "")
	require.NoError(t, bus.AwaitApplied(t.Context(), "test"), "an event of another type")
}
