package transactions

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/page"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// ListCurrencies returns the currencies that amounts may have. It reads no database.
func (s *Transactions) ListCurrencies(
	context.Context, *ledgerv1.ListCurrenciesRequest,
) (*ledgerv1.ListCurrenciesResponse, error) {
	resp := &ledgerv1.ListCurrenciesResponse{}
	for _, c := range money.All() {
		resp.Currencies = append(resp.Currencies,
			&ledgerv1.Currency{Code: c.Code(), Name: c.Name, Decimals: int32(c.Decimals())})
	}
	return resp, nil
}

// ListPayees returns payees of the caller's newest scannedRows transactions that begin with q, so
// its work does not grow with the history.
func (s *Transactions) ListPayees(
	ctx context.Context, req *ledgerv1.ListPayeesRequest,
) (*ledgerv1.ListPayeesResponse, error) {
	var problems apierr.Problems
	limit, problem := page.Limit(req.Limit)
	problems.Field(problem)
	prefix, problem := text.Payee("q", req.GetQ())
	problems.Field(problem)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	owner := caller.ID(ctx)
	leave, err := s.reads.Enter(ctx, owner)
	if err != nil {
		return nil, err
	}
	defer leave()
	rows, err := selectPayees(ctx, s.DB, owner, prefix, limit)
	if err != nil {
		return nil, err
	}
	resp := &ledgerv1.ListPayeesResponse{}
	for _, r := range rows {
		m := &ledgerv1.Payee{
			Name: r.Name, TransactionCount: int32(r.Count),
			LastDate: calendar.FormatTime(r.LastDate),
		}
		if r.CategoryID != nil {
			m.CategoryId = r.CategoryID.String()
		}
		resp.Payees = append(resp.Payees, m)
	}
	return resp, nil
}

type payee struct {
	Name       string
	Count      int64
	LastDate   time.Time  `db:"last_date"`
	CategoryID *uuid.UUID `db:"category_id"`
}

// selectPayees returns the payees that begin with prefix, ignoring case, among the newest
// scannedRows transactions of an owner. It reads them in the order of the index
// transactions_owner_date.
func selectPayees(
	ctx context.Context, q pg.Querier, owner uuid.UUID, prefix string, limit int,
) ([]payee, error) {
	return pg.All[payee](ctx, q, fmt.Sprintf(`
		SELECT (array_agg(t.payee ORDER BY t.date DESC, t.id DESC))[1] AS name, count(*) AS count,
			max(t.date) AS last_date,
			(array_agg(t.category_id ORDER BY t.date DESC, t.id DESC))[1] AS category_id
		FROM (
			SELECT payee, date, id, category_id
			FROM transactions
			WHERE owner_id = $1
			ORDER BY date DESC, id DESC
			LIMIT %d
		) AS t
		WHERE t.payee <> ''
			AND lower(t.payee COLLATE "und-x-icu") LIKE lower($2 COLLATE "und-x-icu")
		GROUP BY lower(t.payee COLLATE "und-x-icu")
		ORDER BY count(*) DESC, max(t.date) DESC, name
		LIMIT %d`, scannedRows, limit), owner, likeEscaped(prefix)+"%")
}
