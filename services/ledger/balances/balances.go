// Package balances computes past balances of wallets, and those of their cleared transactions.
//
// A past balance is the current one minus all later movements: the monthly totals with the monthly
// transfers, which contain the adjustments, and the opening balance from its opening day on. The
// months from the first to the last one with a moment inside are read from their transactions. So
// the cost of moments between months does not depend on the number of transactions. The files:
//
//   - balances.go: the rule. store_balances.go: the statement
//   - store_cleared.go: the balances of cleared transactions, which no kept sum has
package balances

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/pg"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// maxRows is the maximum number of transactions that are read.
const maxRows = 100_000

var (
	errTooLarge = apierr.New(restv1.Reason_REPORT_TOO_LARGE).With("interval",
		"must be month, quarter or year with whole months, or the period must be shorter")
	errOverflow = apierr.Invalid("from",
		"must be later: the movements since then exceed the maximum")
	// The errors of At are about one day.
	errDayTooLarge = apierr.New(restv1.Reason_REPORT_TOO_LARGE).With("date",
		"must be later, or the last day of a month: the rest of the month has too many "+
			"transactions")
	errDayOverflow = apierr.Invalid("date",
		"must be later: the movements since then exceed the maximum")
)

// Query selects balances. Without wallets or a currency, it selects all.
type Query struct {
	Owner uuid.UUID
	// Ends are the moments of the balances, midnights in UTC in ascending order. A balance contains
	// everything before its moment.
	Ends     []time.Time
	Wallets  []uuid.UUID
	Currency string
}

// Balance contains the balances of a wallet in one currency.
type Balance struct {
	WalletID uuid.UUID `db:"wallet_id"`
	Name     string
	Kind     string
	Archived bool
	// LastDate is the date of the last transaction of an archived wallet. It is nil if there is
	// none, and for other wallets.
	LastDate *time.Time `db:"last_date"`
	Currency string
	// Amounts are in minor units, parallel to the moments of the query.
	Amounts []int64 `db:"-"`

	// Own is set for the currency of the wallet, in which it has an opening balance.
	Own          bool
	InitialMinor int64      `db:"initial_minor"`
	OpeningDate  *time.Time `db:"opening_date"`
	// Current is the current balance. Nets holds the movements from a moment until the next one,
	// by the numbers of the moments in Buckets, from 1.
	Current int64 `db:"amount_minor"`
	Buckets []int32
	Nets    []int64
}

// Select returns the balances of wallets in the order of lists, the own currency of each first. It
// returns REPORT_TOO_LARGE if it would have to read more than maxRows transactions.
func Select(ctx context.Context, q pg.Querier, query Query) ([]Balance, error) {
	found, err := selectBalances(ctx, q, query)
	if pg.IsOutOfRange(err) {
		return nil, errOverflow
	}
	if err != nil {
		return nil, err
	}
	for i := range found {
		found[i].compute(query.Ends)
	}
	return found, nil
}

// At returns the balance of a wallet at the end of a day. It is 0 if the wallet has never had the
// currency. Its errors are those of Select, with the field date.
func At(
	ctx context.Context, q pg.Querier, owner, wallet uuid.UUID, currency string, day time.Time,
) (int64, error) {
	found, err := Select(ctx, q, Query{
		Owner: owner, Ends: []time.Time{day.AddDate(0, 0, 1)}, Wallets: []uuid.UUID{wallet},
		Currency: currency,
	})
	switch {
	case errors.Is(err, errTooLarge):
		return 0, errDayTooLarge
	case errors.Is(err, errOverflow):
		return 0, errDayOverflow
	case err != nil || len(found) == 0:
		return 0, err
	}
	return found[0].Amounts[0], nil
}

// compute sets the amounts: it walks backwards from the current balance.
func (b *Balance) compute(ends []time.Time) {
	b.Amounts = make([]int64, len(ends))
	rest, next := b.Current, len(b.Buckets)-1
	for i := len(ends) - 1; i >= 0; i-- {
		for ; next >= 0 && int(b.Buckets[next]) > i; next-- {
			rest -= b.Nets[next]
		}
		b.Amounts[i] = rest
		if b.Own && b.OpeningDate != nil && !b.OpeningDate.Before(ends[i]) {
			b.Amounts[i] -= b.InitialMinor
		}
	}
}

// rows returns the period whose transactions the query reads: the months that contain a moment,
// and those between them. It is empty if all moments are between months.
func (q Query) rows() calendar.Period {
	inside := func(end time.Time) bool { return !end.Equal(calendar.MonthOf(end)) }
	first := slices.IndexFunc(q.Ends, inside)
	if first < 0 {
		return calendar.Period{From: q.Ends[0], End: q.Ends[0]}
	}
	last := first
	for i, end := range q.Ends {
		if inside(end) {
			last = i
		}
	}
	from := calendar.MonthOf(q.Ends[first])
	if first == 0 {
		from = q.Ends[0] // Earlier movements change no balance of the query.
	}
	return calendar.Period{
		From: from, End: calendar.MonthOf(q.Ends[last]).AddDate(0, 1, 0),
	}
}
