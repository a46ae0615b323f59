package accounts

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

func TestListWalletsNewestFirst(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	ctx := fixture.ActAs(t.Context(), srv.NewID())
	var want []string
	for _, name := range []string{"A", "B", "C", "D", "E"} {
		want = append([]string{srv.MakeWallet(ctx, t, name, "EUR").String()}, want...)
	}
	srv.MakeWallet(fixture.ActAs(t.Context(), srv.NewID()), t, "another's", "EUR")
	var got []string
	req := &walletList{Limit: new(int32(2))}
	for {
		resp, err := srv.ListWallets(ctx, req)
		require.NoError(t, err)
		for _, w := range resp.GetWallets() {
			got = append(got, w.GetId())
		}
		if req.Cursor = resp.GetPagination().GetNextCursor(); req.GetCursor() == "" {
			break
		}
		require.Len(t, resp.GetWallets(), 2)
	}
	require.Equal(t, want, got)

	req.Cursor = "AAAA"
	_, err := srv.ListWallets(ctx, req)
	fixture.RequireReason(t, err, codes.InvalidArgument, "INVALID_CURSOR")
	_, err = srv.ListWallets(ctx, &walletList{Limit: new(int32(0))})
	fixture.RequireReason(t, err, codes.InvalidArgument, "VALIDATION_ERROR")
}

func TestListWalletsFiltersByArchived(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	ctx := fixture.ActAs(t.Context(), srv.NewID())
	ids := map[bool][]string{}
	for i := range 6 {
		id, archived := srv.MakeWallet(ctx, t, "Cash", "EUR").String(), i%2 == 0
		if archived {
			_, err := srv.UpdateWallet(ctx, &walletUpdate{Id: id, Archived: &archived})
			require.NoError(t, err)
		}
		ids[archived] = append([]string{id}, ids[archived]...)
	}
	list := func(req *walletList) (got []string, next string) {
		resp, err := srv.ListWallets(ctx, req)
		require.NoError(t, err)
		for _, w := range resp.GetWallets() {
			got = append(got, w.GetId())
		}
		return got, resp.GetPagination().GetNextCursor()
	}
	all, _ := list(&walletList{})
	require.Len(t, all, 6)
	for archived, want := range ids {
		req := &walletList{Archived: &archived, Limit: new(int32(2))}
		first, next := list(req)
		req.Cursor = next
		second, _ := list(req)
		require.Equal(t, want, append(first, second...))
		for name, other := range map[string]*bool{
			"without the filter":   nil,
			"with the other value": new(!archived),
		} {
			_, err := srv.ListWallets(ctx, &walletList{Archived: other, Cursor: next})
			require.ErrorIs(t, err, apierr.InvalidCursor, name)
		}
	}
}
