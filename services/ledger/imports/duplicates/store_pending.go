package duplicates

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// maxPending is the maximum number of pending transactions that an import compares with its rows.
const maxPending = 500

// selectPending returns the owner's newest pending transactions, except those that the import has
// created.
func selectPending(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID,
) ([]pendingTransaction, error) {
	return pg.All[pendingTransaction](ctx, q, `
		SELECT id, wallet_id, currency, amount_minor,
			(date AT TIME ZONE 'UTC')::date - DATE '2000-01-01' AS day, external_id, date,
			payee || ' ' || description AS text,
			transfer_id IS NOT NULL OR split_count > 0 AS fixed
		FROM transactions
		WHERE owner_id = $1 AND external_id LIKE 'pending:%' AND import_id IS DISTINCT FROM $2
		ORDER BY date DESC, id
		LIMIT $3`, owner, id, maxPending)
}

// selectRows adds the ready rows of an import. It reads them one by one, because an import may have
// 200 000 rows.
func (c *replacements) selectRows(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID, s span,
) error {
	var wallets []uuid.UUID
	for _, t := range c.pending {
		if !slices.Contains(wallets, t.WalletID) {
			wallets = append(wallets, t.WalletID)
		}
	}
	rows, err := q.Query(ctx, `
		SELECT n, wallet_id, booked_currency, amount_minor,
			(date AT TIME ZONE 'UTC')::date - DATE '2000-01-01' AS day, external_id,
			coalesce(chosen_payee, payee) || ' '
				|| coalesce(chosen_description, description) AS text
		FROM import_rows
		WHERE owner_id = $1 AND import_id = $2 AND status = 'ready' AND action = ''
			AND n BETWEEN $4 AND $5 AND ($3::integer[] IS NULL OR n = ANY($3))
			AND wallet_id = ANY($6) AND amount_minor IS NOT NULL
		ORDER BY n`, owner, id, s.ns, s.first, s.last, wallets)
	if err != nil {
		return fmt.Errorf("selecting the bookings of import %s: %w", id, err)
	}
	var r bookedRow
	_, err = pgx.ForEachRow(rows,
		[]any{&r.N, &r.WalletID, &r.Currency, &r.AmountMinor, &r.Day, &r.ExternalID, &r.Text},
		func() error {
			c.add(r)
			return nil
		})
	if err != nil {
		return fmt.Errorf("selecting the bookings of import %s: %w", id, err)
	}
	return nil
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
