package reports

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

// maxWindows is the maximum number of windows in one request.
const maxWindows = 1000

// SumSpending returns the amounts spent in up to maxWindows windows, in the order of the request,
// with one statement, and the time zones of their owners. Only the budget service may call it. It
// counts as an expensive read of the user whose request needs the sums, if there is one. Errors:
// RATE_LIMITED.
func (s *Reports) SumSpending(
	ctx context.Context, req *ledgerv1.SumSpendingRequest,
) (*ledgerv1.SumSpendingResponse, error) {
	var p apierr.Problems
	var user uuid.UUID
	if req.GetUserId() != "" {
		user = request.ParseServiceID(&p, "userId", req.GetUserId())
	}
	windows, err := parseWindows(p, req)
	if err != nil || len(windows) == 0 {
		return &ledgerv1.SumSpendingResponse{}, err
	}
	if user != uuid.Nil {
		leave, err := s.Reads.Enter(ctx, user)
		if err != nil {
			return nil, err
		}
		defer leave()
	}
	rows, err := selectSpending(ctx, s.DB, windows)
	if err != nil {
		return nil, err
	}
	resp := &ledgerv1.SumSpendingResponse{Spendings: make([]*ledgerv1.Spending, len(windows))}
	for i := range resp.Spendings {
		resp.Spendings[i] = &ledgerv1.Spending{}
	}
	for _, r := range rows {
		spending := resp.Spendings[r.Position-1]
		spending.Found, spending.TimeZone = r.Found, r.TimeZone
		if r.Currency != nil {
			spending.Amounts = append(spending.Amounts,
				&ledgerv1.SpentAmount{Currency: *r.Currency, SpentMinor: *r.Spent})
		}
	}
	return resp, nil
}

// spendingWindow selects an owner's transactions in a wallet and some categories within a window.
// The windows of a request may have different owners, because a shared budget has the data of its
// owner.
type spendingWindow struct {
	calendar.Period
	owner, wallet uuid.UUID
	categories    []uuid.UUID
}

// parseWindows validates the windows, and returns the problems p of the request among its own. The
// last day of a window is inclusive in the request.
func parseWindows(p apierr.Problems, req *ledgerv1.SumSpendingRequest) ([]spendingWindow, error) {
	if len(req.GetWindows()) > maxWindows {
		p.Invalid("windows", fmt.Sprintf("must be at most %d", maxWindows))
		return nil, p.Err()
	}
	windows := make([]spendingWindow, len(req.GetWindows()))
	for i, w := range req.GetWindows() {
		at := fmt.Sprintf("windows[%d].", i)
		windows[i] = spendingWindow{
			owner: request.ParseServiceID(&p, at+"ownerId", w.GetOwnerId()),
			wallet: request.ParseID(&p, at+"walletId", w.GetWalletId(),
				request.ErrInvalidWalletID),
			categories: request.ParseIDs(&p, at+"categoryIds", w.GetCategoryIds(),
				request.ErrInvalidCategoryID),
			Period: calendar.Days(parseDay(&p, at+"from", w.GetFrom()),
				parseDay(&p, at+"to", w.GetTo())),
		}
		if windows[i].End.Before(windows[i].From) {
			p.Invalid(at+"from", "must not be after to")
		}
	}
	return windows, p.Err()
}

// parseDay parses a date without a time of day.
func parseDay(p *apierr.Problems, field, s string) time.Time {
	d, bare, ok := calendar.ParseTime(s)
	if !ok || !bare {
		p.Invalid(field, "must be a date, YYYY-MM-DD")
	}
	return d
}
