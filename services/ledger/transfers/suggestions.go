package transfers

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/page"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

const (
	// maxDaysApart is the maximum number of days between the transactions of a pair. A payment
	// between banks takes as long. Both days count in UTC, whatever the time zone of the owner is.
	maxDaysApart = 4
	// suggestedDays is the length of the default window in days. maxSuggestedDays is the maximum
	// length, a year and a month.
	suggestedDays    = 90
	maxSuggestedDays = 400
	// examinedRows limits the transactions that a request examines, and the pairs that it reads.
	// examinedPerDay limits those with the same day and amount, because all of them would form
	// pairs with each other.
	examinedRows   = 20_000
	examinedPerDay = 10
)

// pair is an expense and an income that look like one transfer. Date is the date of the expense.
// Whole rows are read for the chosen pairs only.
type pair struct {
	OutID uuid.UUID `db:"out_id"`
	InID  uuid.UUID `db:"in_id"`
	Date  time.Time
}

// SuggestTransfers returns pairs of transactions that look like one transfer, newest first. Each
// transaction occurs in one pair at most. A client accepts a suggestion with MatchTransfer. It is
// an expensive read, so s.Reads limits the simultaneous ones of a user.
func (s *Transfers) SuggestTransfers(
	ctx context.Context, req *ledgerv1.SuggestTransfersRequest,
) (*ledgerv1.SuggestTransfersResponse, error) {
	today, err := s.Today(ctx, s.DB, caller.ID(ctx))
	if err != nil {
		return nil, err
	}
	from, end, limit, err := parseSuggestions(req, today)
	if err != nil {
		return nil, err
	}
	owner := caller.ID(ctx)
	leave, err := s.Reads.Enter(ctx, owner)
	if err != nil {
		return nil, err
	}
	defer leave()
	pairs, err := selectPairs(ctx, s.DB, owner, from, end)
	if err != nil {
		return nil, err
	}
	pairs = choose(pairs, limit)
	var ids []uuid.UUID
	for _, p := range pairs {
		ids = append(ids, p.OutID, p.InID)
	}
	found, err := selectTransactions(ctx, s.DB, owner, ids)
	if err != nil {
		return nil, err
	}
	resp := &ledgerv1.SuggestTransfersResponse{}
	for _, p := range pairs {
		out, known := found[p.OutID]
		in, alsoKnown := found[p.InID]
		// Either may have been changed or deleted since the pairs were read.
		if known && alsoKnown && unfit(Transfer{Out: out, In: in}) == nil {
			resp.Suggestions = append(resp.Suggestions, &ledgerv1.TransferSuggestion{
				OutTransaction: out.Proto(), InTransaction: in.Proto(),
			})
		}
	}
	return resp, nil
}

// choose returns pairs in which each transaction occurs once. Of the pairs with a common
// transaction it chooses the first one, whose days are nearest. It returns the newest pairs, up to
// the limit, newest first. This is greedy: it does not look for the assignment with the most pairs.
func choose(pairs []pair, limit int) []pair {
	used := map[uuid.UUID]bool{}
	var chosen []pair
	for _, p := range pairs {
		if !used[p.OutID] && !used[p.InID] {
			used[p.OutID], used[p.InID] = true, true
			chosen = append(chosen, p)
		}
	}
	slices.SortStableFunc(chosen, func(a, b pair) int { return b.Date.Compare(a.Date) })
	return chosen[:min(len(chosen), limit)]
}

// parseSuggestions validates the window and the limit of a request. The default window ends with
// the current day. from is inclusive and end is exclusive; the message about the maximum has one
// day less, because the field to is inclusive.
func parseSuggestions(
	req *ledgerv1.SuggestTransfersRequest, today time.Time,
) (from, end time.Time, limit int, err error) {
	var problems apierr.Problems
	end = today.AddDate(0, 0, 1)
	if req.To != nil {
		end = request.ParseBound(&problems, "to", req.GetTo(), true)
	}
	from = end.AddDate(0, 0, -suggestedDays)
	if req.From != nil {
		from = request.ParseBound(&problems, "from", req.GetFrom(), false)
	}
	if !problems.Has(request.ErrInvalidDate) {
		switch {
		case !from.Before(end):
			problems.Invalid("from", "must not be after to")
		case end.After(from.AddDate(0, 0, maxSuggestedDays)):
			problems.Invalid("to", "must be at most 399 days after from")
		}
	}
	limit, problem := page.Limit(req.Limit)
	problems.Field(problem)
	return from, end, limit, problems.Err()
}
