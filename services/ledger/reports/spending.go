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

const (
	// maxWindows is the maximum number of windows in one request.
	maxWindows = 1000
	// maxOwners is the maximum number of their owners, because each one has a separate statement. A
	// page of budgets has at most 200.
	maxOwners = 200
)

// SumSpending returns the amounts spent in up to maxWindows windows, in the order of the request,
// with one statement for each of up to maxOwners owners, and the time zones of these owners. Only
// the budget service may call it. It counts as an expensive read of the user whose request needs
// the sums, if there is one. Errors: RATE_LIMITED.
func (s *Reports) SumSpending(
	ctx context.Context, req *ledgerv1.SumSpendingRequest,
) (*ledgerv1.SumSpendingResponse, error) {
	var problems apierr.Problems
	var user uuid.UUID
	if req.GetUserId() != "" {
		user = request.ParseServiceID(&problems, "userId", req.GetUserId())
	}
	owners, err := parseWindows(problems, req)
	if err != nil || len(owners) == 0 {
		return &ledgerv1.SumSpendingResponse{}, err
	}
	if user != uuid.Nil {
		leave, err := s.Reads.Enter(ctx, user)
		if err != nil {
			return nil, err
		}
		defer leave()
	}
	rows, err := selectSpending(ctx, s.DB, owners, s.Distributed)
	if err != nil {
		return nil, err
	}
	resp := &ledgerv1.SumSpendingResponse{
		Spendings: make([]*ledgerv1.Spending, len(req.GetWindows())),
	}
	for i := range resp.Spendings {
		resp.Spendings[i] = &ledgerv1.Spending{}
	}
	for _, r := range rows {
		spending := resp.Spendings[r.Position]
		spending.Found, spending.TimeZone = r.Found, r.TimeZone
		if r.Currency != nil {
			spending.Amounts = append(spending.Amounts,
				&ledgerv1.SpentAmount{Currency: *r.Currency, SpentMinor: *r.Spent})
		}
	}
	return resp, nil
}

// spendingWindow selects an owner's transactions in a wallet and some categories within a window.
type spendingWindow struct {
	calendar.Period
	// position is the index of the window in the request.
	position   int
	wallet     uuid.UUID
	categories []uuid.UUID
}

// parseWindows validates the windows, and returns those of each owner. A page of budgets has
// several owners, because a shared budget has the data of its owner. The problems of the request
// are among those of the returned error. The last day of a window is inclusive in the
// request.
func parseWindows(
	problems apierr.Problems, req *ledgerv1.SumSpendingRequest,
) (map[uuid.UUID][]spendingWindow, error) {
	if len(req.GetWindows()) > maxWindows {
		problems.Invalid("windows", fmt.Sprintf("must be at most %d", maxWindows))
		return nil, problems.Err()
	}
	owners := map[uuid.UUID][]spendingWindow{}
	for i, w := range req.GetWindows() {
		at := fmt.Sprintf("windows[%d].", i)
		owner := request.ParseServiceID(&problems, at+"ownerId", w.GetOwnerId())
		window := spendingWindow{
			position: i,
			wallet: request.ParseID(&problems, at+"walletId", w.GetWalletId(),
				request.ErrInvalidWalletID),
			categories: request.ParseIDs(&problems, at+"categoryIds", w.GetCategoryIds(),
				request.ErrInvalidCategoryID),
			Period: calendar.Days(parseDay(&problems, at+"from", w.GetFrom()),
				parseDay(&problems, at+"to", w.GetTo())),
		}
		if window.End.Before(window.From) {
			problems.Invalid(at+"from", "must not be after to")
		}
		owners[owner] = append(owners[owner], window)
	}
	if len(owners) > maxOwners {
		problems.Invalid("windows", fmt.Sprintf("must have at most %d owners", maxOwners))
	}
	return owners, problems.Err()
}

// parseDay parses a date without a time of day.
func parseDay(p *apierr.Problems, field, s string) time.Time {
	d, bare, ok := calendar.ParseTime(s)
	if !ok || !bare {
		p.Invalid(field, "must be a date, YYYY-MM-DD")
	}
	return d
}
