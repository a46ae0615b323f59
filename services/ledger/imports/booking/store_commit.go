package booking

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// selectMatched returns those of the transactions that rows of an import match.
func selectMatched(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID, transactions []uuid.UUID,
) ([]uuid.UUID, error) {
	type row struct {
		ID uuid.UUID `db:"transaction_id"`
	}
	rows, err := pg.All[row](ctx, q, `
		SELECT transaction_id
		FROM import_rows
		WHERE owner_id = $1 AND import_id = $2 AND status = 'matched'
			AND transaction_id = ANY($3)`, owner, id, transactions)
	if err != nil {
		return nil, err
	}
	ids := make([]uuid.UUID, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	return ids, nil
}

// link is a row that matches a transaction, and the texts that the transaction gets if it has none.
type link struct {
	transaction              uuid.UUID
	externalID, payee, notes string
	// chosen is set if the user has stated that both are one payment.
	chosen bool
	// cleared is set if the row states that the bank has booked the payment.
	cleared bool
}

// linked is the outcome of the link at a position, from 1. A text is nil if the transaction has
// kept its own. Cleared is set if the link has cleared the transaction.
type linked struct {
	Position     int64
	Payee, Notes *string
	Cleared      bool
}

// linkTransactions gives transactions the external ids and texts of links where they have none,
// clears those that the bank has booked, and returns the links whose transaction can be linked. A
// transaction whose wallet has the external id already, or gets it at an earlier position, stays
// without. A transaction of another import keeps its own.
func linkTransactions(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID, links []link, now time.Time,
) ([]linked, error) {
	n := len(links)
	ids := make([]uuid.UUID, n)
	externals := make([]string, n)
	payees := make([]string, n)
	notes := make([]string, n)
	chosen, cleared := make([]bool, n), make([]bool, n)
	for i, l := range links {
		ids[i], externals[i], payees[i], notes[i] = l.transaction, l.externalID, l.payee, l.notes
		chosen[i], cleared[i] = l.chosen, l.cleared
	}
	return pg.All[linked](ctx, q, `
		WITH found AS (
			SELECT t.id, t.wallet_id, t.external_id AS present, t.payee AS old_payee,
				t.notes AS old_notes, l.external_id, l.payee, l.notes, l.position,
				l.cleared AND NOT t.cleared AS clears,
				row_number() OVER (
					PARTITION BY t.wallet_id, l.external_id ORDER BY l.position) AS occurrence,
				row_number() OVER (PARTITION BY t.id ORDER BY l.position) AS use
			FROM unnest($2::uuid[], $3::text[], $6::text[], $7::text[], $8::boolean[],
				$9::boolean[])
				WITH ORDINALITY AS l (id, external_id, payee, notes, chosen, cleared, position)
			JOIN transactions t
				ON t.owner_id = $1 AND t.id = l.id AND (t.external_id IS NULL
					OR t.import_id <> $5 OR l.chosen AND t.import_id IS NULL)
		), wanted AS (
			SELECT id, position,
				CASE WHEN use = 1 AND present IS NULL AND external_id <> '' AND occurrence = 1
					AND NOT EXISTS (
						SELECT FROM transactions o
						WHERE o.owner_id = $1 AND o.wallet_id = f.wallet_id
							AND o.external_id = f.external_id)
				THEN external_id END AS external_id,
				CASE WHEN use = 1 AND old_payee = '' THEN nullif(payee, '') END AS payee,
				CASE WHEN use = 1 AND old_notes = '' THEN nullif(notes, '') END AS notes,
				use = 1 AND clears AS cleared
			FROM found f
		), linked AS (
			UPDATE transactions t
			SET external_id = coalesce(w.external_id, t.external_id),
				payee = coalesce(w.payee, t.payee), notes = coalesce(w.notes, t.notes),
				cleared = t.cleared OR w.cleared,
				version = t.version + 1, updated_at = $4, seq = (SELECT taken_seq($1))
			FROM wanted w
			WHERE t.owner_id = $1 AND t.id = w.id
				AND (w.cleared OR coalesce(w.external_id, w.payee, w.notes) IS NOT NULL)
		)
		SELECT position, payee, notes, cleared FROM wanted`,
		owner, ids, externals, now, id, payees, notes, chosen, cleared)
}

// usualCurrency returns the currency that most rows of an account and transfers from or to it have,
// or an empty text. The new wallet of the account gets it.
func usualCurrency(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID, account string,
) (string, error) {
	type found struct{ Currency string }
	result, err := pg.One[found](ctx, q, `
		SELECT c.code AS currency
		FROM import_rows r, LATERAL (
			SELECT r.booked_currency AS code WHERE r.account = $3
			UNION ALL
			SELECT coalesce(nullif(r.transfer ->> 'Currency', ''), r.booked_currency)
			WHERE r.transfer ->> 'Account' = $3
		) AS c
		WHERE r.owner_id = $1 AND r.import_id = $2 AND c.code <> ''
		GROUP BY c.code
		ORDER BY count(*) DESC, c.code
		LIMIT 1`, owner, id, account)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return result.Currency, nil
}

// categoryNamed returns an owner's category with a name, ignoring case. found is false if there is
// none.
func categoryNamed(
	ctx context.Context, q pg.Querier, owner uuid.UUID, name string,
) (id uuid.UUID, found bool, err error) {
	type row struct{ ID uuid.UUID }
	result, err := pg.One[row](ctx, q, `
		SELECT id FROM categories
		WHERE owner_id = $1 AND lower(name COLLATE "und-x-icu") = lower($2 COLLATE "und-x-icu")`,
		owner, name)
	if errors.Is(err, pgx.ErrNoRows) {
		return uuid.Nil, false, nil
	}
	if err != nil {
		return uuid.Nil, false, err
	}
	return result.ID, true, nil
}

// setCreated writes the details of an import after wallets and categories were created. The rows
// must be derived with them.
func setCreated(ctx context.Context, q pg.Querier, e staging.Import, now time.Time) error {
	return pg.Exec(ctx, q, `
		UPDATE imports
		SET details = $3, underived = true, derivation = $5, derived = 0,
			updated_at = $4, attempts = 0
		WHERE owner_id = $1 AND id = $2`, e.OwnerID, e.ID, e.Details, now,
		e.Derivation)
}

// setOutcomes writes the status, the problem, the category and the transaction of rows, the texts
// that they gave to it, and what they replaced.
func setOutcomes(ctx context.Context, q pg.Querier, owner, id uuid.UUID, rows []staging.Row) error {
	if len(rows) == 0 {
		return nil
	}
	ns := make([]int32, len(rows))
	statuses := make([]string, len(rows))
	problems := make([]string, len(rows))
	transactions := make([]*uuid.UUID, len(rows))
	originals := make([]*uuid.UUID, len(rows))
	payees := make([]*string, len(rows))
	notes := make([]*string, len(rows))
	categories := make([]*uuid.UUID, len(rows))
	origins := make([]string, len(rows))
	replaced := make([]*staging.Replaced, len(rows))
	cleared := make([]bool, len(rows))
	for i, row := range rows {
		ns[i] = row.N
		statuses[i] = row.Status
		problems[i] = row.Problem
		transactions[i] = row.TransactionID
		originals[i] = row.DuplicateOf
		payees[i] = row.FilledPayee
		notes[i] = row.FilledNotes
		categories[i] = row.CategoryID
		origins[i] = row.CategoryFrom
		replaced[i] = row.Replaced
		cleared[i] = row.FilledCleared
	}
	return pg.Exec(ctx, q, `
		UPDATE import_rows r
		SET status = o.status, problem = o.problem, transaction_id = o.transaction_id,
			duplicate_of = o.duplicate_of, filled_payee = o.filled_payee,
			filled_notes = o.filled_notes, category_id = o.category_id,
			category_from = o.category_from, replaced = o.replaced,
			filled_cleared = o.filled_cleared, cells = '{}'
		FROM unnest($3::integer[], $4::text[], $5::text[], $6::uuid[], $7::uuid[], $10::text[],
			$11::text[], $12::uuid[], $13::jsonb[], $14::text[],
			$15::boolean[])
			AS o (n, status, problem, transaction_id, duplicate_of, filled_payee, filled_notes,
				category_id, replaced, category_from, filled_cleared)
		WHERE r.owner_id = $1 AND r.import_id = $2 AND r.n = o.n AND r.n BETWEEN $8 AND $9`,
		owner, id, ns, statuses, problems, transactions, originals, slices.Min(ns), slices.Max(ns),
		payees, notes, categories, replaced, origins, cleared)
}
