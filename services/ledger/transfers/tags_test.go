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
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	req := me.moves("12.50")
	req.Tags, req.IdempotencyKey = []string{"Card", " work ", "CARD"}, "key"
	created, err := me.CreateTransfer(me.Ctx, req)
	require.NoError(t, err)
	id := created.GetTransfer().GetId()
	require.Equal(t, []string{"Card", "work"}, created.GetTransfer().GetTags())
	srv.RequireEvent(t,
		&ledgerv1.TransferCreated{OwnerId: me.ID.String(), Transfer: created.GetTransfer()})
	me.requireTags(t, id, "Card", "work")
	again, err := me.CreateTransfer(me.Ctx, req)
	require.NoError(t, err)
	require.True(t, proto.Equal(created.GetTransfer(), again.GetTransfer()))

	_, err = me.UpdateTransfer(me.Ctx, &updateRequest{Id: id, Amount: new("3")})
	require.NoError(t, err)
	me.requireTags(t, id, "Card", "work")
	updated, err := me.UpdateTransfer(me.Ctx,
		&updateRequest{Id: id, Tags: &ledgerv1.Tags{Values: []string{"WORK", "New"}}})
	require.NoError(t, err)
	require.Equal(t, []string{"work", "New"}, updated.GetTransfer().GetTags())
	event, ok := srv.LastEvent(t).(*ledgerv1.TransferUpdated)
	require.True(t, ok)
	require.Equal(t, []string{"Card", "work"}, event.GetBefore().GetTags())
	require.True(t, proto.Equal(updated.GetTransfer(), event.GetAfter()))
	me.requireTags(t, id, "work", "New")
	_, err = me.UpdateTransfer(me.Ctx, &updateRequest{Id: id, Tags: &ledgerv1.Tags{}})
	require.NoError(t, err)
	me.requireTags(t, id)
	_, err = me.UpdateTransaction(me.Ctx, &ledgerv1.UpdateTransactionRequest{
		Id:   created.GetTransfer().GetInTransactionId(),
		Tags: &ledgerv1.Tags{Values: []string{"Card"}},
	})
	require.NoError(t, err)
	me.requireTags(t, id, "Card")
	srv.RequireConsistent(t)
}

// TestTransferTagsOfLegs matches and unlinks transactions with different tags. The transfer shows
// the tags of the expense.
func TestTransferTagsOfLegs(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	spends, receives := me.Spends("5"), me.receives("5")
	spends.Tags, receives.Tags = []string{"Out"}, []string{"In", "out"}
	out, in := me.Create(t, spends), me.Create(t, receives)
	suggested, err := me.SuggestTransfers(me.Ctx, &suggestRequest{})
	require.NoError(t, err)
	require.Len(t, suggested.GetSuggestions(), 1)
	require.True(t, proto.Equal(out, suggested.GetSuggestions()[0].GetOutTransaction()), suggested)
	require.True(t, proto.Equal(in, suggested.GetSuggestions()[0].GetInTransaction()), suggested)
	matched, err := me.match(out.GetId(), in.GetId())
	require.NoError(t, err)
	require.Equal(t, []string{"Out"}, matched.GetTags())
	require.Equal(t, []string{"In", "Out"}, me.leg(t, in.GetId()).GetTags())
	unlinked, err := me.UnlinkTransfer(me.Ctx,
		&unlinkRequest{Id: matched.GetId(), CategoryId: me.Category.String()})
	require.NoError(t, err)
	require.Equal(t, []string{"Out"}, unlinked.GetTransactions()[0].GetTags())
	require.Equal(t, []string{"In", "Out"}, unlinked.GetTransactions()[1].GetTags())
	srv.RequireConsistent(t)
}

func TestTransferTagsRejects(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	id := me.transfer(t, me.moves("1")).GetId()
	many := make([]string, 21)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	for field, tags := range map[string][]string{
		"tags": many, "tags[1]": {"a", "b/c"}, "tags[0]": {""},
	} {
		req := me.moves("1")
		req.Tags = tags
		for _, call := range []func() error{
			func() error { _, err := me.CreateTransfer(me.Ctx, req); return err },
			func() error {
				_, err := me.UpdateTransfer(me.Ctx,
					&updateRequest{Id: id, Tags: &ledgerv1.Tags{Values: tags}})
				return err
			},
		} {
			e := srv.RequireRejected(t, codes.InvalidArgument, "VALIDATION_ERROR", call)
			require.Equal(t, []string{field}, fixture.FieldNames(e))
		}
	}
}

