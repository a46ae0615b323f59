package duplicates

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// pageRows is the maximum number of rows that a statement reads or writes.
const pageRows = 1000

// span selects rows of an import: those with the numbers ns, or all if ns is nil. The range from
// first to last is an index condition. With the list alone, PostgreSQL reads all rows of the
// import.
type span struct {
	ns          []int32
	first, last int32
}

// isWanted is the condition on a row of the import $2 of the owner $1 in a span ($3 to $5) that is
// looked for. A row that the user books, skips or matches is not.
const isWanted = `owner_id = $1 AND import_id = $2 AND status IN ('ready', 'pending')
	AND action = ''
	AND wallet_id IS NOT NULL AND date IS NOT NULL
	AND n BETWEEN $4 AND $5 AND ($3::integer[] IS NULL OR n = ANY($3))`

// selectDays returns the days of rows by wallet, in their order.
func selectDays(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID, s span,
) ([]walletDay, error) {
	return pg.All[walletDay](ctx, q, `
		SELECT DISTINCT wallet_id, (date AT TIME ZONE 'UTC')::date AS day
		FROM import_rows
		WHERE `+isWanted+`
		ORDER BY wallet_id, day`, owner, id, s.ns, s.first, s.last)
}

// selectOtherImports returns the imports of other formats.
func selectOtherImports(
	ctx context.Context, q pg.Querier, owner uuid.UUID, format string,
) ([]uuid.UUID, error) {
	type row struct{ ID uuid.UUID }
	rows, err := pg.All[row](ctx, q,
		`SELECT id FROM imports WHERE owner_id = $1 AND format <> $2`, owner, format)
	if err != nil {
		return nil, err
	}
	ids := make([]uuid.UUID, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	return ids, nil
}

// selectReceipts returns the receipts of the stretches' days that became several transactions, each
// with its total.
func selectReceipts(
	ctx context.Context, q pg.Querier, owner uuid.UUID, stretches []stretch,
) ([]existing, error) {
	first, end := stretches[0].first, stretches[0].end
	for _, s := range stretches {
		if s.first.Before(first) {
			first = s.first
		}
		if s.end.After(end) {
			end = s.end
		}
	}
	return pg.All[existing](ctx, q, `
		SELECT t.wallet_id, t.currency, sum(t.amount_minor)::bigint AS amount_minor,
			(min(t.date) AT TIME ZONE 'UTC')::date AS day, max(t.payee) AS payee,
			string_agg(t.description, ' ' ORDER BY t.created_at, t.id) AS description,
			(array_agg(t.id ORDER BY t.created_at, t.id))[1] AS id, min(t.created_at) AS created_at,
			array_agg(t.id ORDER BY t.created_at, t.id) AS parts, false AS imported,
			NULL::uuid AS other_wallet_id
		FROM transactions t
		WHERE t.owner_id = $1 AND t.receipt_id IS NOT NULL AND t.date >= $2 AND t.date < $3
		GROUP BY t.receipt_id, t.wallet_id, t.currency
		HAVING count(*) > 1 AND bool_and(t.external_id IS NULL)`, owner, first, end)
}

// selectExisting returns the transactions of stretches that have no external id, or that one of the
// other imports has created. It leaves out transactions of the import id, and adjustments, because
// they are no payments.
//
// The stretches are read in order, without a sort. That makes PostgreSQL read the index
// transactions_wallet_date, also while it has no statistics of a new ledger (see
// posting.SelectExternal).
func selectExisting(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID, others []uuid.UUID,
	stretches []stretch,
) (found []existing, err error) {
	wallets := make([]uuid.UUID, len(stretches))
	firsts, ends := make([]time.Time, len(stretches)), make([]time.Time, len(stretches))
	for i, s := range stretches {
		wallets[i], firsts[i], ends[i] = s.wallet, s.first, s.end
	}
	batch := &pgx.Batch{}
	batch.Queue(`SELECT set_config('enable_sort', 'off', true)`)
	lookup := batch.Queue(`
		SELECT t.wallet_id, t.currency, t.amount_minor, (t.date AT TIME ZONE 'UTC')::date AS day,
			t.payee, t.description, t.id, t.created_at, ARRAY[t.id] AS parts,
			t.external_id IS NOT NULL AS imported, (
				SELECT o.wallet_id
				FROM transactions o
				WHERE o.owner_id = $1 AND o.transfer_id = t.transfer_id AND o.id <> t.id
				LIMIT 1) AS other_wallet_id
		FROM unnest($3::uuid[], $4::timestamptz[], $5::timestamptz[])
			WITH ORDINALITY AS s (wallet_id, first, "end", position)
		CROSS JOIN LATERAL (
			SELECT id, wallet_id, currency, amount_minor, date, payee, description, created_at,
				external_id, transfer_id
			FROM transactions
			WHERE owner_id = $1 AND wallet_id = s.wallet_id AND date >= s.first AND date < s."end"
				AND import_id IS DISTINCT FROM $2
				AND (external_id IS NULL OR import_id = ANY($6)) AND NOT adjustment
			ORDER BY date, id
		) AS t
		ORDER BY s.position`, owner, id, wallets, firsts, ends, others)
	lookup.Query(func(rows pgx.Rows) (err error) {
		found, err = pgx.CollectRows(rows, pgx.RowToStructByName[existing])
		return err
	})
	batch.Queue(`SELECT set_config('enable_sort', 'on', true)`)
	if err := q.SendBatch(ctx, batch).Close(); err != nil {
		return nil, fmt.Errorf("selecting transactions beside import %s: %w", id, err)
	}
	return found, nil
}

// selectWanted returns up to limit rows of a span after row n, with the texts of the file or those
// that the user chose.
func selectWanted(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID, span span, after int32, limit int,
) ([]wanted, error) {
	span.first = max(span.first, after+1)
	return pg.All[wanted](ctx, q, `
		SELECT n, wallet_id, booked_currency AS currency, coalesce(amount_minor, 0) AS amount_minor,
			(date AT TIME ZONE 'UTC')::date AS day, external_id, status = 'pending' AS pending,
			transfer_wallet_id, pair_n,
			coalesce(chosen_payee, payee) AS payee,
			coalesce(chosen_description, description) AS description
		FROM import_rows
		WHERE `+isWanted+`
		ORDER BY n
		LIMIT $6`, owner, id, span.ns, span.first, span.last, limit)
}

// SelectTaken returns the transactions that rows of an import match already.
func SelectTaken(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID,
) (map[uuid.UUID]bool, error) {
	type row struct {
		ID uuid.UUID `db:"duplicate_of"`
	}
	rows, err := pg.All[row](ctx, q, `
		SELECT duplicate_of
		FROM import_rows
		WHERE owner_id = $1 AND import_id = $2 AND status = 'matched' AND duplicate_of IS NOT NULL`,
		owner, id)
	if err != nil {
		return nil, err
	}
	taken := make(map[uuid.UUID]bool, len(rows))
	for _, r := range rows {
		taken[r.ID] = true
	}
	return taken, nil
}

// setResults writes the outcomes of rows.
func setResults(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID, results []result,
) error {
	if len(results) == 0 {
		return nil
	}
	ns := make([]int32, len(results))
	transactions, statuses := make([]uuid.UUID, len(results)), make([]string, len(results))
	for i, r := range results {
		ns[i], transactions[i], statuses[i] = r.n, r.transaction, r.status
	}
	return pg.Exec(ctx, q, `
		UPDATE import_rows r
		SET status = o.status, duplicate_of = o.transaction_id,
			problem = CASE WHEN o.status = 'duplicate' THEN '' ELSE problem END
		FROM unnest($3::integer[], $4::uuid[], $5::text[]) AS o (n, transaction_id, status)
		WHERE r.owner_id = $1 AND r.import_id = $2 AND r.n = o.n AND r.n BETWEEN $6 AND $7`,
		owner, id, ns, transactions, statuses, slices.Min(ns), slices.Max(ns))
}

// Matchable is a transaction that the user may state to be the payment of a row.
type Matchable struct {
	WalletID    uuid.UUID `db:"wallet_id"`
	Currency    string
	AmountMinor int64 `db:"amount_minor"`
	Date        time.Time
	ExternalID  *string `db:"external_id"`
}

// SelectMatchable returns a transaction of the owner, or pgx.ErrNoRows if there is none, or if it
// is the transaction of another row of the import. All possible duplicates are matchable.
func SelectMatchable(
	ctx context.Context, q pg.Querier, owner, id, transaction uuid.UUID,
) (Matchable, error) {
	return pg.One[Matchable](ctx, q, `
		SELECT wallet_id, currency, amount_minor, date, external_id
		FROM transactions
		WHERE owner_id = $1 AND id = $3
			AND (external_id IS NULL OR import_id IS DISTINCT FROM $2)`, owner, id, transaction)
}

// Replaces returns what a row replaces in the transaction, or nil if the transaction is not pending
// or has another wallet or currency.
func (m Matchable) Replaces(r staging.Row) *staging.Replaced {
	if m.ExternalID == nil || !strings.HasPrefix(*m.ExternalID, statement.PendingID) ||
		r.WalletID == nil || *r.WalletID != m.WalletID || r.BookedCurrency != m.Currency {
		return nil
	}
	return &staging.Replaced{
		AmountMinor: m.AmountMinor, Date: m.Date, ExternalID: *m.ExternalID,
	}
}
