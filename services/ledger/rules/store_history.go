package rules

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
)

// historyRows is the maximum number of transactions from which categories are learned. It limits the time of a suggestion.
const historyRows = 50_000

// categorized holds the part of a transaction that suggestions learn from.
type categorized struct {
	Payee, Description string
	Expense            bool
	CategoryID         uuid.UUID `db:"category_id"`
}

// selectCategorized returns the categories of the owner's newest transactions of the last 24 months.
func selectCategorized(ctx context.Context, q pg.Querier, owner uuid.UUID) ([]categorized, error) {
	rows, err := pg.All[categorized](ctx, q, `
		SELECT payee, description, amount_minor < 0 AS expense, category_id
		FROM (
			SELECT payee, description, amount_minor, category_id
			FROM transactions
			WHERE owner_id = $1 AND date >= now() - interval '24 months'
			ORDER BY date DESC, id DESC
			LIMIT $2
		) AS t
		WHERE category_id IS NOT NULL`, owner, historyRows)
	if err != nil {
		return nil, fmt.Errorf("selecting the categories that %s used: %w", owner, err)
	}
	return rows, nil
}

// selectEnabled returns the enabled rules of an owner that run on a source, by position.
func selectEnabled(ctx context.Context, q pg.Querier, owner uuid.UUID, source string) ([]Rule, error) {
	rules, err := pg.All[Rule](ctx, q, `
		SELECT `+ruleColumns+`
		FROM `+ruleTables+`
		WHERE r.owner_id = $1 AND r.enabled AND r.sources @> ARRAY[$2]
		ORDER BY r.position, r.id`, owner, source)
	if err != nil {
		return nil, fmt.Errorf("selecting the rules for %s: %w", source, err)
	}
	return rules, nil
}
