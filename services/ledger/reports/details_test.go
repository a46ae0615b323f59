package reports

import (
	"testing"

	"github.com/stretchr/testify/require"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

func TestGetSummaryShowsDetails(t *testing.T) {
	t.Parallel()
	me := newPerson(t.Context(), t, setup(t))
	req := me.Spends("3")
	req.CategoryId, req.Tags = "", []string{"Trip"}
	req.Splits = []*ledgerv1.Split{
		{CategoryId: me.Category.String(), Amount: "1"},
		{CategoryId: me.Category.String(), Amount: "2"},
	}
	me.Create(t, req)
	resp, err := me.GetSummary(me.Ctx, &summaryRequest{})
	require.NoError(t, err)
	for _, ts := range [][]*ledgerv1.Transaction{
		resp.GetSummary().GetLargestExpenses(),
		resp.GetSummary().GetRecentTransactions(),
	} {
		require.Len(t, ts, 1)
		require.Len(t, ts[0].GetSplits(), 2)
		require.Equal(t, []string{"Trip"}, ts[0].GetTags())
	}
}
