package imports

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// chunkRows is the number of rows that are committed together.
const chunkRows = 500

// commitChunk books the next rows, and ends the job if there are none.
func (s *Imports) commitChunk(ctx context.Context, j job) (finished bool, err error) {
	err = pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		if err := posting.ShareOwner(ctx, tx, j.OwnerID); err != nil {
			return err
		}
		e, err := renewLease(ctx, tx, j)
		if err != nil {
			return err
		}
		rows, err := selectPending(ctx, tx, j.OwnerID, j.ID, chunkRows)
		if err != nil {
			return err
		}
		if finished = len(rows) == 0; finished {
			return s.complete(ctx, tx, j, e)
		}
		return s.book(ctx, tx, e, rows)
	})
	return finished, err
}

// complete ends a commit.
func (s *Imports) complete(ctx context.Context, tx pgx.Tx, j job, e entry) error {
	if err := setStatus(ctx, tx, e, done, "", s.Now()); err != nil {
		return err
	}
	m, err := s.current(ctx, tx, j)
	if err != nil {
		return err
	}
	return s.Publish(ctx, tx, j.OwnerID, &ledgerv1.ImportCommitted{OwnerId: j.OwnerID.String(), Import: m})
}

// chunk is what a chunk of rows writes.
type chunk struct {
	entry
	details *ledgerv1.Import
	now     time.Time
	newID   func() uuid.UUID

	rows         []row
	transactions []posting.Transaction
	partners     map[int32]*row
}

// book writes the transactions of rows with their outcome, the progress of the import and one event.
func (s *Imports) book(ctx context.Context, tx pgx.Tx, e entry, rows []row) error {
	details, err := e.detailed()
	if err != nil {
		return err
	}
	before := tally(rows)
	if err := link(ctx, tx, e.OwnerID, rows, s.Now()); err != nil {
		return err
	}
	if err := skipExisting(ctx, tx, e.OwnerID, rows); err != nil {
		return err
	}
	c := &chunk{entry: e, details: details, now: s.Now(), newID: s.NewID, rows: rows, partners: map[int32]*row{}}
	if err := c.findPartners(ctx, tx); err != nil {
		return err
	}
	for i := range c.rows {
		if err := c.add(&c.rows[i]); err != nil {
			return err
		}
	}
	if len(c.transactions) > 0 {
		if err := posting.UseTags(ctx, tx, e.OwnerID, s.Now(), c.transactions); err != nil {
			return err
		}
		written, err := posting.Insert(ctx, tx, 0, c.transactions, outbox.Rows{}, nil)
		if err != nil {
			return posting.ClientError(err)
		}
		for _, t := range c.transactions {
			if !written[t.ID] {
				return posting.NotInserted(ctx, tx, t)
			}
		}
	}
	outcome := c.outcomes()
	if err := setOutcomes(ctx, tx, e.OwnerID, e.ID, outcome); err != nil {
		return err
	}
	after := tally(outcome)
	for n, r := range c.partners {
		if r.Status == booked && !slices.ContainsFunc(rows, func(o row) bool { return o.N == n }) {
			before.Ready++
		}
	}
	if err := addProgress(ctx, tx, e, after.minus(before), int64(len(outcome)), s.Now()); err != nil {
		return err
	}
	if len(c.transactions) == 0 {
		return nil
	}
	return s.Publish(ctx, tx, e.OwnerID, imported(e, c.transactions))
}

// imported returns the event of a chunk.
func imported(e entry, ts []posting.Transaction) *ledgerv1.TransactionsImported {
	event := &ledgerv1.TransactionsImported{OwnerId: e.OwnerID.String(), ImportId: e.ID.String(), Count: int32(len(ts))}
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
	return wallets, categories, day(&from), day(&end)
}

// tally counts rows by status.
func tally(rows []row) counts {
	var c counts
	for _, r := range rows {
		switch r.Status {
		case ready:
			c.Ready++
		case duplicate:
			c.Duplicate++
		case matched:
			c.Matched++
		case skipped:
			c.Skipped++
		case booked:
			c.Booked++
		}
	}
	return c
}

// minus returns the difference of two counts.
func (c counts) minus(o counts) counts {
	return counts{
		Ready: c.Ready - o.Ready, Duplicate: c.Duplicate - o.Duplicate, Matched: c.Matched - o.Matched, Invalid: c.Invalid - o.Invalid,
		Skipped: c.Skipped - o.Skipped, Booked: c.Booked - o.Booked, Undone: c.Undone - o.Undone,
	}
}

// link gives the transactions that rows match the external ids of the rows. A row whose transaction was deleted or has an external id
// meanwhile is booked.
func link(ctx context.Context, tx pgx.Tx, owner uuid.UUID, rows []row, now time.Time) error {
	var ids []uuid.UUID
	var externals []string
	for _, r := range rows {
		if r.Status == matched {
			ids, externals = append(ids, deref(r.DuplicateOf)), append(externals, r.ExternalID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	linked, err := linkTransactions(ctx, tx, owner, ids, externals, now)
	if err != nil {
		return err
	}
	for i := range rows {
		r := &rows[i]
		switch {
		case r.Status != matched:
		case linked[deref(r.DuplicateOf)]:
			r.TransactionID = r.DuplicateOf
		default:
			r.Status, r.DuplicateOf = ready, nil
		}
	}
	return nil
}

// skipExisting marks the rows whose external id a transaction of their wallet has: another import has created it since the preview.
func skipExisting(ctx context.Context, tx pgx.Tx, owner uuid.UUID, rows []row) error {
	var wallets []uuid.UUID
	var externals []string
	for _, r := range rows {
		if r.Status == ready && r.ExternalID != "" && r.WalletID != nil {
			wallets, externals = append(wallets, *r.WalletID), append(externals, r.ExternalID)
		}
	}
	existing, err := selectExternal(ctx, tx, owner, wallets, externals)
	if err != nil {
		return err
	}
	for i := range rows {
		r := &rows[i]
		if id, ok := existing[external{deref(r.WalletID), r.ExternalID}]; ok && r.Status == ready {
			if r.Action == actionBook {
				// The user books it anyway. Two transactions of a wallet cannot have the same external id.
				r.ExternalID = ""
				continue
			}
			r.Status, r.DuplicateOf = duplicate, &id
		}
	}
	return nil
}

// findPartners reads the other sides of transfers, which may be behind this chunk.
func (c *chunk) findPartners(ctx context.Context, tx pgx.Tx) error {
	var missing []int32
	for i := range c.rows {
		r := &c.rows[i]
		if r.Status != ready || r.PairN == nil {
			continue
		}
		j := slices.IndexFunc(c.rows, func(o row) bool { return o.N == *r.PairN })
		if j >= 0 {
			c.partners[*r.PairN] = &c.rows[j]
		} else {
			missing = append(missing, *r.PairN)
		}
	}
	others, err := selectNumbered(ctx, tx, c.OwnerID, c.ID, missing)
	if err != nil {
		return err
	}
	for i := range others {
		c.partners[others[i].N] = &others[i]
	}
	return nil
}

// outcomes returns the rows of the chunk, and the other sides of transfers behind it that were booked with them.
func (c *chunk) outcomes() []row {
	all := slices.Clone(c.rows)
	for n, r := range c.partners {
		if r.Status == booked && !slices.ContainsFunc(c.rows, func(o row) bool { return o.N == n }) {
			all = append(all, *r)
		}
	}
	return all
}
