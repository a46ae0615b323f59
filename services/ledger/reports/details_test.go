package reports

import (
	"testing"

	"github.com/stretchr/testify/require"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

func TestGetSummaryShowsDetails(t *testing.T) {
	t.Parallel()
	p := newPerson(t.Context(), t, setup(t))
	req := p.Spends("3")
	req.CategoryId, req.Tags = "", []string{"Trip"}
	req.Splits = []*ledgerv1.Split{
		{CategoryId: p.Category.String(), Amount: "1"},
		{CategoryId: p.Category.String(), Amount: "2"},
	}
	p.Create(t, req)
	resp, err := p.GetSummary(p.Ctx, &summaryRequest{})
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
