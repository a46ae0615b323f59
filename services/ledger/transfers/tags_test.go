package transfers_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

// requireTags requires that a transfer and both of its legs have tags, in each answer that shows
// them.
func (p person) requireTags(t *testing.T, id string, tags ...string) {
	t.Helper()
	resp, err := p.GetTransfer(p.Ctx, &ledgerv1.GetTransferRequest{Id: id})
	require.NoError(t, err)
	got := resp.GetTransfer()
	require.Equal(t, tags, got.GetTags())
	for _, leg := range []string{got.GetOutTransactionId(), got.GetInTransactionId()} {
		require.Equal(t, tags, p.leg(t, leg).GetTags())
	}
	list, err := p.ListTransfers(p.Ctx, &listRequest{})
	require.NoError(t, err)
	require.Len(t, list.GetTransfers(), 1)
	require.True(t, proto.Equal(got, list.GetTransfers()[0]), list)
}

func TestTransferTags(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t.Context(), t, s)
	req := p.moves("12.50")
	req.Tags, req.IdempotencyKey = []string{"Card", " work ", "CARD"}, "key"
	created, err := p.CreateTransfer(p.Ctx, req)
	require.NoError(t, err)
	id := created.GetTransfer().GetId()
	require.Equal(t, []string{"Card", "work"}, created.GetTransfer().GetTags())
	s.RequireEvent(t,
		&ledgerv1.TransferCreated{OwnerId: p.ID.String(), Transfer: created.GetTransfer()})
	p.requireTags(t, id, "Card", "work")
	again, err := p.CreateTransfer(p.Ctx, req)
	require.NoError(t, err)
	require.True(t, proto.Equal(created.GetTransfer(), again.GetTransfer()))

	_, err = p.UpdateTransfer(p.Ctx, &updateRequest{Id: id, Amount: new("3")})
	require.NoError(t, err)
	p.requireTags(t, id, "Card", "work")
	updated, err := p.UpdateTransfer(p.Ctx,
		&updateRequest{Id: id, Tags: &ledgerv1.Tags{Values: []string{"WORK", "New"}}})
	require.NoError(t, err)
	require.Equal(t, []string{"work", "New"}, updated.GetTransfer().GetTags())
	event, ok := s.LastEvent(t).(*ledgerv1.TransferUpdated)
	require.True(t, ok)
	require.Equal(t, []string{"Card", "work"}, event.GetBefore().GetTags())
	require.True(t, proto.Equal(updated.GetTransfer(), event.GetAfter()))
	p.requireTags(t, id, "work", "New")
	_, err = p.UpdateTransfer(p.Ctx, &updateRequest{Id: id, Tags: &ledgerv1.Tags{}})
	require.NoError(t, err)
	p.requireTags(t, id)
	_, err = p.UpdateTransaction(p.Ctx, &ledgerv1.UpdateTransactionRequest{
		Id:   created.GetTransfer().GetInTransactionId(),
		Tags: &ledgerv1.Tags{Values: []string{"Card"}},
	})
	require.NoError(t, err)
	p.requireTags(t, id, "Card")
	s.RequireConsistent(t)
}

// TestTransferTagsOfLegs matches and unlinks transactions with different tags. The transfer shows
// the tags of the expense.
func TestTransferTagsOfLegs(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t.Context(), t, s)
	spends, receives := p.Spends("5"), p.receives("5")
	spends.Tags, receives.Tags = []string{"Out"}, []string{"In", "out"}
	out, in := p.Create(t, spends), p.Create(t, receives)
	suggested, err := p.SuggestTransfers(p.Ctx, &suggestRequest{})
	require.NoError(t, err)
	require.Len(t, suggested.GetSuggestions(), 1)
	require.True(t, proto.Equal(out, suggested.GetSuggestions()[0].GetOutTransaction()), suggested)
	require.True(t, proto.Equal(in, suggested.GetSuggestions()[0].GetInTransaction()), suggested)
	matched, err := p.match(out.GetId(), in.GetId())
	require.NoError(t, err)
	require.Equal(t, []string{"Out"}, matched.GetTags())
	require.Equal(t, []string{"In", "Out"}, p.leg(t, in.GetId()).GetTags())
	unlinked, err := p.UnlinkTransfer(p.Ctx,
		&unlinkRequest{Id: matched.GetId(), CategoryId: p.Category.String()})
	require.NoError(t, err)
	require.Equal(t, []string{"Out"}, unlinked.GetTransactions()[0].GetTags())
	require.Equal(t, []string{"In", "Out"}, unlinked.GetTransactions()[1].GetTags())
	s.RequireConsistent(t)
}

func TestTransferTagsRejects(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t.Context(), t, s)
	id := p.transfer(t, p.moves("1")).GetId()
	many := make([]string, 21)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	for field, tags := range map[string][]string{
		"tags": many, "tags[1]": {"a", "b/c"}, "tags[0]": {""},
	} {
		req := p.moves("1")
		req.Tags = tags
		for _, call := range []func() error{
			func() error { _, err := p.CreateTransfer(p.Ctx, req); return err },
			func() error {
				_, err := p.UpdateTransfer(p.Ctx,
					&updateRequest{Id: id, Tags: &ledgerv1.Tags{Values: tags}})
				return err
			},
		} {
			e := s.RequireRejected(t, codes.InvalidArgument, "VALIDATION_ERROR", call)
			require.Equal(t, []string{field}, fixture.FieldNames(e))
		}
	}
}
