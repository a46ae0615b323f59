package reports

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/money"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// figures holds the rows of a summary, read on one snapshot.
type figures struct {
	// totals, categories and wallets are the same movements of the window, by currency, by category
	// and by wallet.
	totals     []movement
	categories []movement
	wallets    []movement
	// previous has the movements of the window before, by currency.
	previous []movement
	// trend has the movements by calendar month and currency.
	trend []movement
	// balances has the balances at the end of the window.
	balances  []walletBalance
	transfers []walletTransfers
	// largest has the largest expenses of each currency, and recent the newest transactions.
	largest []posting.Transaction
	recent  []posting.Transaction
	// days is only read for a query with daily.
	days []day
	// tags is only read for a query with tags.
	tags []tagged
}

// movement is the income and the expense in one currency, both in minor units. They are negative
// only in a row by category whose refunds exceed its other parts (ADR 103). Count is the number of
// transactions, which a row by category does not show. ID and Name identify the category or the
// wallet in rows by category or wallet, and Month is set in the trend.
type movement struct {
	Currency string
	Income   int64
	Expense  int64
	Count    int64
	ID       uuid.UUID
	Name     string
	Month    time.Time
}

type walletBalance struct {
	WalletID uuid.UUID `db:"wallet_id"`
	Name     string
	Currency string
	// Own marks the currency that the wallet was created with.
	Own     bool
	Balance int64
	// Opened is the opening balance if its day is in the window, and otherwise 0.
	Opened int64
	// Total is the balance of all wallets in the currency.
	Total int64
}

// walletTransfers contains the transfers into and out of a wallet in one currency, both positive,
// and its adjustments, in minor units.
type walletTransfers struct {
	WalletID          uuid.UUID `db:"wallet_id"`
	Currency          string
	In, Out, Adjusted int64
}

// walletCurrency identifies a row by wallet.
type walletCurrency struct {
	wallet   uuid.UUID
	currency string
}

// proto returns the summary. It returns false if a balance exceeds an int64.
func (f figures) proto(query summaryQuery) (*ledgerv1.Summary, bool) {
	f.dropUnused()
	closing := map[string]int64{}
	for _, b := range f.balances {
		closing[b.Currency] = b.Total
	}
	opening, ok := f.openingBalances(closing)
	held := f.heldCurrencies(query.currency)
	return &ledgerv1.Summary{
		From:               query.period.From.Format(calendar.DateLayout),
		To:                 query.period.LastDay().Format(calendar.DateLayout),
		Totals:             totalsProto(held, f.totals, closing),
		ByCategory:         f.categoriesProto(),
		ByWallet:           f.walletsProto(),
		Trend:              f.trendProto(held, trend(query.period)),
		Previous:           totalsProto(held, f.previous, opening),
		LargestExpenses:    posting.Protos(f.largest),
		RecentTransactions: posting.Protos(f.recent),
	}, ok
}

// dropUnused removes the balances that are zero in a currency that is not the wallet's own, unless
// the wallet has transactions, transfers or adjustments in it within the window.
func (f *figures) dropUnused() {
	moved := map[walletCurrency]bool{}
	for _, m := range f.wallets {
		moved[walletCurrency{m.ID, m.Currency}] = true
	}
	for _, t := range f.transfers {
		moved[walletCurrency{t.WalletID, t.Currency}] = true
	}
	f.balances = slices.DeleteFunc(f.balances, func(b walletBalance) bool {
		return !b.Own && b.Balance == 0 && !moved[walletCurrency{b.WalletID, b.Currency}]
	})
}

// openingBalances returns the balances at the start of the window (the end of the previous one) by
// currency: the closing balances minus the movements, the transfers, the adjustments and the opened
// wallets of the window. Within one currency a transfer cancels out; between currencies it changes
// both. It returns false if a balance exceeds an int64.
func (f figures) openingBalances(closing map[string]int64) (map[string]int64, bool) {
	opening, ok := maps.Clone(closing), true
	subtract := func(currency string, net int64) {
		// On overflow, before wraps around to the wrong side of the balance.
		before := opening[currency] - net
		ok = ok && (net > 0) == (before < opening[currency])
		opening[currency] = before
	}
	for _, m := range f.totals {
		subtract(m.Currency, m.Income-m.Expense)
	}
	for _, t := range f.transfers {
		subtract(t.Currency, t.In-t.Out)
		subtract(t.Currency, t.Adjusted)
	}
	for _, b := range f.balances {
		subtract(b.Currency, b.Opened)
	}
	return opening, ok
}

// heldCurrencies returns the currencies that have a row even without transactions: the currencies
// of the wallets and of the window, or the requested one.
func (f figures) heldCurrencies(requested string) map[string]bool {
	held := map[string]bool{}
	if requested != "" {
		held[requested] = true
	}
	for _, b := range f.balances {
		held[b.Currency] = true
	}
	for _, m := range f.totals {
		held[m.Currency] = true
	}
	return held
}

