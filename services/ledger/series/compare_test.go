package series

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

// TestGetComparisonOther requires that the groups with the largest differences of a number are
// separate, and that all others are added up.
func TestGetComparisonOther(t *testing.T) {
	t.Parallel()
	s, reports, u := setup(t)
	for i, amount := range []string{"1", "2", "4", "8"} {
		spent := u.Spends(amount)
		spent.CategoryId = s.MakeCategory(u.Ctx, t, fmt.Sprint("category ", i)).String()
		u.Create(t, spent)
	}
	earned := u.Spends("100")
	earned.Type, earned.CategoryId = new("income"), s.MakeCategory(u.Ctx, t, "Salary").String()
	u.Create(t, earned)
	req := &ledgerv1.GetComparisonRequest{Top: new(int32(1))}
	for orderBy, want := range map[string][3]string{
		"":        {"category 3", "100.00", "7.00"},
		"expense": {"category 3", "100.00", "7.00"},
		"income":  {"Salary", "0.00", "15.00"},
		"net":     {"Salary", "0.00", "15.00"},
	} {
		if req.OrderBy = nil; orderBy != "" {
			req.OrderBy = &orderBy
		}
		resp, err := reports.GetComparison(u.Ctx, req)
		require.NoError(t, err)
		require.Len(t, resp.GetComparison().GetGroups(), 1)
		require.Equal(t, want[0], resp.GetComparison().GetGroups()[0].GetName())
		other := resp.GetComparison().GetOther()
		require.EqualValues(t, 4, other.GetGroups())
		require.Equal(t, want[1], other.GetNow().GetIncome())
		require.Equal(t, want[2], other.GetDifference().GetExpense())
		require.Equal(t, "0.00", other.GetBefore().GetExpense())
	}
	req.OrderBy = new("name")
	_, err := reports.GetComparison(u.Ctx, req)
	require.Equal(t, "orderBy", apierr.From(err).Fields[0].Name)

	stream := &fixture.DownloadStream[ledgerv1.ExportComparisonResponse]{Ctx: u.Ctx}
	require.NoError(t, reports.ExportComparison(
		&ledgerv1.ExportComparisonRequest{Top: new(int32(1)), OrderBy: new("income")}, stream))
	require.Contains(t, string(stream.Sent[1].GetContent()),
		"other,,,2026-03-01,2026-03-31,0.00,15.00,-15.00,EUR")
}

// TestGetComparisonOfLargeSums requires an error if the sum of the other groups exceeds an int64.
func TestGetComparisonOfLargeSums(t *testing.T) {
	t.Parallel()
	huge := pair{now: row{Expense: math.MaxInt64}}
	_, err := other([]pair{huge, {now: row{Expense: -1}}}, "EUR")
	require.NoError(t, err)
	_, err = other([]pair{huge, {now: row{Expense: 1}}}, "EUR")
	require.ErrorIs(t, err, errOverflow)
}

// TestGetComparisonOfLeapDay compares a day that the year before does not have.
func TestGetComparisonOfLeapDay(t *testing.T) {
	t.Parallel()
	_, reports, u := setup(t)
	for _, days := range [][4]string{
		{"2024-02-29", "2024-02-29", "2023-02-28", "2023-02-28"},
		{"2024-02-29", "2024-03-31", "2023-02-28", "2023-03-31"},
		{"2024-02-01", "2024-02-28", "2023-02-01", "2023-02-28"},
		{"2024-02-01", "2024-02-29", "2023-02-01", "2023-02-28"},
	} {
		resp, err := reports.GetComparison(u.Ctx, &ledgerv1.GetComparisonRequest{
			From: &days[0], To: &days[1], With: new("year"),
		})
		require.NoError(t, err)
		before := resp.GetComparison().GetBefore()
		require.Equal(t, days[2], before.GetStart())
		require.Equal(t, days[3], before.GetEnd())
	}
}

// TestEarlierTooLarge requires that the error does not name a day of the earlier period, which a
// correction of the request would not reach.
func TestEarlierTooLarge(t *testing.T) {
	t.Parallel()
	january := calendar.Days(day("2026-01-01"), day("2026-01-31"))
	err := earlierTooLarge(query{period: january}.tooLarge(day("2026-01-10")))
	require.ErrorIs(t, err, errReportTooLarge)
	require.Equal(t, []apierr.Field{{
		Name:    "from",
		Message: "must be later: the earlier period has too many transactions; " + unlimited,
	}}, apierr.From(err).Fields)
	require.ErrorIs(t, earlierTooLarge(errOverflow), errOverflow)
}
