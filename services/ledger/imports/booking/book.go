package booking

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/rules"
)

// inChunk runs fn in a transaction that has the owner's lock and the renewed lease of the job.
func (x *executor) inChunk(
	ctx context.Context, j jobs.Job, fn func(tx pgx.Tx, e staging.Import) error,
) error {
	return pg.InTx(ctx, x.DB, func(tx pgx.Tx) error {
		if err := posting.LockOwner(ctx, tx, j.OwnerID); err != nil {
			return err
		}
		e, err := renewLease(ctx, tx, j)
		if err != nil {
			return err
		}
		return fn(tx, e)
	})
}

// commitChunk books the next rows. If there are none, it restores the next reconciliation, and ends
// the job after the last one. after is the number of the last row that was considered.
func (x *executor) commitChunk(
	ctx context.Context, j jobs.Job, after *int32, pace *jobs.Pace,
) (finished bool, err error) {
	position := *after
	err = x.inChunk(ctx, j, func(tx pgx.Tx, e staging.Import) error {
		rows, err := staging.SelectUnfinished(ctx, tx, j.OwnerID, j.ID, *after, pace.Rows())
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			found, err := x.reconcile(ctx, tx, e)
			if finished = err == nil && !found; finished {
				err = x.complete(ctx, tx, j, e)
			}
			return err
		}
		position = rows[len(rows)-1].N
		return x.book(ctx, tx, e, rows)
	})
	if err == nil {
		*after = position
	}
	return finished, err
}

// complete ends a commit.
func (x *executor) complete(ctx context.Context, tx pgx.Tx, j jobs.Job, e staging.Import) error {
	if err := setStatus(ctx, tx, e, staging.Done, "", x.Now()); err != nil {
		return err
	}
	m, err := summary(ctx, tx, j.OwnerID, j.ID)
	if err != nil {
		return err
	}
	return x.Publish(ctx, tx, j.OwnerID,
		&ledgerv1.ImportCommitted{OwnerId: j.OwnerID.String(), Import: m})
}

// chunk holds the rows of a chunk and the transactions that it writes.
type chunk struct {
	staging.Import
	details *ledgerv1.Import
	now     time.Time
	newID   func() uuid.UUID

	// rows are the next rows of the import, and the other sides of their transfers that follow
	// later in the file.
	rows         []staging.Row
	transactions []posting.Transaction
	// pairs holds the existing transactions that become the other legs of new ones, by the index of
	// the new one.
	pairs map[int]posting.Transaction
}

// book writes the transactions of rows with their outcome, the progress of the import and one
// event. The steps have this order:
//
//  1. Rows whose leg of a transfer another file has created since the preview match it. Rows that
//     match the transaction of a pending payment replace it, other rows that match a transaction
//     are linked to it, and rows that have become duplicates since the preview are skipped. A row
//     whose other side is a leg of an existing transfer is linked to the other leg.
//  2. The other rows become transactions, and those are inserted with one statement, or with two if
//     the other legs of transfers may exist.
//  3. The outcomes of the rows, the counts of rules and the progress are stored, and the event is
//     added.
//  4. Rows whose transfer has its other leg already are matched with it.
func (x *executor) book(
	ctx context.Context, tx pgx.Tx, e staging.Import, rows []staging.Row,
) error {
	details, err := e.ReadDetails()
	if err != nil {
		return err
	}
	c := &chunk{
		Import: e, details: details, now: x.Now(), newID: x.NewID,
		pairs: map[int]posting.Transaction{},
	}
	if c.rows, err = addPartners(ctx, tx, e, rows); err != nil {
		return err
	}
	before := slices.Clone(c.rows)
	if err := c.recognize(ctx, tx); err != nil {
		return err
	}
	if err := c.replace(ctx, tx, x.Ledger); err != nil {
		return err
	}
	if err := c.link(ctx, tx); err != nil {
		return err
	}
	if err := c.skipExisting(ctx, tx); err != nil {
		return err
	}
	if err := c.linkPairs(ctx, tx); err != nil {
		return err
	}
	if err := c.create(ctx, tx, c.rows[:len(rows)]); err != nil {
		return err
	}
	var finished []staging.Row
	for i, r := range c.rows {
		if r.Status != before[i].Status || r.TransactionID != before[i].TransactionID {
			finished = append(finished, r)
		}
	}
	if err := setOutcomes(ctx, tx, e.OwnerID, e.ID, finished); err != nil {
		return err
	}
	ids, applied := applications(finished)
	if err := rules.CountApplied(ctx, tx, e.OwnerID, ids, applied, c.now); err != nil {
		return err
	}
	added := staging.Tally(c.rows).Minus(staging.Tally(before))
	if err := addProgress(ctx, tx, e, added, int64(len(finished)), x.Now()); err != nil {
		return err
	}
	if len(c.transactions) == 0 {
		return nil
	}
	if err := x.Publish(ctx, tx, e.OwnerID, imported(e, c.transactions)); err != nil {
		return err
	}
	return c.match(ctx, tx, x.Ledger)
}

