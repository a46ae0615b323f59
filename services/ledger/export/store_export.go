package export

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/rpc"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// pageSize is the number of transactions that a statement of an export reads. It limits the memory
// of an export.
const pageSize = 2000

type walletRow struct {
	ID           uuid.UUID
	Name         string
	Currency     string
	InitialMinor int64 `db:"initial_minor"`
	// Opened is the creation of the wallet, or its first transaction or its opening day if that is
	// earlier.
	Opened time.Time
	// OpeningDate is the day from which the opening balance counts, or nil if it counts for all
	// days.
	OpeningDate *time.Time `db:"opening_date"`
	// Selected is false if a filter excludes the wallet.
	Selected bool
}

// tryLock locks the exports of an owner until the database transaction ends. It returns false if
// another export has the lock, and does not wait for it: an export takes as long as its client
// receives. No other statement takes this lock, so it cannot deadlock.
func tryLock(ctx context.Context, q pg.Querier, owner uuid.UUID) (bool, error) {
	return pg.Value[bool](ctx, q,
		`SELECT pg_try_advisory_xact_lock(hashtext('export'), hashtext($1))`, owner.String())
}

// setIdleTimeout allows the database transaction to be idle until the deadline of a download. It is
// idle while the client receives, so the limit of the installation (a minute in deploy/k8s) would
// end the export of a slow client.
func setIdleTimeout(ctx context.Context, q pg.Querier) error {
	limit := (rpc.DownloadTimeout + time.Minute).Milliseconds()
	return pg.Exec(ctx, q,
		`SELECT set_config('idle_in_transaction_session_timeout', $1, true)`, fmt.Sprint(limit))
}

// selectWallets returns all wallets of the owner in the order of their creation, also those that a
// filter excludes: the entry of a transfer may name them. The first transaction of each wallet is
// one look at an index, whatever the number of transactions.
func selectWallets(ctx context.Context, q pg.Querier, filter filter) ([]walletRow, error) {
	return pg.All[walletRow](ctx, q, `
		SELECT w.id, w.name, w.currency, w.initial_minor, w.opening_date,
			least(w.created_at, first.date, w.opening_date::timestamp AT TIME ZONE 'UTC') AS opened,
			cardinality($2::uuid[]) = 0 OR w.id = ANY($2) AS selected
		FROM wallets w
		LEFT JOIN LATERAL (
			SELECT t.date FROM transactions t
			WHERE t.owner_id = $1 AND t.wallet_id = w.id ORDER BY t.date LIMIT 1
		) AS first ON true
		WHERE w.owner_id = $1
		ORDER BY w.created_at, w.id`, filter.owner, notNull(filter.wallets))
}

// matches is the condition for the transactions t of a filter. Its parameters $1 to $10 are those
// of filter.arguments; an empty array, an empty text or NULL is an absent condition. A split
// transaction matches a category if one of its parts has it.
const matches = `t.owner_id = $1
	AND (cardinality($2::uuid[]) = 0 OR t.wallet_id = ANY($2))
	AND (cardinality($3::uuid[]) = 0 OR t.category_id = ANY($3) OR t.split_count > 0 AND EXISTS (
		SELECT FROM splits s
		WHERE s.owner_id = $1 AND s.transaction_id = t.id AND s.category_id = ANY($3)))
	AND (cardinality($4::text[]) = 0 OR t.tags && $4)
	AND ($5::timestamptz IS NULL OR t.date >= $5)
	AND ($6::timestamptz IS NULL OR t.date < $6)
	AND ($7::text = '' OR t.external_id = $7)
	AND ($8::uuid IS NULL OR t.import_id = $8)
	AND ($9::uuid IS NULL OR t.receipt_id = $9)
	AND ($10::boolean IS NULL OR (t.attachment_count > 0) = $10)`

// arguments returns the parameters of matches. tags are the keys of the tags.
func (f filter) arguments() []any {
	return []any{
		f.owner, notNull(f.wallets), notNull(f.categories), notNull(f.tags), f.from, f.end,
		f.ExternalID, f.ImportID, f.ReceiptID, f.Attached,
	}
}

// notNull returns an empty slice for nil, because a nil slice is NULL in SQL.
func notNull[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// selectPage returns the next pageSize transactions with their splits, tags and other legs, by
// keyset: it reads the index of dates from the last transaction of the previous page.
func selectPage(ctx context.Context, q pg.Querier, filter filter) ([]entry, error) {
	after := position{}
	if filter.after != nil {
		after = *filter.after
	}
	ts, err := pg.All[posting.Transaction](ctx, q, fmt.Sprintf(`
		SELECT %s
		FROM transactions t
		WHERE %s AND (t.date, t.id) > (coalesce($11::timestamptz, '-infinity'), $12::uuid)
		ORDER BY t.date, t.id
		LIMIT %d`, posting.TransactionColumns, matches, pageSize),
		append(filter.arguments(), nullTime(filter.after), after.id)...)
	if err != nil {
		return nil, err
	}
	if err := posting.AddDetails(ctx, q, filter.owner, ts); err != nil {
		return nil, err
	}
	return addLegs(ctx, q, filter, ts)
}

// nullTime returns the date of a position, and nil without one.
func nullTime(p *position) *time.Time {
	if p == nil {
		return nil
	}
	return &p.date
}

// addLegs returns ts with the other legs of transfers, also legs that the filters exclude. Without
// a transfer it runs no query.
func addLegs(
	ctx context.Context, q pg.Querier, filter filter, ts []posting.Transaction,
) ([]entry, error) {
	type row struct {
		posting.Transaction
		Exported bool
	}
	var transfers []uuid.UUID
	for _, t := range ts {
		if t.TransferID != nil {
			transfers = append(transfers, *t.TransferID)
		}
	}
	legs := map[uuid.UUID][]row{}
	if len(transfers) > 0 {
		rows, err := pg.All[row](ctx, q, fmt.Sprintf(`
			SELECT %s, %s AS exported
			FROM transactions t
			WHERE t.owner_id = $1 AND t.transfer_id = ANY($11)`,
			posting.TransactionColumns, matches), append(filter.arguments(), transfers)...)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			legs[*r.TransferID] = append(legs[*r.TransferID], r)
		}
	}
	entries := make([]entry, len(ts))
	for i, transaction := range ts {
		entries[i].Transaction = transaction
		if transaction.TransferID == nil {
			continue
		}
		for _, leg := range legs[*transaction.TransferID] {
			if leg.ID != transaction.ID {
				entries[i].other, entries[i].otherExported = &leg.Transaction, leg.Exported
			}
		}
	}
	return entries, nil
}

func selectTagKeys(ctx context.Context, q pg.Querier, names []string) ([]string, error) {
	return pg.Values[string](ctx, q,
		`SELECT `+posting.TagKeySQL("name")+` FROM unnest($1::text[]) AS n (name)`, names)
}
