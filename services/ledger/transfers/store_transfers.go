package transfers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// selectTransfer returns an owner's transfer, or pgx.ErrNoRows. The unique index
// transactions_transfer finds both legs. It also guarantees that there is at most one of each sign.
func selectTransfer(ctx context.Context, q pg.Querier, owner, id uuid.UUID) (Transfer, error) {
	legs, err := pg.All[posting.Transaction](ctx, q, `
		SELECT `+posting.TransactionColumns+`
		FROM transactions t
		WHERE t.owner_id = $1 AND t.transfer_id = $2`, owner, id)
	if err != nil {
		return Transfer{}, fmt.Errorf("selecting transfer %s: %w", id, err)
	}
	return pairOf(ctx, q, id, legs)
}

// lockTransfer is selectTransfer with a lock of both rows until tx ends, by id. The caller shares
// or holds the owner's lock, so that MatchTransfer and UnlinkTransfer cannot change which rows are
// legs meanwhile.
func lockTransfer(ctx context.Context, tx pgx.Tx, owner, id uuid.UUID) (Transfer, error) {
	legs, err := pg.All[posting.Transaction](ctx, tx, `
		SELECT `+posting.TransactionColumns+`
		FROM transactions t
		WHERE t.owner_id = $1 AND t.transfer_id = $2
		ORDER BY t.id
		FOR UPDATE`, owner, id)
	if err != nil {
		return Transfer{}, fmt.Errorf("locking transfer %s: %w", id, err)
	}
	return pairOf(ctx, tx, id, legs)
}

// pairOf returns the transfer of the selected legs, with their tags, or pgx.ErrNoRows without legs.
// Any number except two is a broken invariant and becomes an internal error.
func pairOf(ctx context.Context, q pg.Querier, id uuid.UUID, legs []posting.Transaction) (Transfer, error) {
	if len(legs) == 0 {
		return Transfer{}, pgx.ErrNoRows
	}
	if len(legs) != 2 {
		return Transfer{}, fmt.Errorf("selecting transfer %s: it has %d legs", id, len(legs))
	}
	err := posting.AddDetails(ctx, q, legs[0].OwnerID, legs)
	return Of(legs[0], legs[1]), err
}

// lockTransactions locks transactions of the owner by id until tx ends, and returns them by id. It
// omits unknown ids and transactions of other owners.
func lockTransactions(ctx context.Context, tx pgx.Tx, owner uuid.UUID, ids ...uuid.UUID) (map[uuid.UUID]posting.Transaction, error) {
	ts, err := pg.All[posting.Transaction](ctx, tx, `
		SELECT `+posting.TransactionColumns+`
		FROM transactions t
		WHERE t.owner_id = $1 AND t.id = ANY($2)
		ORDER BY t.id
		FOR UPDATE`, owner, ids)
	if err != nil {
		return nil, fmt.Errorf("locking %d transactions: %w", len(ids), err)
	}
	return byID(ctx, tx, owner, ts)
}

// selectTransactions returns transactions of the owner by id. It omits unknown ids and transactions
// of other owners. SuggestTransfers reads the whole rows with it, but only those of the pairs that
// it returns.
func selectTransactions(ctx context.Context, q pg.Querier, owner uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]posting.Transaction, error) {
	ts, err := pg.All[posting.Transaction](ctx, q, `
		SELECT `+posting.TransactionColumns+`
		FROM transactions t
		WHERE t.owner_id = $1 AND t.id = ANY($2)`, owner, ids)
	if err != nil {
		return nil, fmt.Errorf("selecting %d transactions: %w", len(ids), err)
	}
	return byID(ctx, q, owner, ts)
}

// byID returns transactions of an owner by their ids, with splits and tags.
func byID(ctx context.Context, q pg.Querier, owner uuid.UUID, ts []posting.Transaction) (map[uuid.UUID]posting.Transaction, error) {
	if err := posting.AddDetails(ctx, q, owner, ts); err != nil {
		return nil, err
	}
	all := make(map[uuid.UUID]posting.Transaction, len(ts))
	for _, t := range ts {
		all[t.ID] = t
	}
	return all, nil
}

// selectCurrencies returns the currencies of wallets by id. It omits unknown ids and wallets of
// other owners.
func selectCurrencies(ctx context.Context, q pg.Querier, owner uuid.UUID, wallets []uuid.UUID) (map[uuid.UUID]string, error) {
	type row struct {
		ID       uuid.UUID
		Currency string
	}
	rows, err := pg.All[row](ctx, q, `SELECT id, currency FROM wallets WHERE owner_id = $1 AND id = ANY($2)`, owner, wallets)
	if err != nil {
		return nil, fmt.Errorf("selecting the currencies of %d wallets: %w", len(wallets), err)
	}
	currencies := make(map[uuid.UUID]string, len(rows))
	for _, r := range rows {
		currencies[r.ID] = r.Currency
	}
	return currencies, nil
}

