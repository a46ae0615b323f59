package ledger

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

const (
	// maxWindowYears is the maximum length of a window. It limits the months that a summary adds up.
	maxWindowYears = 10
	trendMonths    = 12
	// maxSummaryRows limits the rows by category and those by wallet. With names of 100 characters of four bytes, each list
	// takes about 1 MB, so that a summary is far below the 11 MiB that a gRPC message may have.
	maxSummaryRows = 2000
	// maxLargestExpenses limits the largest expenses of all currencies together, because a description takes up to 4 kB. There
	// are fewer currencies than that.
	maxLargestExpenses = 200
)

// GetSummary returns the totals of a window, by default the current calendar month (UTC). Errors: INVALID_TRANSACTION_DATE
// for an invalid from or to, VALIDATION_ERROR for a window that ends before it begins or is longer than ten years,
// UNSUPPORTED_CURRENCY, RATE_LIMITED.
func (s *server) GetSummary(ctx context.Context, req *ledgerv1.GetSummaryRequest) (*ledgerv1.GetSummaryResponse, error) {
	question, err := parseSummary(req, s.now())
	if err != nil {
		return nil, err
	}
	question.owner = caller.ID(ctx)
	leave, err := s.reads.enter(ctx, question.owner)
	if err != nil {
		return nil, err
	}
	defer leave()
	f, err := selectFigures(ctx, s.db, question)
	if pg.IsOutOfRange(err) {
		return nil, errSummaryOverflow
	}
	if err != nil {
		return nil, err
	}
	summary, ok := f.proto(question)
	if !ok {
		return nil, errSummaryOverflow
	}
	return &ledgerv1.GetSummaryResponse{Summary: summary}, nil
}

// summaryQuestion is a parsed request for a summary.
type summaryQuestion struct {
	owner  uuid.UUID
	window window
	// currency restricts the summary to one currency. If it is empty, the summary contains all.
	currency string
}

// parseSummary validates the request. The default of from is the month of to, and the default of to is the current month or, if
// from is later, the month of from.
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
