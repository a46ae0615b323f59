package reports

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/money"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

func requireSame[T proto.Message](t require.TestingT, want, got []T) {
	require.Len(t, got, len(want), "want %v\ngot  %v", want, got)
	for i := range want {
		require.True(t, proto.Equal(want[i], got[i]), "%d: want %v\ngot  %v", i, want[i], got[i])
	}
}

// historyWallet is a wallet of a history.
type historyWallet struct {
	ID             uuid.UUID
	Name, Currency string
	InitialMinor   int64
	Archived       bool
	// Opened is the day from which the opening balance counts, or nil if it always counts.
	Opened *time.Time
}

// history is the data of a user as plain lists.
type history struct {
	wallets      []historyWallet
	categories   map[uuid.UUID]string
	transactions []posting.Transaction
}

func (s *server) anyHistory(r *rapid.T, ctx context.Context) history {
	history := history{categories: map[uuid.UUID]string{}}
	currencies := []string{"EUR", "JPY", "BHD"}
	for i := range rapid.IntRange(1, 3).Draw(r, "wallets") {
		wallet := historyWallet{
			Name: string(rune('A' + i)), Currency: currencies[i],
			InitialMinor: rapid.Int64Range(-300, 300).Draw(r, "opening balance"),
		}
		req := &ledgerv1.CreateWalletRequest{
			Name: wallet.Name, Currency: wallet.Currency,
			Balance: new(money.CurrencyOf(wallet.Currency).Format(wallet.InitialMinor)),
		}
		req.OpeningDate, wallet.Opened = anyOpening(r)
		resp, err := s.CreateWallet(ctx, req)
		require.NoError(r, err)
		wallet.ID = uuid.MustParse(resp.GetWallet().GetId())
		if rapid.Bool().Draw(r, "archived") {
			wallet.Archived = true
			_, err := s.UpdateWallet(ctx,
				&ledgerv1.UpdateWalletRequest{Id: wallet.ID.String(), Archived: new(true)})
			require.NoError(r, err)
		}
		history.wallets = append(history.wallets, wallet)
	}
	var categories []uuid.UUID
	for i := range rapid.IntRange(1, 3).Draw(r, "categories") {
		name := string(rune('a' + i))
		id := s.MakeCategory(ctx, r, name)
		categories = append(categories, id)
		history.categories[id] = name
	}
	amount := rapid.Int64Range(-500, 500).Filter(func(n int64) bool { return n != 0 })
	for range rapid.IntRange(0, 40).Draw(r, "transactions") {
		history.transactions = append(history.transactions, posting.Transaction{
			WalletID:    rapid.SampledFrom(history.wallets).Draw(r, "wallet").ID,
			CategoryID:  new(rapid.SampledFrom(categories).Draw(r, "category")),
			AmountMinor: amount.Draw(r, "amount"),
			Currency:    rapid.SampledFrom(currencies).Draw(r, "currency"),
			Date:        fixture.AnyTime(r),
		})
	}
	history.transactions = append(history.transactions,
		anySplits(r, history.wallets, categories, currencies)...)
	for range rapid.IntRange(0, 10).Draw(r, "transfers") {
		transfer := s.NewID()
		for _, sign := range []int64{-1, 1} {
			history.transactions = append(history.transactions, posting.Transaction{
				WalletID:    rapid.SampledFrom(history.wallets).Draw(r, "wallet of a leg").ID,
				TransferID:  &transfer,
				AmountMinor: sign * rapid.Int64Range(1, 900).Draw(r, "amount of a leg"),
				Currency:    rapid.SampledFrom(currencies).Draw(r, "currency of a leg"),
				Date:        fixture.AnyTime(r),
			})
		}
	}
	for range rapid.IntRange(0, 5).Draw(r, "adjustments") {
		history.transactions = append(history.transactions, posting.Transaction{
			WalletID:    rapid.SampledFrom(history.wallets).Draw(r, "adjusted wallet").ID,
			Adjustment:  true,
			AmountMinor: amount.Draw(r, "amount of an adjustment"),
			Currency:    rapid.SampledFrom(currencies).Draw(r, "currency of an adjustment"),
			Date:        fixture.AnyTime(r),
		})
	}
	for i := range history.transactions {
		history.transactions[i].Cleared = rapid.Bool().Draw(r, "cleared")
	}
	s.Record(ctx, r, history.transactions...)
	return history
}

// anySplits draws split transactions. Most have a part of the opposite sign, which may exceed the
// other parts of its category.
func anySplits(
	r *rapid.T, wallets []historyWallet, categories []uuid.UUID, currencies []string,
) (ts []posting.Transaction) {
	amount := rapid.SampledFrom([]int64{-400, -7, 7, 300})
	for range rapid.IntRange(0, 10).Draw(r, "splits") {
		transaction := posting.Transaction{
			WalletID: rapid.SampledFrom(wallets).Draw(r, "wallet of a split").ID,
			Currency: rapid.SampledFrom(currencies).Draw(r, "currency of a split"),
			Date:     fixture.AnyTime(r),
		}
		for range rapid.IntRange(2, 4).Draw(r, "parts") {
			part := posting.Split{
				CategoryID:  rapid.SampledFrom(categories).Draw(r, "category of a part"),
				AmountMinor: amount.Draw(r, "amount of a part"),
			}
			transaction.Splits = append(transaction.Splits, part)
			transaction.AmountMinor += part.AmountMinor
		}
		if transaction.AmountMinor != 0 {
			transaction.SplitCount = len(transaction.Splits)
			ts = append(ts, transaction)
		}
	}
	return ts
}

// anyOpening draws the opening day of a request, and the day that it means. Without one, it is the
// current day.
func anyOpening(r *rapid.T) (sent *string, day *time.Time) {
	switch rapid.IntRange(0, 2).Draw(r, "opening day") {
	case 0:
		return nil, new(calendar.DayOf(fixture.Today))
	case 1:
		return new(""), nil
	}
	day = new(calendar.DayOf(fixture.AnyTime(r)))
	return new(day.Format(calendar.DateLayout)), day
}

func anyQuestion(r *rapid.T) *summaryRequest {
	if rapid.IntRange(0, 5).Draw(r, "default") == 0 {
		return &summaryRequest{}
	}
	from, to := fixture.AnyTime(r), fixture.AnyTime(r)
	if to.Before(from) {
		from, to = to, from
	}
	layouts := []string{calendar.DateLayout, "2006-01-02T15:04:05.999Z07:00"}
	layout := rapid.SampledFrom(layouts).Draw(r, "layout")
	req := ask(from.Format(layout), to.Format(layout))
	if rapid.Bool().Draw(r, "only one currency") {
		req.Currency = new(rapid.SampledFrom([]string{"EUR", "jpy", "CHF"}).Draw(r, "only"))
	}
	if to.Before(from.AddDate(0, 0, maxDays-1)) && rapid.Bool().Draw(r, "daily") {
		req.Include = []string{"daily"}
	}
	return req
}
