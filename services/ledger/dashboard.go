package ledger

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

const (
	// maxWindowYears bounds the months that a summary adds up.
	maxWindowYears = 10
	trendMonths    = 12
	// topTransactions is how many of the largest and of the newest are shown.
	topTransactions = 5
)

// GetSummary answers with the totals of a window, the current calendar month (UTC) by default. Errors:
// INVALID_TRANSACTION_DATE for a bad from or to, VALIDATION_ERROR for a window that is upside down or longer than ten
// years, UNSUPPORTED_CURRENCY.
func (s *server) GetSummary(ctx context.Context, req *ledgerv1.GetSummaryRequest) (*ledgerv1.GetSummaryResponse, error) {
	question, err := parseSummary(req, s.now())
	if err != nil {
		return nil, err
	}
	question.owner = caller.ID(ctx)
	f, err := selectFigures(ctx, s.db, question)
	if pg.IsOutOfRange(err) {
		return nil, errSummaryOverflow
	}
	if err != nil {
		return nil, err
	}
	return &ledgerv1.GetSummaryResponse{Summary: f.proto(question)}, nil
}

// summaryQuestion is whose figures of what time are wanted.
type summaryQuestion struct {
	owner  uuid.UUID
	window window
	// currency is the only one wanted; empty: all.
	currency string
}

func parseSummary(req *ledgerv1.GetSummaryRequest, now time.Time) (summaryQuestion, error) {
	var p apierr.Problems
	month := monthOf(now)
	q := summaryQuestion{window: window{from: month, end: month.AddDate(0, 1, 0)}}
	if req.From != nil {
		q.window.from = parseBound(&p, "from", req.GetFrom(), false)
	}
	if req.To != nil {
		q.window.end = parseBound(&p, "to", req.GetTo(), true)
	}
	switch {
	case req.From == nil && req.To != nil:
		q.window.from = monthOf(q.window.lastDay())
	case req.To == nil && !q.window.from.Before(q.window.end):
		q.window.end = monthOf(q.window.from).AddDate(0, 1, 0)
	}
	if req.Currency != nil {
		q.currency = parseCurrency(&p, "currency", req.GetCurrency()).Code()
	}
	if !p.Has(errInvalidTransactionDate) {
		p.Field(q.window.problem())
	}
	return q, p.Err()
}

// figures are the parts of a summary as they were read, all at one moment.
type figures struct {
	totals     []movement
	categories []movement
	wallets    []movement
	previous   []movement
	trend      []movement
	balances   []walletBalance
	largest    []transaction
	recent     []transaction
}

// movement is what came and went in one currency, in minor units; of a category, a wallet or a month when it is a row of
// theirs.
type movement struct {
	Currency string
	Income   int64
	Expense  int64
	Count    int64
	ID       uuid.UUID
	Name     string
	Month    time.Time
}

// walletBalance is what a wallet holds in one currency.
type walletBalance struct {
	WalletID uuid.UUID `db:"wallet_id"`
	Name     string
	Currency string
	Balance  int64
	// Together is what all wallets hold in the currency.
	Together int64
}

func (f figures) proto(q summaryQuestion) *ledgerv1.Summary {
	held := f.heldCurrencies(q.currency)
	return &ledgerv1.Summary{
		From:               q.window.from.Format(dateLayout),
		To:                 q.window.lastDay().Format(dateLayout),
		Totals:             f.totalsProto(held, f.totals),
		ByCategory:         f.categoriesProto(),
		ByWallet:           f.walletsProto(),
		Trend:              f.trendProto(held, q.window.trend()),
		Previous:           f.totalsProto(held, f.previous),
		LargestExpenses:    transactionsProto(largestFirst(f.largest)),
		RecentTransactions: transactionsProto(f.recent),
	}
}

// heldCurrencies are those that get a row even when nothing moved: those of the wallets and of the window, or the one
// that was asked for.
func (f figures) heldCurrencies(asked string) map[string]bool {
	held := map[string]bool{}
	if asked != "" {
		held[asked] = true
	}
	for _, b := range f.balances {
		held[b.Currency] = true
	}
	for _, m := range f.totals {
		held[m.Currency] = true
	}
	return held
}

