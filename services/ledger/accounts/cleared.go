package accounts

import (
	"context"
	"math"
	"time"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/balances"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

const includeCleared = "cleared"

// parseInclude validates the parts that a request includes. It returns the moment after the last
// day of the request, or nil if there is none.
func parseInclude(req *ledgerv1.GetWalletRequest) (*time.Time, error) {
	var problems apierr.Problems
	for _, part := range req.GetInclude() {
		if part != includeCleared {
			problems.Invalid("include", "must be cleared")
		}
	}
	if req.To == nil {
		return nil, problems.Err()
	}
	day, ok := calendar.ParseDate(req.GetTo())
	if !ok {
		problems.Add(request.ErrInvalidDate.With("to",
			"must be a date of the years 1900 to 2200, YYYY-MM-DD"))
	}
	return new(day.AddDate(0, 0, 1)), problems.Err()
}

// compareCleared returns the balances of the cleared transactions of a wallet before a moment, and
// those that are not cleared, by currency. It reads all transactions of the wallet. Without a
// moment, it reads the uncleared ones only.
func (s *Accounts) compareCleared(
	ctx context.Context, w wallet, end *time.Time,
) ([]*ledgerv1.ClearedBalance, error) {
	leave, err := s.Gates.Enter(ctx, w.OwnerID)
	if err != nil {
		return nil, err
	}
	defer leave()
	var rows []balances.Cleared
	if end == nil {
		rows, err = balances.SelectUncleared(ctx, s.DB, w.OwnerID, w.ID)
	} else {
		rows, err = balances.SelectCleared(ctx, s.DB,
			balances.ClearedQuery{Owner: w.OwnerID, Wallet: w.ID, End: *end})
	}
	if pg.IsOutOfRange(err) {
		return nil, errClearedOverflow
	}
	if err != nil {
		return nil, err
	}
	compared := make([]*ledgerv1.ClearedBalance, len(rows))
	for i, r := range rows {
		unit := money.CurrencyOf(r.Currency)
		compared[i] = &ledgerv1.ClearedBalance{
			Currency: r.Currency, Balance: unit.Format(r.Balance),
			Uncleared: &ledgerv1.Uncleared{
				Count:  int32(min(r.Count, math.MaxInt32)),
				Amount: unit.Format(r.Uncleared),
			},
		}
	}
	return compared, nil
}
