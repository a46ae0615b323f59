package transactions

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/coffer-budget/coffer/internal/rpc"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

func TestListTransactionsCursorScope(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me, stranger := newPerson(t.Context(), t, srv), newPerson(t.Context(), t, srv)
	for range 3 {
		me.Create(t, me.Spends("1"))
	}
	resp, err := srv.ListTransactions(me.Ctx,
		&listRequest{Limit: new(int32(1)), Type: new(posting.Expense)})
	require.NoError(t, err)
	cursor := resp.GetPagination().GetNextCursor()
	for name, tc := range map[string]struct {
		ctx context.Context
		req *listRequest
	}{
		"another filter": {me.Ctx, &listRequest{Cursor: cursor}},
		"another order": {
			me.Ctx, &listRequest{Cursor: cursor, Type: new(posting.Expense), Sort: new("date")},
		},
		"another user": {stranger.Ctx, &listRequest{Cursor: cursor, Type: new(posting.Expense)}},
		"a changed one": {
			me.Ctx, &listRequest{Cursor: strings.ToUpper(cursor), Type: new(posting.Expense)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := srv.ListTransactions(tc.ctx, tc.req)
			fixture.RequireReason(t, err, codes.InvalidArgument, "INVALID_CURSOR")
		})
	}
	// The page size is not part of a cursor's scope.
	_, err = srv.ListTransactions(me.Ctx,
		&listRequest{Limit: new(int32(2)), Type: new(posting.Expense), Cursor: cursor})
	require.NoError(t, err)
}

// TestListTransactionsPagesAreComplete compares the pages of random lists with a sorted slice,
// while rows with equal keys abound and new ones arrive at the head.
func TestListTransactionsPagesAreComplete(t *testing.T) {
	t.Parallel()
	s := setup(t)
	rapid.Check(t, func(r *rapid.T) {
		me := newPerson(context.Background(), r, s)
		var all []posting.Transaction
		for i := range rapid.IntRange(0, 25).Draw(r, "transactions") {
			hours := rapid.IntRange(0, 3).Draw(r, "hours")
			all = append(all, posting.Transaction{
				WalletID: me.Wallet, CategoryID: &me.Category, Currency: "EUR",
				Description: fmt.Sprint(i),
				AmountMinor: rapid.SampledFrom([]int64{-200, -100, 100}).Draw(r, "amount"),
				Date:        fixture.Today.Add(time.Duration(hours) * time.Hour),
			})
		}
		me.Record(me.Ctx, r, all...)
		sort := rapid.SampledFrom([]string{"-date", "date", "-amount", "amount"}).Draw(r, "sort")
		slices.SortFunc(all, func(a, b posting.Transaction) int {
			order := cmp.Or(a.Date.Compare(b.Date), cmp.Compare(a.ID.String(), b.ID.String()))
			if strings.HasSuffix(sort, "amount") {
				order = cmp.Or(cmp.Compare(a.AmountMinor, b.AmountMinor),
					cmp.Compare(a.ID.String(), b.ID.String()))
			}
			if sort[0] == '-' {
				order = -order
			}
			return order
		})
		want := []string{}
		for _, tr := range all {
			want = append(want, tr.Description)
		}
		req := &listRequest{Sort: &sort, Limit: new(int32(rapid.IntRange(1, 7).Draw(r, "limit")))}
		require.Equal(r, want, me.listed(r, req))
	})
}

func TestListTransactionsMaximumLimit(t *testing.T) {
	t.Parallel()
	me := newPerson(t.Context(), t, setup(t))
	ts := make([]posting.Transaction, 201)
	for i := range ts {
		ts[i] = posting.Transaction{
			WalletID: me.Wallet, CategoryID: &me.Category, Currency: "EUR",
			AmountMinor: 1, Date: fixture.Today,
		}
	}
	me.Record(me.Ctx, t, ts...)
	limits := map[*int32]int{nil: 50, new(int32(200)): 200, new(int32(1_000_000)): 200}
	for asked, want := range limits {
		resp, err := me.ListTransactions(me.Ctx, &listRequest{Limit: asked})
		require.NoError(t, err)
		require.Len(t, resp.GetTransactions(), want)
		require.EqualValues(t, want, resp.GetPagination().GetLimit())
		require.True(t, resp.GetPagination().GetHasMore())
	}
}

// TestListTransactionsSize lists transactions with parts of the maximum length, of which 200 would
// be four times a message's maximum.
func TestListTransactionsSize(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	const count, parts = 60, 50
	ts := make([]posting.Transaction, count)
	for i := range ts {
		ts[i] = posting.Transaction{
			WalletID: me.Wallet, Currency: "EUR", AmountMinor: -parts, Date: fixture.Today,
			SplitCount: parts, Notes: strings.Repeat("💶", 4000),
		}
		for range parts {
			ts[i].Splits = append(ts[i].Splits, posting.Split{
				CategoryID: me.Category, AmountMinor: -1, Description: strings.Repeat("💶", 1000),
			})
		}
	}
	srv.Record(me.Ctx, t, ts...)
	req, seen := &listRequest{Limit: new(int32(200))}, map[string]bool{}
	for {
		resp, err := me.ListTransactions(me.Ctx, req)
		require.NoError(t, err)
		require.Less(t, proto.Size(resp), rpc.MaxMessage*9/10)
		require.EqualValues(t, 200, resp.GetPagination().GetLimit())
		for _, m := range resp.GetTransactions() {
			require.False(t, seen[m.GetId()])
			require.Len(t, m.GetSplits(), parts)
			seen[m.GetId()] = true
		}
		if !resp.GetPagination().GetHasMore() {
			break
		}
		req.Cursor = resp.GetPagination().GetNextCursor()
	}
	require.Len(t, seen, count)
}