// totalsProto returns a row for each currency that is held or has movements, by code. A held
// currency without movements has a row of zeros, so that a user with an empty month still sees the
// balance.
func totalsProto(
	held map[string]bool, movements []movement, balances map[string]int64,
) []*ledgerv1.Totals {
	byCurrency := map[string]movement{}
	for code := range held {
		byCurrency[code] = movement{}
	}
	for _, m := range movements {
		byCurrency[m.Currency] = m
	}
	var out []*ledgerv1.Totals
	for _, code := range slices.Sorted(maps.Keys(byCurrency)) {
		m, c := byCurrency[code], money.CurrencyOf(code)
		out = append(out, &ledgerv1.Totals{
			Currency: code, Income: c.Format(m.Income), Expense: c.Format(m.Expense),
			Net: c.Format(m.Income - m.Expense), Balance: c.Format(balances[code]),
			TransactionCount: int32(min(m.Count, math.MaxInt32)),
		})
	}
	return out
}

// categoriesProto returns the categories by currency, those with the largest expenses first. When
// there are more rows than maxSummaryRows, every currency has an equal share of them.
func (f figures) categoriesProto() []*ledgerv1.CategoryTotals {
	// The sum of all expenses may exceed an int64 where the totals, from which refunds are
	// subtracted, do not.
	spent := map[string]float64{}
	for _, m := range f.categories {
		spent[m.Currency] += float64(max(m.Expense, 0))
	}
	slices.SortFunc(f.categories, func(a, b movement) int {
		return cmp.Or(cmp.Compare(a.Currency, b.Currency),
			cmp.Compare(b.Expense, a.Expense), cmp.Compare(b.Income, a.Income),
			cmp.Compare(a.Name, b.Name), slices.Compare(a.ID[:], b.ID[:]))
	})
	share := shareOf(len(f.categories), len(spent))
	shown := map[string]int{}
	out := make([]*ledgerv1.CategoryTotals, 0, min(len(f.categories), maxSummaryRows))
	for _, m := range f.categories {
		if shown[m.Currency] == share {
			continue
		}
		shown[m.Currency]++
		c := money.CurrencyOf(m.Currency)
		out = append(out, &ledgerv1.CategoryTotals{
			CategoryId: m.ID.String(), Name: m.Name, Currency: m.Currency,
			Income: c.Format(m.Income), Expense: c.Format(m.Expense),
			Percentage: percentage(m.Expense, spent[m.Currency]),
		})
	}
	return out
}

// percentage returns the share of an expense in the sum of all positive expenses, in percent with
// two decimals. It is 0 for an expense that is not positive, so the shares of all categories add up
// to 100, and a chart can draw them.
func percentage(expense int64, spent float64) float64 {
	if expense <= 0 {
		return 0
	}
	return math.Round(float64(expense)/spent*10_000) / 100
}

// walletsProto returns a row for each currency that a wallet holds, by the wallet's name. A wallet
// always holds its own currency, and these rows come before all others when there are more than
// maxSummaryRows.
func (f figures) walletsProto() []*ledgerv1.WalletTotals {
	moved := map[walletCurrency]movement{}
	for _, m := range f.wallets {
		moved[walletCurrency{m.ID, m.Currency}] = m
	}
	byName := func(a, b walletBalance) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), slices.Compare(a.WalletID[:], b.WalletID[:]),
			cmp.Compare(a.Currency, b.Currency))
	}
	transferred := map[walletCurrency]walletTransfers{}
	for _, t := range f.transfers {
		transferred[walletCurrency{t.WalletID, t.Currency}] = t
	}
	shown := f.balances
	slices.SortFunc(shown, byName)
	if len(shown) > maxSummaryRows {
		slices.SortStableFunc(shown,
			func(a, b walletBalance) int { return cmp.Compare(ownFirst(a), ownFirst(b)) })
		shown = shown[:maxSummaryRows]
		slices.SortFunc(shown, byName)
	}
	out := make([]*ledgerv1.WalletTotals, len(shown))
	for i, b := range shown {
		m, c := moved[walletCurrency{b.WalletID, b.Currency}], money.CurrencyOf(b.Currency)
		t := transferred[walletCurrency{b.WalletID, b.Currency}]
		out[i] = &ledgerv1.WalletTotals{
			WalletId: b.WalletID.String(), Name: b.Name, Currency: b.Currency,
			Income: c.Format(m.Income), Expense: c.Format(m.Expense),
			Net: c.Format(m.Income - m.Expense), Balance: c.Format(b.Balance),
			TransferredIn: c.Format(t.In), TransferredOut: c.Format(t.Out),
			Adjusted: c.Format(t.Adjusted),
		}
	}
	return out
}

// ownFirst returns a sort key that orders rows in a wallet's own currency before others.
func ownFirst(b walletBalance) int {
	if b.Own {
		return 0
	}
	return 1
}

// trendProto returns a row for each month and each currency that is held or has movements in any of
// the months.
func (f figures) trendProto(held map[string]bool, months calendar.Period) []*ledgerv1.MonthTotals {
	type key struct {
		month    time.Time
		currency string
	}
	moved := map[key]movement{}
	currencies := maps.Clone(held)
	for _, m := range f.trend {
		currencies[m.Currency] = true
		moved[key{calendar.MonthOf(m.Month), m.Currency}] = m
	}
	var out []*ledgerv1.MonthTotals
	for month := months.From; month.Before(months.End); month = month.AddDate(0, 1, 0) {
		for _, code := range slices.Sorted(maps.Keys(currencies)) {
			m, c := moved[key{month, code}], money.CurrencyOf(code)
			out = append(out, &ledgerv1.MonthTotals{
				Month: month.Format(calendar.MonthLayout), Currency: code,
				Income: c.Format(m.Income), Expense: c.Format(m.Expense),
				Net: c.Format(m.Income - m.Expense),
			})
		}
	}
	return out
}
