package reports

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/money"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// summary computes each figure from all transactions.
func (h history) summary(query summaryQuery) *ledgerv1.Summary {
	out := &ledgerv1.Summary{
		From: query.period.From.Format(calendar.DateLayout),
		To:   query.period.End.Add(-time.Microsecond).Format(calendar.DateLayout),
	}
	all := func(posting.Transaction) bool { return true }
	for _, code := range []string{"BHD", "CHF", "EUR", "JPY"} {
		if query.currency != "" && query.currency != code {
			continue
		}
		currency := money.CurrencyOf(code)
		wallets := h.walletTotals(query.period, code)
		out.ByWallet = append(out.ByWallet, wallets...)
		held := len(wallets) > 0 || query.currency == code
		total := func(period calendar.Period) []*ledgerv1.Totals {
			income, expense, count := h.moved(period, code, all)
			if !held && count == 0 {
				return nil
			}
			var balance int64
			for _, of := range h.wallets {
				balance += h.balance(of, code, period.End)
			}
			return []*ledgerv1.Totals{{
				Currency: code, Income: currency.Format(income), Expense: currency.Format(expense),
				Net: currency.Format(income - expense), Balance: currency.Format(balance),
				TransactionCount: count,
			}}
		}
		out.Totals = append(out.Totals, total(query.period)...)
		out.Previous = append(out.Previous, total(query.period.Previous())...)
		out.ByCategory = append(out.ByCategory, h.categoryTotals(query.period, code)...)
		var trend []*ledgerv1.MonthTotals
		for i := range 12 {
			month := at(query.period.LastDay().Format("2006-01")+"-01").AddDate(0, i-11, 0)
			income, expense, count := h.moved(calendar.Months(month, 1), code, all)
			held = held || count > 0
			trend = append(trend, &ledgerv1.MonthTotals{
				Month: month.Format("2006-01"), Currency: code,
				Income: currency.Format(income), Expense: currency.Format(expense),
				Net: currency.Format(income - expense),
			})
		}
		if held {
			out.Trend = append(out.Trend, trend...)
		}
	}
	if query.daily {
		out.Daily = h.days(query)
	}
	slices.SortStableFunc(out.ByWallet, func(a, b *ledgerv1.WalletTotals) int {
		return cmp.Compare(a.GetName(), b.GetName())
	})
	slices.SortStableFunc(out.Trend, func(a, b *ledgerv1.MonthTotals) int {
		return cmp.Compare(a.GetMonth(), b.GetMonth())
	})
	h.list(query, out)
	return out
}

// days computes the totals of each day of a window.
func (h history) days(query summaryQuery) *ledgerv1.DailyTotals {
	out := &ledgerv1.DailyTotals{}
	for from := query.period.From; from.Before(query.period.End); {
		next := calendar.DayOf(from).AddDate(0, 0, 1)
		day := calendar.Period{From: from, End: next}
		if query.period.End.Before(next) {
			day.End = query.period.End
		}
		for _, code := range []string{"BHD", "CHF", "EUR", "JPY"} {
			income, expense, count := h.moved(day, code, func(posting.Transaction) bool {
				return true
			})
			if count == 0 || query.currency != "" && query.currency != code {
				continue
			}
			c := money.CurrencyOf(code)
			out.Values = append(out.Values, &ledgerv1.DayTotals{
				Date: from.Format(calendar.DateLayout), Currency: code, Income: c.Format(income),
				Expense: c.Format(expense),
			})
		}
		from = next
	}
	return out
}

// balance is what a wallet held in a currency at a moment.
func (h history) balance(wallet historyWallet, currency string, at time.Time) (sum int64) {
	if wallet.Currency == currency && (wallet.Opened == nil || wallet.Opened.Before(at)) {
		sum = wallet.InitialMinor
	}
	for _, t := range h.transactions {
		if t.WalletID == wallet.ID && t.Currency == currency && t.Date.Before(at) {
			sum += t.AmountMinor
		}
	}
	return sum
}

// walletTotals has a row for a wallet's own currency, and for others with a balance or movements.
func (h history) walletTotals(
	period calendar.Period, currency string,
) (out []*ledgerv1.WalletTotals) {
	unit := money.CurrencyOf(currency)
	for _, of := range h.wallets {
		income, expense, count := h.moved(period, currency, func(t posting.Transaction) bool {
			return t.WalletID == of.ID
		})
		balance := h.balance(of, currency, period.End)
		in, gone, legs := h.transferred(period, currency, of)
		adjusted, adjustments := h.adjusted(period, currency, of)
		legs += adjustments
		if of.Currency != currency && balance == 0 && count == 0 && legs == 0 {
			continue
		}
		out = append(out, &ledgerv1.WalletTotals{
			WalletId: of.ID.String(), Name: of.Name, Currency: currency,
			Income: unit.Format(income), Expense: unit.Format(expense),
			Net:     unit.Format(income - expense),
			Balance: unit.Format(balance), TransferredIn: unit.Format(in),
			TransferredOut: unit.Format(gone), Adjusted: unit.Format(adjusted),
		})
	}
	return out
}

