package duplicates

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
)

// candidate is a transaction that may be the same payment as a row.
type candidate struct {
	N             int32
	TransactionID uuid.UUID `db:"transaction_id"`
	// Parts are the transactions of a receipt, whose oldest one is TransactionID. Otherwise it is
	// TransactionID alone.
	Parts []uuid.UUID
	Days  int32
	// Text joins the payee and the description of the transaction. RowText does so for the row.
	Text    string
	RowText string `db:"row_text"`
}

// span selects rows of an import: those with the numbers ns, or all if ns is nil. The range from
// first to last is an index condition. With the list alone, PostgreSQL reads all rows of the
// import.
type span struct {
	ns          []int32
	first, last int32
}

// markDuplicates marks the ready and pending rows whose external id a transaction of the wallet
// has. It leaves rows that the user books anyway, and ignores transactions that this import has
// created or matched before it failed.
func markDuplicates(ctx context.Context, q pg.Querier, owner, id uuid.UUID, s span) error {
	_, err := q.Exec(ctx, `
		UPDATE import_rows r
		SET status = 'duplicate', problem = '', duplicate_of = t.id
		FROM transactions t
		WHERE r.owner_id = $1 AND r.import_id = $2 AND r.status IN ('ready', 'pending')
			AND r.action = ''
			AND r.external_id <> ''
			AND r.n BETWEEN $4 AND $5 AND ($3::integer[] IS NULL OR r.n = ANY($3))
			AND t.owner_id = r.owner_id AND t.wallet_id = r.wallet_id
			AND t.external_id = r.external_id
			AND t.import_id IS DISTINCT FROM r.import_id
			AND NOT EXISTS (
				SELECT FROM import_rows o
				WHERE o.owner_id = $1 AND o.import_id = $2 AND o.status = 'matched'
					AND o.transaction_id = t.id)`,
		owner, id, s.ns, s.first, s.last)
	if err != nil {
		return fmt.Errorf("marking the duplicates of import %s: %w", id, err)
	}
	return nil
}

// selectCandidates returns the transactions without an external id that have the wallet, the
// currency and the amount of a ready row, at most 4 days apart, the nearest first. A receipt that
// became several transactions is a candidate with its total. A transaction that an import of
// another format created is a candidate of the same day only: its external id has another source,
// but regular payments are often a few days apart. A transaction that another row of the import
// matches already is none.
func selectCandidates(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID, format string, s span,
) ([]candidate, error) {
	candidates, err := pg.All[candidate](ctx, q, `
		WITH wanted AS (
			SELECT n, wallet_id, booked_currency, amount_minor,
				(date AT TIME ZONE 'UTC')::date AS date,
				coalesce(chosen_payee, payee) || ' '
					|| coalesce(chosen_description, description) AS text
			FROM import_rows
			WHERE owner_id = $1 AND import_id = $2 AND status = 'ready' AND action = ''
				AND n BETWEEN $5 AND $6 AND ($3::integer[] IS NULL OR n = ANY($3))
		), receipt AS (
			SELECT t.wallet_id, t.currency, sum(t.amount_minor)::bigint AS amount_minor,
				min(t.date) AS date, min(t.created_at) AS created_at,
				array_agg(t.id ORDER BY t.created_at, t.id) AS parts,
				max(t.payee) || ' '
					|| string_agg(t.description, ' ' ORDER BY t.created_at, t.id) AS text
			FROM transactions t, (SELECT min(date) AS first, max(date) AS last FROM wanted) AS w
			WHERE t.owner_id = $1 AND t.receipt_id IS NOT NULL
				AND t.date >= (w.first - 4)::timestamp AT TIME ZONE 'UTC'
				AND t.date < (w.last + 5)::timestamp AT TIME ZONE 'UTC'
			GROUP BY t.receipt_id, t.wallet_id, t.currency
			HAVING count(*) > 1 AND bool_and(t.external_id IS NULL)
		), found AS (
			SELECT r.n, ARRAY[t.id] AS parts, t.date AS found_date, r.date, t.created_at,
				t.payee || ' ' || t.description AS text, r.text AS row_text
			FROM wanted r
			JOIN transactions t ON t.owner_id = $1 AND t.wallet_id = r.wallet_id
				AND t.import_id IS DISTINCT FROM $2 AND t.currency = r.booked_currency
				AND t.amount_minor = r.amount_minor
				AND (t.external_id IS NULL OR (t.date AT TIME ZONE 'UTC')::date = r.date
					AND t.import_id IN (SELECT id FROM imports
						WHERE owner_id = $1 AND format <> $4))
				AND t.date >= (r.date - 4)::timestamp AT TIME ZONE 'UTC'
				AND t.date < (r.date + 5)::timestamp AT TIME ZONE 'UTC'
			UNION ALL
			SELECT r.n, t.parts, t.date, r.date, t.created_at, t.text, r.text
			FROM wanted r
			JOIN receipt t
				ON t.wallet_id = r.wallet_id AND t.currency = r.booked_currency
					AND t.amount_minor = r.amount_minor
				AND t.date >= (r.date - 4)::timestamp AT TIME ZONE 'UTC'
				AND t.date < (r.date + 5)::timestamp AT TIME ZONE 'UTC'
		)
		SELECT n, parts[1] AS transaction_id, parts,
			abs((found_date AT TIME ZONE 'UTC')::date - date) AS days, text, row_text
		FROM found f
		WHERE NOT EXISTS (
			SELECT FROM import_rows o
			WHERE o.owner_id = $1 AND o.import_id = $2 AND o.status = 'matched'
				AND o.duplicate_of = ANY(f.parts))
		ORDER BY days, created_at, transaction_id, n`, owner, id, s.ns, format, s.first, s.last)
	if err != nil {
		return nil, fmt.Errorf("selecting the candidates of import %s: %w", id, err)
	}
	return candidates, nil
}

// setMatches marks rows as the same payments as transactions.
func setMatches(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID, ns []int32, transactions []uuid.UUID,
) error {
	if len(ns) == 0 {
		return nil
	}
	_, err := q.Exec(ctx, `
		UPDATE import_rows r
		SET status = 'matched', duplicate_of = m.transaction_id
		FROM unnest($3::integer[], $4::uuid[]) AS m (n, transaction_id)
		WHERE r.owner_id = $1 AND r.import_id = $2 AND r.n = m.n`, owner, id, ns, transactions)
	if err != nil {
		return fmt.Errorf("matching rows of import %s: %w", id, err)
	}
	return nil
}

// Matchable reports whether a transaction belongs to the owner and has no external id.
func Matchable(ctx context.Context, q pg.Querier, owner, transaction uuid.UUID) (bool, error) {
	type found struct{ Found bool }
	r, err := pg.One[found](ctx, q, `
		SELECT EXISTS (SELECT FROM transactions
			WHERE id = $2 AND owner_id = $1 AND external_id IS NULL) AS found`,
		owner, transaction)
	if err != nil {
		return false, fmt.Errorf("looking for transaction %s: %w", transaction, err)
	}
	return r.Found, nil
}
