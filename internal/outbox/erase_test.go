package outbox

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// send publishes an event of a user to the stream, with another type unless that is empty.
func (b *Bus) send(t *testing.T, user uuid.UUID, data proto.Message, schema string) {
	t.Helper()
	rows, err := Encode(Event{ID: uuid.New(), UserID: user, Data: data})
	require.NoError(t, err)
	message, err := entry{
		ID: rows.IDs[0], UserID: user, Subject: rows.Subjects[0], Data: rows.Data[0],
	}.message("budget")
	require.NoError(t, err)
	if schema != "" {
		message.Header.Set(headerSchema, schema)
	}
	_, err = b.js.PublishMsg(context.Background(), message)
	require.NoError(t, err)
}

func TestErase(t *testing.T) {
	t.Parallel()
	_, bus := setup(t)
	require.NoError(t, bus.EnsureStream(t.Context()))
	user, other := uuid.New(), uuid.New()
	const email = "da@example.com"
	require.NoError(t, bus.Erase(t.Context(), user, email), "there is no event")
	later := &budgetv1.UserErased{}
	later.ProtoReflect().SetUnknown(
		protowire.AppendString(protowire.AppendTag(nil, 900, protowire.BytesType), email))
	for _, erased := range []struct {
		user   uuid.UUID
		data   proto.Message
		schema string
	}{
		{user, &authv1.UserRegistered{}, ""},
		{user, &ledgerv1.WalletCreated{}, ""},
		{other, &budgetv1.MemberRemoved{RemovedBy: user.String()}, ""},
		{other, &budgetv1.BudgetUpdated{
			After: &budgetv1.BudgetSnapshot{OwnerId: user.String()},
		}, ""},
		{other, &budgetv1.InvitationMailed{Email: email}, ""},
		{other, later, ""},
		{other, &budgetv1.InvitationEnded{Email: email}, "coffer.dev/coffer.budget.v1.Later"},
	} {
		bus.send(t, erased.user, erased.data, erased.schema)
	}
	for _, kept := range []proto.Message{
		&budgetv1.BudgetCreated{Budget: &budgetv1.BudgetSnapshot{Name: "of " + email}},
		&budgetv1.InvitationMailed{Email: "a" + email},
		&budgetv1.InvitationEnded{Email: email + ".au"},
		&ledgerv1.WalletDeleted{},
	} {
		bus.send(t, other, kept, "")
	}
	stream, err := bus.js.Stream(t.Context(), streamName)
	require.NoError(t, err)
	left := func() map[string]uint64 {
		info, err := stream.Info(t.Context(), jetstream.WithSubjectFilter(">"))
		require.NoError(t, err)
		return info.State.Subjects
	}
	require.Len(t, left(), 9)
	// A repetition finds nothing.
	for range 2 {
		require.NoError(t, bus.Erase(t.Context(), user, email))
		require.Equal(t, map[string]uint64{
			"budget.v1.budget.created." + other.String():    1,
			"budget.v1.invitation.mailed." + other.String(): 1,
			"budget.v1.invitation.ended." + other.String():  1,
			"ledger.v1.wallet.deleted." + other.String():    1,
		}, left())
	}
}
