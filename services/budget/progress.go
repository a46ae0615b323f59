package budget

import (
	"context"
	"math"
	"time"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/money"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/spending"
)

// optionalTimeout limits the wait for parts that a response may omit: progress, and the names of members.
const optionalTimeout = 1500 * time.Millisecond

// progress returns the progress of budgets in their windows of a day, in the same order, with one call to the ledger. It is nil for
// a budget whose wallet was deleted, and for all budgets if the ledger is unavailable: a budget without progress is better than an
// error.
func (s *server) progress(ctx context.Context, today time.Time, budgets []budget) []*budgetv1.Progress {
	progress := make([]*budgetv1.Progress, len(budgets))
	// A list may have no readable budgets.
	if len(budgets) == 0 {
		return progress
	}
	queries := make([]spending.Query, len(budgets))
	for i, b := range budgets {
		queries[i] = b.query(b.timeframe().At(today))
	}
	ctx, cancel := context.WithTimeout(ctx, optionalTimeout)
	defer cancel()
	spendings, err := spending.Sum(ctx, s.ledger, queries)
	if err != nil {
		s.log.WarnContext(ctx, "failed to read spending, so progress is omitted", "budgets", len(budgets), "error", err)
		return progress
	}
	for i, spent := range spendings {
		if spent.GetFound() {
			progress[i] = budgets[i].progress(queries[i].Window, spent.GetAmounts())
		}
	}
	return progress
}

// query asks for the spending of the budget in a window.
func (b budget) query(w calendar.Period) spending.Query {
	return spending.Query{Owner: b.OwnerID, Wallet: b.WalletID, Categories: b.CategoryIDs, Window: w}
}

// progress returns the budget's progress for the spending in a window. The limit is the present one, also for an earlier
// window (ADR 95). The amounts of spending are positive, in the minor unit of their currency.
func (b budget) progress(w calendar.Period, amounts []*ledgerv1.SpentAmount) *budgetv1.Progress {
	currency := b.currency()
	p := &budgetv1.Progress{WindowStart: w.From.Format(calendar.DateLayout), WindowEnd: w.LastDay().Format(calendar.DateLayout)}
	spent := spending.AmountIn(amounts, b.Currency)
	for _, a := range amounts {
		// Amounts in other currencies are listed, and not converted.
		if a.GetCurrency() == b.Currency {
			continue
		}
		if other, ok := money.ParseCurrency(a.GetCurrency()); ok {
			p.OtherCurrencies = append(p.OtherCurrencies, &budgetv1.OtherCurrency{
				Currency: other.Code(), Spent: other.Format(a.GetSpentMinor()),
			})
		}
	}
	p.Spent = currency.Format(spent)
	p.Remaining = currency.Format(b.LimitMinor - spent)
	// The percentage is rounded to two decimals. limit is greater than 0.
	p.Percentage = math.Round(float64(spent)/float64(b.LimitMinor)*10_000) / 100
	p.State = state(spent, b.LimitMinor)
	return p
}

// state compares the exact amounts, because the percentage is rounded: 99.999 % is near and not over.
func state(spent, limit int64) string {
	switch {
	case spent > limit:
		return "over"
	case spent > 0 && spent*5 >= limit*4:
		return "near"
	}
	return "ok"
}
