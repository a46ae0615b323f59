package reports

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/pg"
)

// spent is the amount spent in one currency in a window. A window without transactions, or whose
// wallet does not exist, has one row without a currency.
type spent struct {
	// Position is the index of the window in the request.
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

// selectSpending returns the rows of the windows of each owner, by position and currency. All
// windows of an owner share one statement, because a page of budgets has up to a hundred of them.
// Each owner has a separate one, so that it reads the owner's partition only (ADR 124). The
// statements are sent together: a page with budgets of other users waits for one round trip.
func selectSpending(
	ctx context.Context, q pg.Querier, owners map[uuid.UUID][]spendingWindow, distributed bool,
) ([]spent, error) {
	statement := spendingOfHiddenOwner
	if distributed {
		statement = spendingStatement
	}
	var all []spent
	batch := &pgx.Batch{}
	for owner, windows := range owners {
		batch.Queue(statement, spendingArgs(owner, windows)).
			Query(func(rows pgx.Rows) error {
				var err error
				all, err = pgx.AppendRows(all, rows, pgx.RowToStructByName[spent])
				return err
			})
	}
	if err := q.SendBatch(ctx, batch).Close(); err != nil {
		return nil, fmt.Errorf("summing the spending of budgets: %w", err)
	}
	return all, nil
}

// spendingStatement adds up the spending in the windows of an owner. As in a summary, whole months
// come from the monthly totals, so that the cost does not depend on the length of a window.
//
// Transactions and splits are read by category and date. Their wallet is compared with IS NOT
// DISTINCT FROM, which no index supports. With "=", PostgreSQL expects one row from the index by
// wallet as well as from the index by category, and chooses the newer index, although a wallet
// usually has more rows in a month than a category.
//
// The arrays are subqueries, so that PostgreSQL plans the statement once, as for a summary (see
// hidden). Otherwise it plans each request with fewer windows than it expects, which takes three
// times as long as the execution.
const spendingStatement = `
	WITH asked AS (
		SELECT *
		FROM unnest((SELECT @positions::bigint[]), (SELECT @wallets::uuid[]),
			(SELECT @head_from::timestamptz[]), (SELECT @head_end::timestamptz[]),
			(SELECT @months_from::date[]), (SELECT @months_end::date[]),
			(SELECT @tail_from::timestamptz[]), (SELECT @tail_end::timestamptz[]))
			AS a (position, wallet_id, head_from, head_end, months_from, months_end,
				tail_from, tail_end)
	), category AS (
		SELECT *
		FROM unnest((SELECT @category_positions::bigint[]), (SELECT @categories::uuid[]))
			AS c (position, category_id)
	)
	SELECT a.position, w.id IS NOT NULL AS found, coalesce(z.time_zone, '') AS time_zone,
		s.currency, s.spent
	FROM asked a
	LEFT JOIN wallets w ON w.owner_id = @owner AND w.id = a.wallet_id
	LEFT JOIN settings z ON z.owner_id = @owner
	LEFT JOIN LATERAL (
		SELECT m.currency, greatest(least(sum(m.spent), @max), -@max)::bigint AS spent
		FROM category c
		CROSS JOIN LATERAL (
			SELECT currency, expense_minor - income_minor AS spent
			FROM monthly_totals t
			WHERE t.owner_id = @owner AND t.wallet_id = a.wallet_id
				AND t.category_id = c.category_id
				AND t.month >= a.months_from AND t.month < a.months_end
				AND t.transaction_count > 0
			UNION ALL
			SELECT currency, -amount_minor
			FROM transactions t
			WHERE t.owner_id = @owner AND t.category_id = c.category_id
				AND t.wallet_id IS NOT DISTINCT FROM a.wallet_id
				AND t.date >= a.head_from AND t.date < a.head_end
			UNION ALL
			SELECT currency, -amount_minor
			FROM splits t
			WHERE t.owner_id = @owner AND t.category_id = c.category_id
				AND t.wallet_id IS NOT DISTINCT FROM a.wallet_id
				AND t.date >= a.head_from AND t.date < a.head_end
			UNION ALL
			SELECT currency, -amount_minor
			FROM transactions t
			WHERE t.owner_id = @owner AND t.category_id = c.category_id
				AND t.wallet_id IS NOT DISTINCT FROM a.wallet_id
				AND t.date >= a.tail_from AND t.date < a.tail_end
			UNION ALL
			SELECT currency, -amount_minor
			FROM splits t
			WHERE t.owner_id = @owner AND t.category_id = c.category_id
				AND t.wallet_id IS NOT DISTINCT FROM a.wallet_id
				AND t.date >= a.tail_from AND t.date < a.tail_end
		) AS m
		WHERE c.position = a.position
		GROUP BY m.currency
	) AS s ON w.id IS NOT NULL
	ORDER BY a.position, s.currency`

// spendingOfHiddenOwner is spendingStatement for a single server. A distributed database needs the
// owner itself, because it selects the shard before it plans a statement.
var spendingOfHiddenOwner = strings.ReplaceAll(spendingStatement, "@owner",
	hidden.Replace("@owner"))

// spendingArgs converts the windows of an owner to arrays with one element per window, and their
// categories to arrays of category and position of the window.
func spendingArgs(owner uuid.UUID, windows []spendingWindow) pgx.NamedArgs {
	positions, wallets := make([]int64, len(windows)), make([]uuid.UUID, len(windows))
	var from, end [3][]time.Time
	var categoryPositions []int64
	var categories []uuid.UUID
	for i, window := range windows {
		positions[i], wallets[i] = int64(window.position), window.wallet
		head, months, tail := window.Parts()
		for j, part := range []calendar.Period{head, months, tail} {
			from[j], end[j] = append(from[j], part.From), append(end[j], part.End)
		}
		for _, id := range window.categories {
			categoryPositions = append(categoryPositions, int64(window.position))
			categories = append(categories, id)
		}
	}
	return pgx.NamedArgs{
		"owner": owner, "positions": positions, "wallets": wallets,
		"category_positions": categoryPositions, "categories": categories,
		"head_from": from[0], "head_end": end[0], "months_from": from[1], "months_end": end[1],
		"tail_from": from[2], "tail_end": end[2], "max": int64(maxSpent),
	}
}
