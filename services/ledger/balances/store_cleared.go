package balances

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
)

// ClearedQuery selects the transactions of a wallet that SelectCleared adds up. Without a currency,
// it selects all.
type ClearedQuery struct {
	Owner, Wallet uuid.UUID
	Currency      string
	// End is the moment before which the transactions are, a midnight in UTC.
	End time.Time
}

// Cleared compares the balance of a wallet in one currency with the bank, in minor units.
type Cleared struct {
	Currency string
	// Balance is the opening balance plus the sum of the cleared transactions.
	Balance int64
	// Uncleared is the sum of the other transactions, and Count is their number.
	Uncleared, Count int64
	// Unlocked is the number of cleared transactions that no reconciliation locks. SelectUncleared
	// does not count them.
	Unlocked int64
}

// SelectCleared adds up the opening balance and the transactions of a wallet. It reads all of these
// transactions. The own currency of the wallet comes first, and has a row without transactions,
// too. If a sum does not fit into a bigint, it returns an error that pg.IsOutOfRange recognizes.
func SelectCleared(ctx context.Context, q pg.Querier, query ClearedQuery) ([]Cleared, error) {
	return pg.All[Cleared](ctx, q, `
		SELECT b.currency,
			(CASE WHEN b.currency = w.currency AND coalesce(w.opening_date < $5, true)
				THEN w.initial_minor ELSE 0 END + coalesce(s.cleared, 0))::bigint AS balance,
			coalesce(s.uncleared, 0)::bigint AS uncleared, coalesce(s.count, 0) AS count,
			coalesce(s.unlocked, 0) AS unlocked
		FROM wallets w
		JOIN wallet_balances b ON b.owner_id = w.owner_id AND b.wallet_id = w.id
		LEFT JOIN (
			SELECT currency, sum(amount_minor) FILTER (WHERE cleared) AS cleared,
				sum(amount_minor) FILTER (WHERE NOT cleared) AS uncleared,
				count(*) FILTER (WHERE NOT cleared) AS count,
				count(*) FILTER (WHERE cleared AND reconciliation_id IS NULL) AS unlocked
			FROM transactions
			WHERE owner_id = $1 AND wallet_id = $2 AND ($3 = '' OR currency = $3)
				AND date < $4
			GROUP BY currency
		) AS s ON s.currency = b.currency
		WHERE w.owner_id = $1 AND w.id = $2 AND ($3 = '' OR b.currency = $3)
			AND (b.currency = w.currency OR s.currency IS NOT NULL)
		ORDER BY b.currency <> w.currency, b.currency`,
		query.Owner, query.Wallet, query.Currency, query.End, query.End)
}

// SelectUncleared returns the same for the transactions of all days and currencies, by subtraction
// from the current balances. It reads the uncleared transactions only, which the index
// transactions_uncleared finds. Other currencies than the own one have a row if it is not zero. Its
// error of large sums is that of SelectCleared.
func SelectUncleared(
	ctx context.Context, q pg.Querier, owner, wallet uuid.UUID,
) ([]Cleared, error) {
	return pg.All[Cleared](ctx, q, `
		SELECT b.currency, (b.amount_minor - coalesce(u.uncleared, 0))::bigint AS balance,
			coalesce(u.uncleared, 0)::bigint AS uncleared, coalesce(u.count, 0) AS count,
			0::bigint AS unlocked
		FROM wallets w
		JOIN wallet_balances b ON b.owner_id = w.owner_id AND b.wallet_id = w.id
		LEFT JOIN (
			SELECT currency, sum(amount_minor) AS uncleared, count(*) AS count
			FROM transactions
			WHERE owner_id = $1 AND wallet_id = $2 AND NOT cleared
			GROUP BY currency
		) AS u ON u.currency = b.currency
		WHERE w.owner_id = $1 AND w.id = $2
			AND (b.currency = w.currency OR b.amount_minor <> 0 OR u.currency IS NOT NULL)
		ORDER BY b.currency <> w.currency, b.currency`, owner, wallet)
}
