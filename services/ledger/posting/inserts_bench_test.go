package posting_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// BenchmarkInsert measures the statement that inserts a group of transactions of as many owners.
// The time per transaction must not grow with the group.
func BenchmarkInsert(b *testing.B) {
	s := setup(b)
	owners := make([]fixture.User, 256)
	for i := range owners {
		owners[i] = s.NewUser(b.Context(), b)
	}
	for _, n := range []int{16, 64, 256} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				ts := make([]posting.Transaction, n)
				for i, u := range owners[:n] {
					ts[i] = posting.Transaction{
						ID: s.NewID(), OwnerID: u.ID, WalletID: u.Wallet,
						CategoryID: &u.Category, AmountMinor: -100, Currency: "EUR",
						Date: fixture.Today, CreatedAt: fixture.Today,
					}
				}
				written, err := posting.Insert(b.Context(), s.DB, 0, ts, outbox.Rows{}, nil)
				require.NoError(b, err)
				require.Len(b, written, n)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/transaction")
		})
	}
}
