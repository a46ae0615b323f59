package notification

import (
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/coffer-budget/coffer/internal/calendar"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

func TestReached(t *testing.T) {
	t.Parallel()
	for spent, want := range map[int64][]int32{
		-1: nil, 0: nil, 799: nil, 800: {80}, 999: {80}, 1000: {80, 100},
		1_000_000_000_000_000_000: {80, 100},
	} {
		require.Equal(t, want, reached([]int32{80, 100}, spent, 1000), "%d", spent)
	}
	require.Empty(t, reached([]int32{1000}, 0, 9_999_999_999_999_999),
		"the largest limit, in a currency of four decimals")
	rapid.Check(t, func(t *rapid.T) {
		threshold := rapid.Int32Range(1, 1000).Draw(t, "threshold")
		limit := rapid.Int64Range(1, 9_999_999_999_999_999).Draw(t, "limit")
		spent := rapid.Int64Range(0, 90_000_000_000_000_000).Draw(t, "spent")
		share := new(big.Int).Mul(big.NewInt(limit), big.NewInt(int64(threshold)))
		enough := new(big.Int).Mul(big.NewInt(spent), big.NewInt(100)).Cmp(share) >= 0
		require.Equal(t, enough, len(reached([]int32{threshold}, spent, limit)) == 1)
	})
}

func TestWindowsOf(t *testing.T) {
	t.Parallel()
	day := func(s string) time.Time {
		d, ok := calendar.ParseDate(s)
		require.True(t, ok)
		return d
	}
	budget := budget{
		ID: uuid.New(), WalletID: uuid.New(), CategoryIDs: []uuid.UUID{uuid.New(), uuid.New()},
		Period: "monthly", StartDate: day("2026-01-31"), EndDate: new(day("2026-06-15")),
	}
	wallet, category := budget.WalletID.String(), budget.CategoryIDs[0].String()
	of := func(date string) *ledgerv1.Transaction {
		return &ledgerv1.Transaction{
			WalletId: wallet, CategoryId: budget.CategoryIDs[1].String(),
			Date: date + "T23:59:59.000Z",
		}
	}
	created := func(transaction *ledgerv1.Transaction) proto.Message {
		return &ledgerv1.TransactionCreated{Transaction: transaction}
	}
	updated := func(before, after *ledgerv1.Transaction) proto.Message {
		return &ledgerv1.TransactionUpdated{Before: before, After: after}
	}
	otherWallet, otherCategory := of("2026-03-15"), of("2026-03-15")
	otherWallet.WalletId, otherCategory.CategoryId = uuid.NewString(), uuid.NewString()
	split, leg := of("2026-03-30"), of("2026-03-30")
	split.CategoryId, leg.CategoryId, leg.TransferId = "", "", uuid.NewString()
	split.Splits = []*ledgerv1.Split{{CategoryId: uuid.NewString()}, {CategoryId: category}}
	imported := func(first, last string) *ledgerv1.TransactionsImported {
		return &ledgerv1.TransactionsImported{
			WalletIds: []string{uuid.NewString(), wallet}, CategoryIds: []string{category},
			FirstDate: first, LastDate: last,
		}
	}
	undone := &ledgerv1.TransactionsImportUndone{
		WalletIds: []string{wallet}, CategoryIds: []string{category},
		FirstDate: "2026-02-28", LastDate: "2026-02-28",
	}
	merged := &ledgerv1.CategoryDeleted{CategoryId: uuid.NewString(), ReassignedTo: &category}
	january, february := []string{"2026-01-31"}, []string{"2026-02-28"}
	both := slices.Concat(january, february)
	for name, tc := range map[string]struct {
		event proto.Message
		want  []string
	}{
		"a part in the category":  {created(split), february},
		"the end of a split":      {updated(split, otherCategory), february},
		"a leg of a transfer":     {updated(leg, leg), nil},
		"an import of two years":  {imported("2024-01-01", "2026-03-01"), both},
		"an import of the past":   {imported("2024-01-01", "2026-01-30"), nil},
		"an import of the future": {imported("2026-03-31", "2026-04-30"), nil},
		"an undo":                 {undone, february},
		"created":                 {created(of("2026-02-27")), january},
		"the window's first day":  {created(of("2026-02-28")), february},
		"moved to another window": {updated(of("2026-02-01"), of("2026-03-30")), both},
		"deleted": {
			&ledgerv1.TransactionDeleted{Transaction: of("2026-03-30")}, february,
		},
		"a future window":       {created(of("2026-03-31")), nil},
		"before the budget":     {created(of("2026-01-30")), nil},
		"after its end":         {created(of("2026-06-16")), nil},
		"another wallet":        {created(otherWallet), nil},
		"another category":      {created(otherCategory), nil},
		"the target of a merge": {merged, february},
		"a deleted category":    {&ledgerv1.CategoryDeleted{CategoryId: category}, nil},
		"an event of a wallet":  {&ledgerv1.WalletCreated{}, nil},
	} {
		var got []string
		for _, changed := range changesOf(tc.event) {
			for _, w := range budget.windowsOf(changed, day("2026-03-15")) {
				got = append(got, w.From.Format(calendar.DateLayout))
			}
		}
		require.Equal(t, tc.want, got, name)
	}
}
