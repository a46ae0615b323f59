package reports

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/pg"
)

// spent is the amount spent in one currency in the window at a position, counted from 1. A window
// without transactions, or whose wallet does not exist, has one row without a currency.
type spent struct {
	Position int
	// Found is false if the wallet does not exist.
	Found bool
	// TimeZone is the zone of the owner's settings, or empty without settings.
	TimeZone string `db:"time_zone"`
	Currency *string
	// Spent is expense minus income in minor units. It is negative if income is greater.
	Spent *int64
}

// maxSpent replaces greater sums. A sum that does not fit into a bigint would otherwise fail the
// statement, and with it the sums of all other windows and users.
const maxSpent = 9_000_000_000_000_000_000

// selectSpending returns the rows of the windows, by position and currency. As in a summary, whole
// months come from the monthly totals, so that the cost does not depend on the length of a window.
// All windows share one statement, because a page of budgets has up to a hundred of them.
//
// Transactions and splits are read by category and date. Their wallet is compared with IS NOT
// DISTINCT FROM, which no index supports. With "=", PostgreSQL expects one row from the index by
// wallet as well as from the index by category, and chooses the newer index, although a wallet
// usually has more rows in a month than a category.
func selectSpending(ctx context.Context, q pg.Querier, windows []spendingWindow) ([]spent, error) {
	return pg.All[spent](ctx, q, `
		WITH asked AS (
			SELECT *
			FROM unnest(@owners::uuid[], @wallets::uuid[],
				@head_from::timestamptz[], @head_end::timestamptz[],
				@months_from::date[], @months_end::date[],
				@tail_from::timestamptz[], @tail_end::timestamptz[]) WITH ORDINALITY
				AS a (owner_id, wallet_id, head_from, head_end, months_from, months_end,
					tail_from, tail_end, position)
		), category AS (
			SELECT *
			FROM unnest(@category_positions::bigint[], @categories::uuid[])
				AS c (position, category_id)
		)
		SELECT a.position, w.id IS NOT NULL AS found, coalesce(z.time_zone, '') AS time_zone,
			s.currency, s.spent
		FROM asked a
		LEFT JOIN wallets w ON w.owner_id = a.owner_id AND w.id = a.wallet_id
		LEFT JOIN settings z ON z.owner_id = a.owner_id
		LEFT JOIN LATERAL (
			SELECT m.currency, greatest(least(sum(m.spent), @max), -@max)::bigint AS spent
			FROM category c
			CROSS JOIN LATERAL (
				SELECT currency, expense_minor - income_minor AS spent
				FROM monthly_totals t
				WHERE t.owner_id = a.owner_id AND t.wallet_id = a.wallet_id
					AND t.category_id = c.category_id
					AND t.month >= a.months_from AND t.month < a.months_end
					AND t.transaction_count > 0
				UNION ALL
				SELECT currency, -amount_minor
				FROM transactions t
				WHERE t.owner_id = a.owner_id AND t.category_id = c.category_id
					AND t.wallet_id IS NOT DISTINCT FROM a.wallet_id
					AND t.date >= a.head_from AND t.date < a.head_end
				UNION ALL
				SELECT currency, -amount_minor
				FROM splits t
				WHERE t.owner_id = a.owner_id AND t.category_id = c.category_id
					AND t.wallet_id IS NOT DISTINCT FROM a.wallet_id
					AND t.date >= a.head_from AND t.date < a.head_end
				UNION ALL
				SELECT currency, -amount_minor
				FROM transactions t
				WHERE t.owner_id = a.owner_id AND t.category_id = c.category_id
					AND t.wallet_id IS NOT DISTINCT FROM a.wallet_id
					AND t.date >= a.tail_from AND t.date < a.tail_end
				UNION ALL
				SELECT currency, -amount_minor
				FROM splits t
				WHERE t.owner_id = a.owner_id AND t.category_id = c.category_id
					AND t.wallet_id IS NOT DISTINCT FROM a.wallet_id
					AND t.date >= a.tail_from AND t.date < a.tail_end
			) AS m
			WHERE c.position = a.position
			GROUP BY m.currency
		) AS s ON w.id IS NOT NULL
		ORDER BY a.position, s.currency`, spendingArgs(windows))
}

// spendingArgs converts windows to arrays with one element per window, and their categories to
// arrays of category and position of the window.
func spendingArgs(windows []spendingWindow) pgx.NamedArgs {
	owners, wallets := make([]uuid.UUID, len(windows)), make([]uuid.UUID, len(windows))
	var from, end [3][]time.Time
	var positions []int64
	var categories []uuid.UUID
	for i, w := range windows {
		owners[i], wallets[i] = w.owner, w.wallet
		head, months, tail := w.Parts()
		for j, part := range []calendar.Period{head, months, tail} {
			from[j], end[j] = append(from[j], part.From), append(end[j], part.End)
		}
		for _, id := range w.categories {
			positions, categories = append(positions, int64(i+1)), append(categories, id)
		}
	}
	return pgx.NamedArgs{
		"owners": owners, "wallets": wallets,
		"category_positions": positions, "categories": categories,
		"head_from": from[0], "head_end": end[0], "months_from": from[1], "months_end": end[1],
		"tail_from": from[2], "tail_end": end[2], "max": int64(maxSpent),
	}
}
