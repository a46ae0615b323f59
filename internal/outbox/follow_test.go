package outbox

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// follow returns the next count events of a user.
func follow(t *testing.T, bus *Bus, user uuid.UUID, after uint64, count int) []Received {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var followed []Received
	err := bus.Follow(ctx, user, after, func(e Received) error {
		require.Equal(t, user, e.UserID)
		if followed = append(followed, e); len(followed) == count {
			return errEnough
		}
		return nil
	})
	require.ErrorIs(t, err, errEnough)
	return followed
}

var errEnough = errors.New("enough")

func TestFollowYieldsUsersEventsFromAnySequence(t *testing.T) {
	t.Parallel()
	pool, bus := setup(t)
	background(t, func(ctx context.Context) { bus.Relay(ctx, pool) })
	user, other := uuid.Must(uuid.NewV7()), uuid.Must(uuid.NewV7())
	for i := range int64(10) {
		add(t, pool, user, i)
		add(t, pool, other, -i)
	}
	all := follow(t, bus, user, 0, 10)
	for i, e := range all {
		require.EqualValues(t, i, n(e))
		require.Equal(t, "/coffer/ledger", e.Source)
	}
	require.EqualValues(t, 4, n(follow(t, bus, user, all[3].Sequence, 1)[0]))

	end, err := bus.End(t.Context())
	require.NoError(t, err)
	for _, place := range []uint64{end, end + 1000} {
		later := make(chan Received, 100)
		following, stop := context.WithCancel(t.Context())
		background(t, func(context.Context) {
			_ = bus.Follow(following, user, place, func(e Received) error {
				later <- e
				return following.Err()
			})
		})
		var received Received
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			add(t, pool, user, 99)
			select {
			case received = <-later:
			case <-time.After(300 * time.Millisecond):
				require.Fail(c, "nothing yet")
			}
		}, time.Minute, 10*time.Millisecond)
		require.EqualValues(t, 99, n(received))
		stop()
	}
}

func TestFollowDeletesItsConsumer(t *testing.T) {
	t.Parallel()
	pool, bus := setup(t)
	go bus.Relay(t.Context(), pool)
	user := uuid.Must(uuid.NewV7())
	add(t, pool, user, 1)
	for range 3 {
		follow(t, bus, user, 0, 1)
	}
	stream, err := bus.js.Stream(t.Context(), streamName)
	require.NoError(t, err)
	info, err := stream.Info(t.Context())
	require.NoError(t, err)
	require.Zero(t, info.State.Consumers)
}