// totalsProto has a row for each currency that is held or moved.
func (f figures) totalsProto(held map[string]bool, moved []movement) []*ledgerv1.Totals {
	byCurrency := map[string]movement{}
	for code := range held {
		byCurrency[code] = movement{}
	}
	for _, m := range moved {
		byCurrency[m.Currency] = m
	}
	balances := map[string]int64{}
	for _, b := range f.balances {
		balances[b.Currency] = b.Together
	}
	var out []*ledgerv1.Totals
	for _, code := range slices.Sorted(maps.Keys(byCurrency)) {
		m, c := byCurrency[code], currencyOf(code)
		out = append(out, &ledgerv1.Totals{
			Currency: code, Income: c.Format(m.Income), Expense: c.Format(m.Expense), Net: c.Format(m.Income - m.Expense),
			Balance: c.Format(balances[code]), TransactionCount: int32(min(m.Count, math.MaxInt32)),
		})
	}
	return out
}

// categoriesProto starts with what was spent most on, currency by currency.
func (f figures) categoriesProto() []*ledgerv1.CategoryTotals {
	spent := map[string]int64{}
	for _, m := range f.totals {
		spent[m.Currency] = m.Expense
	}
	slices.SortFunc(f.categories, func(a, b movement) int {
		return cmp.Or(cmp.Compare(a.Currency, b.Currency), cmp.Compare(b.Expense, a.Expense), cmp.Compare(b.Income, a.Income),
			cmp.Compare(a.Name, b.Name), slices.Compare(a.ID[:], b.ID[:]))
	})
	out := make([]*ledgerv1.CategoryTotals, len(f.categories))
	for i, m := range f.categories {
		c := currencyOf(m.Currency)
		out[i] = &ledgerv1.CategoryTotals{
			CategoryId: m.ID.String(), Name: m.Name, Currency: m.Currency,
			Income: c.Format(m.Income), Expense: c.Format(m.Expense), Percentage: percentage(m.Expense, spent[m.Currency]),
		}
	}
	return out
}

// percentage is part of whole in percent with two decimals; 0 of nothing.
func percentage(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return math.Round(float64(part)/float64(whole)*10_000) / 100
}

// walletsProto has a row for each currency that a wallet holds; a wallet always holds its own.
func (f figures) walletsProto() []*ledgerv1.WalletTotals {
	type key struct {
		wallet   uuid.UUID
		currency string
	}
	moved := map[key]movement{}
	for _, m := range f.wallets {
		moved[key{m.ID, m.Currency}] = m
	}
	slices.SortFunc(f.balances, func(a, b walletBalance) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), slices.Compare(a.WalletID[:], b.WalletID[:]), cmp.Compare(a.Currency, b.Currency))
	})
	out := make([]*ledgerv1.WalletTotals, len(f.balances))
	for i, b := range f.balances {
		m, c := moved[key{b.WalletID, b.Currency}], currencyOf(b.Currency)
		out[i] = &ledgerv1.WalletTotals{
			WalletId: b.WalletID.String(), Name: b.Name, Currency: b.Currency,
			Income: c.Format(m.Income), Expense: c.Format(m.Expense), Net: c.Format(m.Income - m.Expense),
			Balance: c.Format(b.Balance),
		}
	}
	return out
}

// trendProto has a row for each month and each currency that is held or moved in any of them.
func (f figures) trendProto(held map[string]bool, months window) []*ledgerv1.MonthTotals {
	type key struct {
		month    time.Time
		currency string
	}
	moved := map[key]movement{}
	currencies := maps.Clone(held)
	for _, m := range f.trend {
		currencies[m.Currency] = true
		moved[key{monthOf(m.Month), m.Currency}] = m
	}
	var out []*ledgerv1.MonthTotals
	for month := months.from; month.Before(months.end); month = month.AddDate(0, 1, 0) {
		for _, code := range slices.Sorted(maps.Keys(currencies)) {
			m, c := moved[key{month, code}], currencyOf(code)
			out = append(out, &ledgerv1.MonthTotals{
				Month: month.Format(monthLayout), Currency: code,
				Income: c.Format(m.Income), Expense: c.Format(m.Expense), Net: c.Format(m.Income - m.Expense),
			})
		}
	}
	return out
}

// largestFirst is the first five of the expenses, compared in major units: that says nothing about the worth of 500 JPY
// and 4.99 USD, but minor units would say less.
func largestFirst(expenses []transaction) []transaction {
	slices.SortFunc(expenses, func(a, b transaction) int {
		return cmp.Or(cmp.Compare(a.amountE4(), b.amountE4()), b.Date.Compare(a.Date), slices.Compare(b.ID[:], a.ID[:]))
	})
	return expenses[:min(len(expenses), topTransactions)]
}
