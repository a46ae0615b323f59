package rules

import (
	"context"
	"strconv"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/rules/learning"
)

// historyRows is the maximum number of transactions from which categories are learned. It limits
// the time of a suggestion.
const historyRows = 50_000

// history is the FROM clause of the owner's newest transactions t of the last 24 months, with the
// rows r of their imports. A transaction has no row if it has no import, or if its import was
// deleted. The limit applies before any condition on the category, so a statement reads at most
// historyRows rows of the index transactions_owner_date, however many of them have no category. The
// index import_rows_transaction finds the row of a transaction (ADR 93). The limit is a literal
// because PostgreSQL assumes that a parameterized LIMIT returns 10 % of the table.
var history = `
	FROM (
		SELECT id, payee, description, amount_minor, category_id, import_id, external_id, receipt_id
		FROM transactions
		WHERE owner_id = $1 AND date >= now() - interval '24 months'
		ORDER BY date DESC, id DESC
		LIMIT ` + strconv.Itoa(historyRows) + `
	) AS t
	LEFT JOIN import_rows r
		ON r.owner_id = $1 AND r.transaction_id = t.id AND r.import_id = t.import_id
	LEFT JOIN merged_categories m ON m.owner_id = $1 AND m.id = r.category_id`

// changed is the condition that the owner, or a rule, changed the category after the import: it
// differs from the one in the row, which follows merges. The row of a transfer or a split has none.
const changed = `r.n IS NOT NULL
	AND coalesce(m.category_id, r.category_id) IS DISTINCT FROM t.category_id`

// selectExamples returns the owner's newest transactions that can teach categories. A category
// teaches if the owner chose it, or if a rule, the file or a suggestion set it in the preview of an
// import, which the owner accepted. The default category of an import does neither, until the owner
// changes it (ADR 118).
func selectExamples(
	ctx context.Context, q pg.Querier, owner uuid.UUID,
) ([]learning.Example, error) {
	return pg.All[learning.Example](ctx, q, `
		SELECT t.payee, t.description, t.amount_minor < 0 AS expense, t.category_id,
			CASE WHEN r.n IS NULL THEN t.external_id IS NULL AND t.receipt_id IS NULL
				ELSE r.category_from = 'user' OR `+changed+` END AS chosen
		`+history+`
		WHERE t.category_id IS NOT NULL
			AND (r.category_from IS DISTINCT FROM 'default' OR `+changed+`)`, owner)
}

// selectChoices returns the categories that the owner chose by hand for the newest transactions, by
// payee. An imported transaction counts if its category was chosen in the preview, or was changed
// since. Its payee is the one in the file, because rules run on it. A transaction with an external
// id and without an import is not by hand: a program created it, or its import was deleted.
func selectChoices(ctx context.Context, q pg.Querier, owner uuid.UUID) ([]learning.Choice, error) {
	return pg.All[learning.Choice](ctx, q, `
		SELECT coalesce(r.payee, t.payee) AS payee, t.category_id, count(*)
		`+history+`
		WHERE t.category_id IS NOT NULL AND t.receipt_id IS NULL
			AND coalesce(r.payee, t.payee) <> '' AND (
			t.import_id IS NULL AND t.external_id IS NULL
			OR r.category_from = 'user'
			OR `+changed+`)
		GROUP BY 1, 2`, owner)
}

// selectEnabled returns the enabled rules of an owner that run on a source, by position. The
// primary key of rules starts with the owner, and an owner has at most maxRules, so the other
// conditions need no index.
func selectEnabled(
	ctx context.Context, q pg.Querier, owner uuid.UUID, source string,
) ([]Rule, error) {
	return pg.All[Rule](ctx, q, `
		SELECT `+ruleColumns+`
		FROM `+ruleTables+`
		WHERE r.owner_id = $1 AND r.enabled AND r.sources @> ARRAY[$2]
		ORDER BY r.position, r.id`, owner, source)
}