// transferred adds up the legs of transfers in a wallet.
func (h history) transferred(
	w calendar.Period, currency string, of historyWallet,
) (in, out int64, count int) {
	for _, t := range h.transactions {
		if t.TransferID != nil && w.Contains(t.Date) && t.Currency == currency &&
			t.WalletID == of.ID {
			count++
			in += max(t.AmountMinor, 0)
			out += max(-t.AmountMinor, 0)
		}
	}
	return in, out, count
}

// adjusted adds up the adjustments of a wallet.
func (h history) adjusted(
	w calendar.Period, currency string, of historyWallet,
) (sum int64, count int) {
	for _, t := range h.transactions {
		if t.Adjustment && w.Contains(t.Date) && t.Currency == currency && t.WalletID == of.ID {
			count++
			sum += t.AmountMinor
		}
	}
	return sum, count
}

// moved adds up the matching transactions of a window in a currency, except the legs of transfers
// and adjustments.
func (h history) moved(
	w calendar.Period, currency string, which func(posting.Transaction) bool,
) (income, expense int64, count int32) {
	for _, t := range h.transactions {
		if t.TransferID != nil || t.Adjustment || !w.Contains(t.Date) ||
			t.Currency != currency || !which(t) {
			continue
		}
		count++
		income += max(t.AmountMinor, 0)
		expense += max(-t.AmountMinor, 0)
	}
	return income, expense, count
}

// movedIn adds up the parts of a window in some categories, and the matching transactions without
// parts. A part counts with the type of its transaction, also if it has the opposite sign. count is
// the number of transactions.
func (h history) movedIn(
	w calendar.Period, currency string, categories []uuid.UUID,
	which func(posting.Transaction) bool,
) (income, expense int64, count int32) {
	for _, transaction := range h.transactions {
		if transaction.TransferID != nil || transaction.Adjustment ||
			!w.Contains(transaction.Date) ||
			transaction.Currency != currency || !which(transaction) {
			continue
		}
		parts := transaction.Splits
		if transaction.CategoryID != nil {
			parts = []posting.Split{
				{CategoryID: *transaction.CategoryID, AmountMinor: transaction.AmountMinor},
			}
		}
		parts = slices.DeleteFunc(slices.Clone(parts), func(s posting.Split) bool {
			return !slices.Contains(categories, s.CategoryID)
		})
		if len(parts) > 0 {
			count++
		}
		for _, s := range parts {
			if transaction.AmountMinor > 0 {
				income += s.AmountMinor
			} else {
				expense -= s.AmountMinor
			}
		}
	}
	return income, expense, count
}

func (h history) categoryTotals(
	period calendar.Period, currency string,
) (out []*ledgerv1.CategoryTotals) {
	unit := money.CurrencyOf(currency)
	spent, earned, all := map[string]int64{}, map[string]int64{}, int64(0)
	for id, name := range h.categories {
		income, expense, count := h.movedIn(period, currency, []uuid.UUID{id},
			func(posting.Transaction) bool { return true })
		if count == 0 {
			continue
		}
		spent[name], earned[name] = expense, income
		all += max(expense, 0)
		out = append(out, &ledgerv1.CategoryTotals{
			CategoryId: id.String(), Name: name, Currency: currency, Income: unit.Format(income),
			Expense: unit.Format(expense),
		})
	}
	for _, row := range out {
		share := float64(max(spent[row.GetName()], 0)) / float64(max(all, 1))
		row.Percentage = math.Round(10_000*share) / 100
	}
	slices.SortFunc(out, func(a, b *ledgerv1.CategoryTotals) int {
		return cmp.Or(cmp.Compare(spent[b.GetName()], spent[a.GetName()]),
			cmp.Compare(earned[b.GetName()], earned[a.GetName()]),
			cmp.Compare(a.GetName(), b.GetName()))
	})
	return out
}

func (h history) list(q summaryQuery, out *ledgerv1.Summary) {
	var all, expenses []posting.Transaction
	for _, t := range h.transactions {
		if t.TransferID == nil && !t.Adjustment && q.period.Contains(t.Date) &&
			(q.currency == "" || t.Currency == q.currency) {
			all = append(all, t)
			if t.AmountMinor < 0 {
				expenses = append(expenses, t)
			}
		}
	}
	newest := func(a, b posting.Transaction) int {
		return cmp.Or(b.Date.Compare(a.Date), cmp.Compare(b.ID.String(), a.ID.String()))
	}
	slices.SortFunc(all, newest)
	slices.SortFunc(expenses, func(a, b posting.Transaction) int {
		return cmp.Or(cmp.Compare(a.Currency, b.Currency),
			cmp.Compare(a.AmountMinor, b.AmountMinor), newest(a, b))
	})
	shown := map[string]int{}
	expenses = slices.DeleteFunc(expenses, func(t posting.Transaction) bool {
		shown[t.Currency]++
		return shown[t.Currency] > 5
	})
	out.RecentTransactions = posting.Protos(all[:min(5, len(all))])
	out.LargestExpenses = posting.Protos(expenses)
}
