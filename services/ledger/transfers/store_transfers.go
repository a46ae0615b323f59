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
		return Transfer{}, err
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
		return Transfer{}, err
	}
	return pairOf(ctx, tx, id, legs)
}

// pairOf returns the transfer of the selected legs, with their tags, or pgx.ErrNoRows without legs.
// Any number except two is a broken invariant and becomes an internal error.
func pairOf(
	ctx context.Context, q pg.Querier, id uuid.UUID, legs []posting.Transaction,
) (Transfer, error) {
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
func lockTransactions(
	ctx context.Context, tx pgx.Tx, owner uuid.UUID, ids ...uuid.UUID,
) (map[uuid.UUID]posting.Transaction, error) {
	ts, err := posting.LockAll(ctx, tx, owner, ids)
	if err != nil {
		return nil, err
	}
	return byID(ctx, tx, owner, ts)
}

// selectTransactions returns transactions of the owner by id. It omits unknown ids and transactions
// of other owners. SuggestTransfers reads the whole rows with it, but only those of the pairs that
// it returns.
func selectTransactions(
	ctx context.Context, q pg.Querier, owner uuid.UUID, ids []uuid.UUID,
) (map[uuid.UUID]posting.Transaction, error) {
	ts, err := pg.All[posting.Transaction](ctx, q, `
		SELECT `+posting.TransactionColumns+`
		FROM transactions t
		WHERE t.owner_id = $1 AND t.id = ANY($2)`, owner, ids)
	if err != nil {
		return nil, err
	}
	return byID(ctx, q, owner, ts)
}

func byID(
	ctx context.Context, q pg.Querier, owner uuid.UUID, ts []posting.Transaction,
) (map[uuid.UUID]posting.Transaction, error) {
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
func selectCurrencies(
	ctx context.Context, q pg.Querier, owner uuid.UUID, wallets []uuid.UUID,
) (map[uuid.UUID]string, error) {
	type row struct {
		ID       uuid.UUID
		Currency string
	}
	rows, err := pg.All[row](ctx, q,
		`SELECT id, currency FROM wallets WHERE owner_id = $1 AND id = ANY($2)`, owner, wallets)
	if err != nil {
		return nil, err
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
func Complete(
	ctx context.Context, q pg.Querier, owner uuid.UUID, out []posting.Transaction,
) (map[uuid.UUID]Transfer, error) {
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
		WHERE t.owner_id = $1 AND t.transfer_id = ANY($2) AND t.amount_minor > 0`,
		owner, slices.Collect(maps.Keys(byTransfer)))
	if err != nil {
		return nil, err
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
func selectTransfers(
	ctx context.Context, q pg.Querier, list transferList, until position,
) ([]Transfer, error) {
	legs, err := pg.All[posting.Transaction](ctx, q, `
		SELECT `+posting.TransactionColumns+`
		FROM (
			SELECT o.transfer_id, o.date, o.id
			FROM transactions o
			WHERE `+outgoing+` AND (o.date, o.id) >= ($6, $7)
				AND ($8::uuid IS NULL OR o.wallet_id = $8 OR EXISTS (
					SELECT FROM transactions i
					WHERE i.owner_id = $1 AND i.transfer_id = o.transfer_id
						AND i.wallet_id = $8))
			ORDER BY o.date DESC, o.id DESC
			LIMIT $9
		) AS p
		JOIN transactions t ON t.owner_id = $1 AND t.transfer_id = p.transfer_id
		ORDER BY p.date DESC, p.id DESC, t.amount_minor > 0`,
		list.owner, list.from, list.end, list.after.Date, list.after.ID, until.Date, until.ID,
		list.wallet, list.limit)
	if err != nil {
		return nil, err
	}
	if err := posting.AddDetails(ctx, q, list.owner, legs); err != nil {
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
	return pg.One[position](ctx, q, `
		SELECT o.date, o.id
		FROM transactions o
		WHERE `+outgoing+`
		ORDER BY o.date DESC, o.id DESC
		OFFSET `+strconv.Itoa(examinedTransfers-1)+`
		LIMIT 1`, l.owner, l.from, l.end, l.after.Date, l.after.ID)
}