// create writes the transactions of rows. The rows of transfers whose other leg may exist come
// last, because it may be another row of the chunk.
func (c *chunk) create(ctx context.Context, tx pgx.Tx, rows []staging.Row) error {
	var last []*staging.Row
	for i := range rows {
		r := &rows[i]
		if c.mayExist(r) {
			last = append(last, r)
			continue
		}
		if err := c.add(r); err != nil {
			return err
		}
	}
	if err := c.insert(ctx, tx, c.transactions); err != nil {
		return err
	}
	first := len(c.transactions)
	if err := c.addToExisting(ctx, tx, last); err != nil {
		return err
	}
	return c.insert(ctx, tx, c.transactions[first:])
}

// insert writes transactions with their tags. A wallet or category that was deleted since the
// preview ends the job with a public error; the user can assign another one and commit again.
func (c *chunk) insert(ctx context.Context, tx pgx.Tx, ts []posting.Transaction) error {
	if len(ts) == 0 {
		return nil
	}
	if err := posting.UseTags(ctx, tx, c.OwnerID, c.now, ts); err != nil {
		return err
	}
	written, err := posting.Insert(ctx, tx, 0, ts, outbox.Rows{}, nil)
	if err != nil {
		return posting.ClientError(err)
	}
	for _, t := range ts {
		if !written[t.ID] {
			return posting.NotInserted(ctx, tx, t)
		}
	}
	return nil
}

// addPartners appends the other sides of transfers that follow later in the file. Both legs of a
// transfer must be written in one transaction, so the side that comes first books both.
func addPartners(
	ctx context.Context, tx pgx.Tx, e staging.Import, rows []staging.Row,
) ([]staging.Row, error) {
	known := map[int32]bool{}
	for _, r := range rows {
		known[r.N] = true
	}
	var missing []int32
	for _, r := range rows {
		if r.PairN != nil && !known[*r.PairN] {
			missing = append(missing, *r.PairN)
		}
	}
	if len(missing) == 0 {
		return rows, nil
	}
	partners, err := staging.SelectNumbered(ctx, tx, e.OwnerID, e.ID, missing)
	return append(rows, partners...), err
}

// partner returns the other side of a row's transfer, or nil. The user may have chosen another
// wallet for one of the two rows, which are then no pair.
func (c *chunk) partner(r *staging.Row) *staging.Row {
	if r.PairN == nil {
		return nil
	}
	i := slices.IndexFunc(c.rows, func(o staging.Row) bool { return o.N == *r.PairN })
	if i < 0 || deref(c.rows[i].WalletID) != deref(r.TransferWalletID) ||
		deref(c.rows[i].TransferWalletID) != deref(r.WalletID) {
		return nil
	}
	return &c.rows[i]
}

// imported returns the event of a chunk. One event for all transactions of a chunk suffices:
// consumers need the wallets, the categories and the days to check budgets again, and 200 000
// events would flood webhooks.
func imported(e staging.Import, ts []posting.Transaction) *ledgerv1.TransactionsImported {
	event := &ledgerv1.TransactionsImported{
		OwnerId: e.OwnerID.String(), ImportId: e.ID.String(), Count: int32(len(ts)),
	}
	event.WalletIds, event.CategoryIds, event.FirstDate, event.LastDate = concerned(ts)
	return event
}

// concerned returns the wallets and categories of transactions and their first and last day.
func concerned(ts []posting.Transaction) (wallets, categories []string, first, last string) {
	add := func(to *[]string, id string) {
		if !slices.Contains(*to, id) {
			*to = append(*to, id)
		}
	}
	from, end := ts[0].Date, ts[0].Date
	for _, t := range ts {
		add(&wallets, t.WalletID.String())
		if t.CategoryID != nil {
			add(&categories, t.CategoryID.String())
		}
		for _, p := range t.Splits {
			add(&categories, p.CategoryID.String())
		}
		if t.Date.Before(from) {
			from = t.Date
		}
		if t.Date.After(end) {
			end = t.Date
		}
	}
	return wallets, categories, staging.Day(&from), staging.Day(&end)
}

// applications returns the rules that changed booked rows, and the numbers of these rows.
func applications(rows []staging.Row) (ids []uuid.UUID, counts []int32) {
	at := map[uuid.UUID]int{}
	for _, r := range rows {
		if r.Status != staging.Booked {
			continue
		}
		for _, id := range r.RuledTexts().Rules {
			if _, ok := at[id]; !ok {
				at[id] = len(ids)
				ids, counts = append(ids, id), append(counts, 0)
			}
			counts[at[id]]++
		}
	}
	return ids, counts
}
