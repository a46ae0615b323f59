// Package spending computes the windows of budgets and asks the ledger for the spending in them.
//
// A Timeframe is the period of a budget with its first and last day. Its windows follow each other
// without gap or overlap from the first day on; Timeframe.At returns the window of a day. This part
// is pure: it reads no clock, and calls nothing.
//
// Sum asks the ledger for the spending in any number of windows with one RPC, so that a page of
// budgets costs one call. The ledger computes each sum from the stored transactions. Nothing is
// counted here, so an answer is correct immediately after a write, and an event that arrives twice
// changes nothing.
package spending

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/caller"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// Query asks for the spending of one budget in one window.
type Query struct {
	Owner, Wallet uuid.UUID
	Categories    []uuid.UUID
	Window        calendar.Period
}

// Sum returns the spending of each query, in their order. A spending is not found if the wallet was
// deleted. The ledger limits the concurrent expensive reads of the user for whom ctx acts, so Sum
// may wait, or return RATE_LIMITED.
func Sum(
	ctx context.Context, ledger ledgerv1.LedgerServiceClient, queries []Query,
) ([]*ledgerv1.Spending, error) {
	req := &ledgerv1.SumSpendingRequest{Windows: make([]*ledgerv1.SpendingWindow, len(queries))}
	for i, q := range queries {
		req.Windows[i] = q.proto()
	}
	if id, ok := caller.From(ctx); ok {
		req.UserId = id.UserID.String()
	}
	resp, err := ledger.SumSpending(ctx, req)
	if err == nil && len(resp.GetSpendings()) != len(queries) {
		err = fmt.Errorf("the ledger returned %d spendings for %d windows",
			len(resp.GetSpendings()), len(queries))
	}
	return resp.GetSpendings(), err
}

// proto limits the window to the last day that the ledger accepts. No transaction is later.
func (q Query) proto() *ledgerv1.SpendingWindow {
	last := time.Date(calendar.MaxYear, time.December, 31, 0, 0, 0, 0, time.UTC)
	if day := q.Window.LastDay(); day.Before(last) {
		last = day
	}
	return &ledgerv1.SpendingWindow{
		OwnerId:     q.Owner.String(),
		WalletId:    q.Wallet.String(),
		CategoryIds: idStrings(q.Categories),
		From:        q.Window.From.Format(calendar.DateLayout),
		To:          last.Format(calendar.DateLayout),
	}
}

// AmountIn returns the spending in one currency, in its minor unit.
func AmountIn(amounts []*ledgerv1.SpentAmount, currency string) int64 {
	for _, a := range amounts {
		if a.GetCurrency() == currency {
			return a.GetSpentMinor()
		}
	}
	return 0
}

func idStrings(ids []uuid.UUID) []string {
	s := make([]string, len(ids))
	for i, id := range ids {
		s[i] = id.String()
	}
	return s
}
