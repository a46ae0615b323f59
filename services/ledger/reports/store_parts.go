package reports

import (
	"strings"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// parts reports which parts of a window have moments. The default window has no days before or
// after its month, and a window within a month has no whole months.
type parts struct{ head, months, tail bool }

func partsOf(p calendar.Period) parts {
	head, months, tail := p.Parts()
	return parts{head: !head.Empty(), months: !months.Empty(), tail: !tail.Empty()}
}

// byParts returns the statement of each combination of parts that calendar.Period.Parts returns for
// a window with moments. Statements omit empty parts, because a short statement spends most of its
// time on starting its scans, also on those that find nothing.
func byParts(statement func(parts) string) map[parts]string {
	statements := map[parts]string{}
	for _, p := range []parts{
		{head: true},
		{months: true},
		{head: true, months: true},
		{months: true, tail: true},
		{head: true, months: true, tail: true},
	} {
		statements[p] = hidden.Replace(statement(p))
	}
	return statements
}

// union returns a subquery of the months and of the days before and after them. days contains @part
// instead of the name of the part.
func (p parts) union(months, days string) string {
	var selects []string
	if p.months {
		selects = append(selects, months)
	}
	if p.head {
		selects = append(selects, strings.ReplaceAll(days, "@part", "@head"))
	}
	if p.tail {
		selects = append(selects, strings.ReplaceAll(days, "@part", "@tail"))
	}
	return "(" + strings.Join(selects, " UNION ALL ") + ")"
}

// movements selects the movements of a window: the monthly totals of its whole months, and the
// transactions and splits of the days before and after them. So the cost is independent of the
// window's length and of the history. It excludes rows without a category: a leg of a transfer is
// no movement, and of a split transaction the splits are selected.
//
// A split counts with the type of its transaction (ADR 103). Moved counts transactions and splits,
// so it is 0 only if nothing moved. Count counts transactions. All splits of a transaction have its
// date, so their sum is its amount. The window function has the order of the index splits_date.
func (p parts) movements() string {
	return p.union(`
		SELECT wallet_id, category_id, currency, `+posting.MonthlyMovements+`
		FROM monthly_totals
		WHERE owner_id = @owner AND month >= @months_from AND month < @months_end
			AND (@currency = '' OR currency = @currency)`, `
		SELECT wallet_id, category_id, currency, greatest(amount_minor, 0) AS income,
			greatest(-amount_minor, 0) AS expense, 1 AS moved, 1 AS count
		FROM transactions
		WHERE owner_id = @owner AND date >= @part_from AND date < @part_end
			AND category_id IS NOT NULL
			AND (@currency = '' OR currency = @currency)
		UNION ALL
		SELECT wallet_id, category_id, currency, CASE WHEN whole > 0 THEN amount_minor ELSE 0 END,
			CASE WHEN whole < 0 THEN -amount_minor ELSE 0 END, 1,
			CASE WHEN position = 0 THEN 1 ELSE 0 END
		FROM (
			SELECT wallet_id, category_id, currency, amount_minor, position,
				sum(amount_minor) OVER (PARTITION BY date, transaction_id) AS whole
			FROM splits
			WHERE owner_id = @owner AND date >= @part_from AND date < @part_end
				AND (@currency = '' OR currency = @currency)
		) AS s`)
}
