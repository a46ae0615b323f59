package duplicates

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// pendingPage is the number of pending transactions that are compared with the rows at the same
// time.
const pendingPage = 5000

// selectPending returns up to limit of the owner's pending transactions that follow one in the
// order of date and id, except those that the import has created.
func selectPending(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID, after pendingTransaction, limit int,
) ([]pendingTransaction, error) {
	return pg.All[pendingTransaction](ctx, q, `
		SELECT id, wallet_id, currency, amount_minor,
			(date AT TIME ZONE 'UTC')::date - DATE '2000-01-01' AS day, external_id, date,
			transfer_id IS NOT NULL OR split_count > 0 OR reconciliation_id IS NOT NULL AS fixed
		FROM transactions
		WHERE owner_id = $1 AND external_id LIKE 'pending:%' AND import_id IS DISTINCT FROM $2
			AND date >= $3 AND (date, id) > ($3, $4)
		ORDER BY date, id
		LIMIT $5`, owner, id, after.Date, after.ID, limit)
}

// selectRows adds the ready rows of an import. It reads them one by one, because an import may have
// 200 000 rows.
func (c *replacements) selectRows(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID, span span,
) error {
	rows, err := q.Query(ctx, `
		SELECT n, wallet_id, booked_currency, amount_minor,
			(date AT TIME ZONE 'UTC')::date - DATE '2000-01-01' AS day, external_id
		FROM import_rows
		WHERE owner_id = $1 AND import_id = $2 AND status = 'ready' AND action = ''
			AND n BETWEEN $4 AND $5 AND ($3::integer[] IS NULL OR n = ANY($3))
			AND wallet_id IS NOT NULL AND amount_minor IS NOT NULL AND date IS NOT NULL
		ORDER BY n`, owner, id, span.ns, span.first, span.last)
	if err != nil {
		return fmt.Errorf("selecting the bookings of import %s: %w", id, err)
	}
	var r bookedRow
	_, err = pgx.ForEachRow(rows,
		[]any{&r.N, &r.WalletID, &r.Currency, &r.AmountMinor, &r.Day, &r.ExternalID},
		func() error {
			c.add(r)
			return nil
		})
	if err != nil {
		return fmt.Errorf("selecting the bookings of import %s: %w", id, err)
	}
	return nil
}

// selectTexts compares the texts of the rows and transactions that were found.
func (c *replacements) selectTexts(ctx context.Context, q pg.Querier, owner, id uuid.UUID) error {
	rows, transactions := map[int32]string{}, map[uuid.UUID]string{}
	for _, r := range c.found {
		if !r.same {
			rows[r.n], transactions[r.transaction.ID] = "", ""
		}
	}
	for ns := range slices.Chunk(slices.Sorted(maps.Keys(rows)), pageRows) {
		found, err := selectRowTexts(ctx, q, owner, id, ns)
		if err != nil {
			return err
		}
		for _, r := range found {
			rows[r.N] = r.Text
		}
	}
	for ids := range slices.Chunk(slices.Collect(maps.Keys(transactions)), pageRows) {
		found, err := selectTransactionTexts(ctx, q, owner, ids)
		if err != nil {
			return err
		}
		for _, t := range found {
			transactions[t.ID] = t.Text
		}
	}
	c.compare(rows, transactions)
	return nil
}

// rowText is a row with its joined payee and description, and transactionText a transaction.
type (
	rowText struct {
		N    int32
		Text string
	}
	transactionText struct {
		ID   uuid.UUID
		Text string
	}
)

// selectRowTexts returns the texts of rows, whose numbers are sorted.
func selectRowTexts(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID, ns []int32,
) ([]rowText, error) {
	return pg.All[rowText](ctx, q, `
		SELECT n, coalesce(chosen_payee, payee) || ' '
			|| coalesce(chosen_description, description) AS text
		FROM import_rows
		WHERE owner_id = $1 AND import_id = $2 AND n BETWEEN $4 AND $5 AND n = ANY($3)`,
		owner, id, ns, ns[0], ns[len(ns)-1])
}

// selectTransactionTexts returns the texts of transactions.
func selectTransactionTexts(
	ctx context.Context, q pg.Querier, owner uuid.UUID, ids []uuid.UUID,
) ([]transactionText, error) {
	return pg.All[transactionText](ctx, q, `
		SELECT id, payee || ' ' || description AS text
		FROM transactions
		WHERE owner_id = $1 AND id = ANY($2)`, owner, ids)
}

// setReplacements marks rows as bookings of pending transactions, with the values that the commit
// replaces.
func setReplacements(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID, found []replacement,
) error {
	if len(found) == 0 {
		return nil
	}
	ns := make([]int32, len(found))
	transactions := make([]uuid.UUID, len(found))
	replaced := make([]staging.Replaced, len(found))
	for i, r := range found {
		ns[i], transactions[i] = r.n, r.transaction.ID
		replaced[i] = staging.Replaced{
			AmountMinor: r.transaction.AmountMinor, Date: r.transaction.Date,
			ExternalID: r.transaction.ExternalID,
		}
	}
	return pg.Exec(ctx, q, `
		UPDATE import_rows r
		SET status = 'matched', duplicate_of = m.transaction_id, replaced = m.replaced
		FROM unnest($3::integer[], $4::uuid[], $5::jsonb[]) AS m (n, transaction_id, replaced)
		WHERE r.owner_id = $1 AND r.import_id = $2 AND r.n = m.n AND r.n BETWEEN $6 AND $7`,
		owner, id, ns, transactions, replaced, slices.Min(ns), slices.Max(ns))
}
