package budget

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/coffer-budget/coffer/internal/money"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// askTimeout is how long an answer waits for what it can do without: progress, and the names of members.
const askTimeout = 1500 * time.Millisecond

// progress asks the ledger once what was spent in the windows that hold a day. The answers stand in the order of budgets;
// nil where the wallet is gone, and everywhere when the ledger is away: a budget without progress is better than none.
func (s *server) progress(ctx context.Context, today time.Time, budgets []budget) []*budgetv1.Progress {
	progress := make([]*budgetv1.Progress, len(budgets))
	if len(budgets) == 0 {
		return progress
	}
	windows := make([]window, len(budgets))
	for i, b := range budgets {
		windows[i] = b.timeframe().at(today)
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	spendings, err := s.sumSpending(ctx, budgets, windows)
	if err != nil {
		s.log.WarnContext(ctx, "answering without progress", "budgets", len(budgets), "error", err)
		return progress
	}
	for i, spending := range spendings {
		if spending.GetFound() {
			progress[i] = budgets[i].progress(windows[i], spending.GetAmounts())
		}
	}
	return progress
}

// sumSpending asks the ledger what was spent in a window of each budget.
func (s *server) sumSpending(ctx context.Context, budgets []budget, windows []window) ([]*ledgerv1.Spending, error) {
	req := &ledgerv1.SumSpendingRequest{Windows: make([]*ledgerv1.SpendingWindow, len(budgets))}
	for i, b := range budgets {
		req.Windows[i] = b.question(windows[i])
	}
	resp, err := s.ledger.SumSpending(ctx, req)
	if err == nil && len(resp.GetSpendings()) != len(budgets) {
		err = fmt.Errorf("asked for %d spendings, got %d", len(budgets), len(resp.GetSpendings()))
	}
	return resp.GetSpendings(), err
}

func (b budget) question(w window) *ledgerv1.SpendingWindow {
	// No transaction is younger than that, and the ledger takes no such date.
	last := time.Date(maxYear, time.December, 31, 0, 0, 0, 0, time.UTC)
	if w.to.After(last) {
		w.to = last
	}
	return &ledgerv1.SpendingWindow{
		OwnerId:     b.OwnerID.String(),
		WalletId:    b.WalletID.String(),
		CategoryIds: idStrings(b.CategoryIDs),
		From:        w.from.Format(isoDate),
		To:          w.to.Format(isoDate),
	}
}

// progress is the budget's with what was spent in a window, by currency.
func (b budget) progress(w window, amounts []*ledgerv1.SpentAmount) *budgetv1.Progress {
	currency := b.currency()
	p := &budgetv1.Progress{WindowStart: w.from.Format(isoDate), WindowEnd: w.to.Format(isoDate)}
	spent := spentOf(amounts, b.Currency)
	for _, a := range amounts {
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
	p.Percentage = math.Round(float64(spent)/float64(b.LimitMinor)*10_000) / 100
	p.State = state(spent, b.LimitMinor)
	return p
}

// spentOf is what was spent in one currency, in its minor unit.
func spentOf(amounts []*ledgerv1.SpentAmount, currency string) int64 {
	for _, a := range amounts {
		if a.GetCurrency() == currency {
			return a.GetSpentMinor()
		}
	}
	return 0
}

// state is exact where the percentage is rounded: 99.999 % is near and not over.
func state(spent, limit int64) string {
	switch {
	case spent > limit:
		return "over"
	case spent > 0 && spent*5 >= limit*4:
		return "near"
	}
	return "ok"
}
