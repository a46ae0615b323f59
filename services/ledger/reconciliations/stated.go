package reconciliations

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/balances"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

// stated is the balance of a wallet at the end of a day that a request states.
type stated struct {
	wallet uuid.UUID
	day    time.Time
	// balance is a decimal in the major unit. It stays text because its allowed decimals depend on
	// the currency.
	balance string
	// currency is the zero value for the currency of the wallet.
	currency money.Currency
}

// statement has the fields of a request that state a balance.
type statement interface {
	GetDate() string
	GetBalance() string
	GetCurrency() string
}

func parseStated(problems *apierr.Problems, wallet uuid.UUID, req statement) stated {
	parsed := stated{wallet: wallet, balance: req.GetBalance()}
	var ok bool
	if parsed.day, ok = calendar.ParseDate(req.GetDate()); !ok {
		problems.Add(request.ErrInvalidDate.With("date",
			"must be a date of the years 1900 to 2200, YYYY-MM-DD"))
	}
	if req.GetCurrency() != "" {
		parsed.currency = request.ParseCurrency(problems, "currency", req.GetCurrency())
	}
	if _, err := request.ParseAmount(parsed.currency, parsed.balance); err != nil {
		problems.Invalid("balance", err.Error())
	}
	return parsed
}

// resolve sets the currency of the wallet if the request names none, and returns the balance in
// minor units of the currency. Errors: WALLET_NOT_FOUND, and too many decimals.
func (s *stated) resolve(ctx context.Context, q pg.Querier, owner uuid.UUID) (int64, error) {
	code, err := selectCurrency(ctx, q, owner, s.wallet)
	if err != nil {
		return 0, pg.IfNoRows(err, request.ErrWalletNotFound)
	}
	if s.currency == (money.Currency{}) {
		s.currency = money.CurrencyOf(code)
	}
	minor, err := request.ParseAmount(s.currency, s.balance)
	if err != nil {
		return 0, apierr.Invalid("balance", err.Error())
	}
	return minor, nil
}

// cleared returns the balance of the cleared transactions at the end of the day, and how many of
// them can be locked. Both are 0 if the wallet has never had the currency.
func (s stated) cleared(
	ctx context.Context, q pg.Querier, owner uuid.UUID,
) (balances.Cleared, error) {
	found, err := balances.SelectCleared(ctx, q, balances.ClearedQuery{
		Owner: owner, Wallet: s.wallet, Currency: s.currency.Code(),
		End: s.day.AddDate(0, 0, 1),
	})
	if pg.IsOutOfRange(err) {
		return balances.Cleared{}, errClearedOverflow
	}
	if err != nil || len(found) == 0 {
		return balances.Cleared{}, err
	}
	return found[0], nil
}