// Complete returns the transfers of outgoing legs of an owner, by the id of the leg. The caller has
// loaded the tags of the legs, because the API shows a transfer with the tags of its outgoing leg.
// One statement reads the other legs of all of them. Package sync calls it for a page of changes,
// in which the outgoing leg also carries the transfer.
func Complete(ctx context.Context, q pg.Querier, owner uuid.UUID, out []posting.Transaction) (map[uuid.UUID]Transfer, error) {
	if len(out) == 0 {
		return map[uuid.UUID]Transfer{}, nil
	}
	byTransfer := make(map[uuid.UUID]posting.Transaction, len(out))
	for _, leg := range out {
		byTransfer[*leg.TransferID] = leg
	}
	legs, err := pg.All[posting.Transaction](ctx, q, `
		SELECT `+posting.TransactionColumns+`
		FROM transactions t
		WHERE t.owner_id = $1 AND t.transfer_id = ANY($2) AND t.amount_minor > 0`, owner, slices.Collect(maps.Keys(byTransfer)))
	if err != nil {
		return nil, fmt.Errorf("selecting the second legs of %d transfers: %w", len(out), err)
	}
	transfers := make(map[uuid.UUID]Transfer, len(out))
	for _, leg := range legs {
		t := Transfer{Out: byTransfer[*leg.TransferID], In: leg}
		transfers[t.Out.ID] = t
	}
	return transfers, nil
}

// transferList is a parsed ListTransfers request. wallet is nil without a filter.
type transferList struct {
	owner     uuid.UUID
	wallet    *uuid.UUID
	from, end time.Time
	after     position
	limit     int
}

// examinedTransfers is the maximum number of transfers that a page with a filter by wallet
// examines.
const examinedTransfers = 10_000

// outgoing is the condition on the outgoing legs o in the window of a list, after the previous
// page.
const outgoing = `o.owner_id = $1 AND o.transfer_id IS NOT NULL AND o.amount_minor < 0
	AND o.date >= $2 AND o.date < $3 AND (o.date, o.id) < ($4, $5)`

// selectTransfers returns the transfers of a page, up to the place until inclusively. Its subquery
// reads the outgoing legs in the order of the index transactions_transfers. The filter by wallet
// examines each transfer until the page is full. Both the filter and the join find a second leg by
// the index transactions_transfer. The last expression of the outer order puts the outgoing leg
// first, so two successive rows are one transfer.
func selectTransfers(ctx context.Context, q pg.Querier, l transferList, until position) ([]Transfer, error) {
	legs, err := pg.All[posting.Transaction](ctx, q, `
		SELECT `+posting.TransactionColumns+`
		FROM (
			SELECT o.transfer_id, o.date, o.id
			FROM transactions o
			WHERE `+outgoing+` AND (o.date, o.id) >= ($6, $7)
				AND ($8::uuid IS NULL OR o.wallet_id = $8 OR EXISTS (
					SELECT FROM transactions i
					WHERE i.owner_id = o.owner_id AND i.transfer_id = o.transfer_id AND i.wallet_id = $8))
			ORDER BY o.date DESC, o.id DESC
			LIMIT $9
		) AS p
		JOIN transactions t ON t.owner_id = $1 AND t.transfer_id = p.transfer_id
		ORDER BY p.date DESC, p.id DESC, t.amount_minor > 0`,
		l.owner, l.from, l.end, l.after.Date, l.after.ID, until.Date, until.ID, l.wallet, l.limit)
	if err != nil {
		return nil, fmt.Errorf("selecting transfers: %w", err)
	}
	if err := posting.AddDetails(ctx, q, l.owner, legs); err != nil {
		return nil, err
	}
	transfers := make([]Transfer, len(legs)/2)
	for i := range transfers {
		transfers[i] = Transfer{Out: legs[2*i], In: legs[2*i+1]}
	}
	return transfers, nil
}

// selectExamined returns the place of the last transfer that a page may examine, or pgx.ErrNoRows
// if the list ends before.
func selectExamined(ctx context.Context, q pg.Querier, l transferList) (position, error) {
	end, err := pg.One[position](ctx, q, `
		SELECT o.date, o.id
		FROM transactions o
		WHERE `+outgoing+`
		ORDER BY o.date DESC, o.id DESC
		OFFSET `+strconv.Itoa(examinedTransfers-1)+`
		LIMIT 1`, l.owner, l.from, l.end, l.after.Date, l.after.ID)
	if err != nil {
		return position{}, fmt.Errorf("selecting the last transfer to examine: %w", err)
	}
	return end, nil
}

