package reports

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkSumSpending measures one budget, a page of an owner's budgets, a page with budgets of
// other owners, and a batch of checks for alerts.
func BenchmarkSumSpending(b *testing.B) {
	srv := setup(b)
	people := make([]person, 100)
	for i := range people {
		people[i] = newPerson(b.Context(), b, srv)
		for range 20 {
			people[i].Create(b, people[i].Spends("10"))
		}
	}
	_, err := srv.DB.Exec(b.Context(), `ANALYZE`)
	require.NoError(b, err)
	for _, n := range []struct{ owners, windows int }{{1, 1}, {1, 50}, {5, 10}, {100, 1}} {
		req := &spendingRequest{}
		for i := range n.owners * n.windows {
			req.Windows = append(req.Windows, people[i%n.owners].window("2026-02-14", "2026-03-14"))
		}
		b.Run(fmt.Sprintf("%d owners, %d windows each", n.owners, n.windows), func(b *testing.B) {
			for b.Loop() {
				_, err := srv.SumSpending(b.Context(), req)
				require.NoError(b, err)
			}
		})
	}
}