// TestUpdateTransactionsOfLegs changes legs beside other transactions: the fields that both share
// in both, the payee only in the named one. Both legs of a transfer may be named.
func TestUpdateTransactionsOfLegs(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	moved := me.moves("10")
	moved.Tags = []string{"Old"}
	first, second := me.transfer(t, moved), me.transfer(t, me.moves("5"))
	plain := me.Create(t, me.Spends("1"))
	tags := func(names ...string) *ledgerv1.Tags { return &ledgerv1.Tags{Values: names} }
	before := len(me.Events(t))
	resp, err := me.UpdateTransactions(me.Ctx, &ledgerv1.UpdateTransactionsRequest{
		Items: []*ledgerv1.TransactionChange{
			{
				Id: first.GetOutTransactionId(), Payee: new("Bank"), AddTags: tags("New"),
				RemoveTags: tags("OLD"),
			},
			{Id: plain.GetId(), Amount: new("2")},
			{Id: first.GetInTransactionId(), Date: new("2026-04-01"), Payee: new("Cash")},
			{Id: second.GetInTransactionId(), Notes: new("rent")},
		},
	})
	require.NoError(t, err)
	ts := resp.GetTransactions()
	out, in := me.leg(t, first.GetOutTransactionId()), me.leg(t, first.GetInTransactionId())
	require.Equal(t, []string{out.String(), in.String()}, []string{ts[0].String(), ts[2].String()})
	require.Equal(t, []string{"Bank", "Cash"}, []string{out.GetPayee(), in.GetPayee()})
	for _, leg := range []*ledgerv1.Transaction{out, in} {
		require.Equal(t, []string{"New"}, leg.GetTags())
		require.Equal(t, "2026-04-01T00:00:00.000Z", leg.GetDate())
	}
	require.Equal(t, "rent", me.leg(t, second.GetOutTransactionId()).GetNotes())
	events := me.Events(t)[before:]
	require.Len(t, events, 3, "a transfer has one event")
	require.Equal(t, first.GetId(), events[0].(*ledgerv1.TransferUpdated).GetAfter().GetId())
	require.Equal(t, plain.GetId(), events[1].(*ledgerv1.TransactionUpdated).GetAfter().GetId())
	require.Equal(t, second.GetId(), events[2].(*ledgerv1.TransferUpdated).GetAfter().GetId())

	e := srv.RequireRejected(t, codes.FailedPrecondition, "TRANSACTION_IS_TRANSFER", func() error {
		_, err := me.UpdateTransactions(me.Ctx, &ledgerv1.UpdateTransactionsRequest{
			Items: []*ledgerv1.TransactionChange{
				{Id: plain.GetId(), Amount: new("3")},
				{Id: second.GetInTransactionId(), Amount: new("3")},
			},
		})
		return err
	})
	require.Equal(t, []string{"items[1].amount"}, fixture.FieldNames(e))
	srv.RequireConsistent(t)
}

// TestDeleteTransactionsOfLegs deletes a leg, and both legs, beside another transaction.
func TestDeleteTransactionsOfLegs(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	first, second := me.transfer(t, me.moves("10")), me.transfer(t, me.moves("5"))
	plain := me.Create(t, me.Spends("1"))
	before := len(me.Events(t))
	_, err := me.DeleteTransactions(me.Ctx, &ledgerv1.DeleteTransactionsRequest{Ids: []string{
		first.GetInTransactionId(), second.GetOutTransactionId(), plain.GetId(),
		second.GetInTransactionId(),
	}})
	require.NoError(t, err)
	events := me.Events(t)[before:]
	require.Len(t, events, 3)
	require.Equal(t, first.GetId(), events[0].(*ledgerv1.TransferDeleted).GetTransfer().GetId())
	require.Equal(t, second.GetId(), events[1].(*ledgerv1.TransferDeleted).GetTransfer().GetId())
	require.Equal(t, plain.GetId(),
		events[2].(*ledgerv1.TransactionDeleted).GetTransaction().GetId())
	list, err := me.ListTransactions(me.Ctx, &ledgerv1.ListTransactionsRequest{})
	require.NoError(t, err)
	require.Empty(t, list.GetTransactions())
	srv.RequireConsistent(t)
}

// TestUpdateTagsOfBothLegs changes the tags in the items of both legs. The second item applies to
// the tags that the first one left.
func TestUpdateTagsOfBothLegs(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	tags := func(names ...string) *ledgerv1.Tags { return &ledgerv1.Tags{Values: names} }
	type change = ledgerv1.TransactionChange
	for name, tc := range map[string]struct {
		first, second *change
		want          []string
	}{
		"remove, then add": {
			&change{RemoveTags: tags("One")}, &change{AddTags: tags("New")}, []string{"Two", "New"},
		},
		"add, then remove": {
			&change{AddTags: tags("New")}, &change{RemoveTags: tags("new", "One")}, []string{"Two"},
		},
		"replace, then add": {
			&change{Tags: tags("Three")}, &change{AddTags: tags("one")}, []string{"Three", "One"},
		},
		"add, then replace": {
			&change{AddTags: tags("New")}, &change{Tags: tags("Three")}, []string{"Three"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			moved := me.moves("10")
			moved.Tags = []string{"One", "Two"}
			transfer := me.transfer(t, moved)
			tc.first.Id = transfer.GetOutTransactionId()
			tc.second.Id = transfer.GetInTransactionId()
			resp, err := me.UpdateTransactions(me.Ctx, &ledgerv1.UpdateTransactionsRequest{
				Items: []*change{tc.first, tc.second},
			})
			require.NoError(t, err)
			for _, leg := range resp.GetTransactions() {
				require.Equal(t, tc.want, leg.GetTags())
				require.Equal(t, leg.String(), me.leg(t, leg.GetId()).String())
			}
		})
	}
}