// selectPairs returns pairs of transactions in a window that look like one transfer: opposite
// amounts in one currency, in two wallets, at most maxDaysApart days apart. Pairs with the fewest
// days between them come first, because choose prefers them.
//
// The work of a request is limited. The CTE examined has the newest examinedRows transactions, and
// candidate at most examinedPerDay of those with the same day and amount. Both are MATERIALIZED, so
// that the join reads them by equality of currency, amount and day: the series of days turns a
// range of days into equalities, for which PostgreSQL uses a hash.
func selectPairs(ctx context.Context, q pg.Querier, owner uuid.UUID, from, end time.Time) ([]pair, error) {
	pairs, err := pg.All[pair](ctx, q, fmt.Sprintf(`
		WITH examined AS MATERIALIZED (
			SELECT id, wallet_id, currency, amount_minor, date, (date AT TIME ZONE 'UTC')::date AS day
			FROM transactions
			WHERE owner_id = $1 AND date >= $2 AND date < $3
				AND transfer_id IS NULL AND receipt_id IS NULL AND split_count = 0
			ORDER BY date DESC, id DESC
			LIMIT %[1]d
		), candidate AS MATERIALIZED (
			SELECT *
			FROM (
				SELECT *, row_number() OVER (PARTITION BY currency, amount_minor, day ORDER BY id) AS place
				FROM examined
			) AS e
			WHERE place <= %[2]d
		)
		SELECT o.id AS out_id, i.id AS in_id, o.date
		FROM candidate o
		CROSS JOIN generate_series(-%[3]d, %[3]d) AS apart
		JOIN candidate i ON i.currency = o.currency AND i.amount_minor = -o.amount_minor AND i.day = o.day + apart
		WHERE o.amount_minor < 0 AND i.wallet_id <> o.wallet_id
		ORDER BY abs(apart), o.id, i.id
		LIMIT %[1]d`, examinedRows, examinedPerDay, maxDaysApart), owner, from, end)
	if err != nil {
		return nil, fmt.Errorf("selecting pairs of transactions: %w", err)
	}
	return pairs, nil
}

// counterpart is a transaction that may be the leg at a position, from 1.
type counterpart struct {
	Position int64
	ID       uuid.UUID
}

// selectCounterparts returns the transactions that may be the given legs: they have the wallet, the
// currency and the amount of a leg, are at most maxDaysApart days apart from it, and fulfill the
// conditions of a match (see unfit). The nearest days come first. A leg has at most as many
// counterparts as there are legs, because the other legs cannot take more of them.
func selectCounterparts(ctx context.Context, q pg.Querier, owner uuid.UUID, legs []posting.Transaction) ([]counterpart, error) {
	wallets, currencies := make([]uuid.UUID, len(legs)), make([]string, len(legs))
	amounts, days := make([]int64, len(legs)), make([]time.Time, len(legs))
	for i, t := range legs {
		wallets[i], currencies[i], amounts[i], days[i] = t.WalletID, t.Currency, t.AmountMinor, t.Date.UTC()
	}
	found, err := pg.All[counterpart](ctx, q, fmt.Sprintf(`
		SELECT l.position, c.id
		FROM unnest($2::uuid[], $3::text[], $4::bigint[], $5::date[]) WITH ORDINALITY AS l (wallet_id, currency, amount_minor, day, position)
		CROSS JOIN LATERAL (
			SELECT t.id, abs((t.date AT TIME ZONE 'UTC')::date - l.day) AS apart
			FROM transactions t
			WHERE t.owner_id = $1 AND t.wallet_id = l.wallet_id AND t.currency = l.currency AND t.amount_minor = l.amount_minor
				AND t.date >= (l.day - %[1]d)::timestamp AT TIME ZONE 'UTC' AND t.date < (l.day + %[1]d + 1)::timestamp AT TIME ZONE 'UTC'
				AND t.transfer_id IS NULL AND t.receipt_id IS NULL AND t.split_count = 0
			ORDER BY apart, t.id
			LIMIT cardinality($2)
		) AS c
		ORDER BY c.apart, l.position, c.id`, maxDaysApart), owner, wallets, currencies, amounts, days)
	if err != nil {
		return nil, fmt.Errorf("selecting the counterparts of %d legs: %w", len(legs), err)
	}
	return found, nil
}
