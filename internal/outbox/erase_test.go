package outbox

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

func TestErase(t *testing.T) {
	t.Parallel()
	_, bus := setup(t)
	require.NoError(t, bus.EnsureStream(t.Context()))
	user, other := uuid.New().String(), uuid.New().String()
	require.NoError(t, bus.Erase(t.Context(), uuid.MustParse(user)), "there is no event")
	const email = "ada@example.com"
	for _, message := range [][2]string{
		{"auth.v1.user.registered." + user, "Ada"},
		{"ledger.v1.wallet.created." + user, "a wallet"},
		{"budget.v1.member.removed." + other, "of " + user},
		{"budget.v1.invitation.mailed." + other, "to " + email},
		{"budget.v1.budget.created." + other, "a budget"},
		{"ledger.v1.wallet.created." + other, "another wallet"},
	} {
		_, err := bus.js.Publish(context.Background(), message[0], []byte(message[1]))
		require.NoError(t, err)
	}
	stream, err := bus.js.Stream(t.Context(), streamName)
	require.NoError(t, err)
	left := func() map[string]uint64 {
		info, err := stream.Info(t.Context(), jetstream.WithSubjectFilter(">"))
		require.NoError(t, err)
		return info.State.Subjects
	}
	require.Len(t, left(), 6)
	// A repetition finds nothing.
	for range 2 {
		require.NoError(t, bus.Erase(t.Context(), uuid.MustParse(user), email))
		require.Equal(t, map[string]uint64{
			"budget.v1.budget.created." + other: 1, "ledger.v1.wallet.created." + other: 1,
		}, left())
	}
}
