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
	"github.com/coffer-budget/coffer/services/ledger/rules"
)

// chunkRows is the number of rows that are committed together.
const chunkRows = 500

// commitChunk books the next rows, and ends the job if there are none. after is the number of the last row that was considered.
func (s *Imports) commitChunk(ctx context.Context, j job, after *int32) (finished bool, err error) {
	position := *after
	err = pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		if err := posting.ShareOwner(ctx, tx, j.OwnerID); err != nil {
			return err
		}
		e, err := renewLease(ctx, tx, j)
		if err != nil {
			return err
		}
		rows, err := selectPending(ctx, tx, j.OwnerID, j.ID, *after, chunkRows)
		if err != nil {
			return err
		}
		if finished = len(rows) == 0; finished {
			return s.complete(ctx, tx, j, e)
		}
		position = rows[len(rows)-1].N
		return s.book(ctx, tx, e, rows)
	})
	if err == nil {
		*after = position
	}
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

// chunk holds the rows of a chunk and the transactions that it writes.
type chunk struct {
	entry
	details *ledgerv1.Import
	now     time.Time
	newID   func() uuid.UUID

	// rows are the next rows of the import, and the other sides of their transfers that follow later in the file.
	rows         []row
	transactions []posting.Transaction
}

// book writes the transactions of rows with their outcome, the progress of the import and one event.
func (s *Imports) book(ctx context.Context, tx pgx.Tx, e entry, rows []row) error {
	details, err := e.detailed()
	if err != nil {
		return err
	}
	c := &chunk{entry: e, details: details, now: s.Now(), newID: s.NewID}
	if c.rows, err = addPartners(ctx, tx, e, rows); err != nil {
		return err
	}
	before := slices.Clone(c.rows)
	if err := c.link(ctx, tx); err != nil {
		return err
	}
	if err := c.skipExisting(ctx, tx); err != nil {
		return err
	}
	for i := range c.rows[:len(rows)] {
		if err := c.add(&c.rows[i]); err != nil {
			return err
		}
	}
	if err := c.insert(ctx, tx); err != nil {
		return err
	}
	var finished []row
	for i, r := range c.rows {
		if r.Status != before[i].Status || r.TransactionID != before[i].TransactionID {
			finished = append(finished, r)
		}
	}
	if err := setOutcomes(ctx, tx, e.OwnerID, e.ID, finished); err != nil {
		return err
	}
	ids, counts := applications(finished)
	if err := rules.CountApplied(ctx, tx, e.OwnerID, ids, counts, c.now); err != nil {
		return err
	}
	if err := addProgress(ctx, tx, e, tally(c.rows).minus(tally(before)), int64(len(finished)), s.Now()); err != nil {
		return err
	}
	if len(c.transactions) == 0 {
		return nil
	}
	return s.Publish(ctx, tx, e.OwnerID, imported(e, c.transactions))
}

// insert writes the transactions with their tags.
func (c *chunk) insert(ctx context.Context, tx pgx.Tx) error {
	if len(c.transactions) == 0 {
		return nil
	}
	if err := posting.UseTags(ctx, tx, c.OwnerID, c.now, c.transactions); err != nil {
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
	return nil
}

// addPartners appends the other sides of transfers that follow later in the file.
func addPartners(ctx context.Context, tx pgx.Tx, e entry, rows []row) ([]row, error) {
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
	partners, err := selectNumbered(ctx, tx, e.OwnerID, e.ID, missing)
	return append(rows, partners...), err
}

// partner returns the other side of a row's transfer, or nil.
func (c *chunk) partner(r *row) *row {
	if r.PairN == nil {
		return nil
	}
	i := slices.IndexFunc(c.rows, func(o row) bool { return o.N == *r.PairN })
	if i < 0 {
		return nil
	}
	return &c.rows[i]
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
func (c *chunk) link(ctx context.Context, tx pgx.Tx) error {
	var ids []uuid.UUID
	var externals []string
	for _, r := range c.rows {
		if r.Status == matched && r.TransactionID == nil {
			ids, externals = append(ids, deref(r.DuplicateOf)), append(externals, r.ExternalID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	linkable, err := linkTransactions(ctx, tx, c.OwnerID, c.ID, ids, externals, c.now)
	if err != nil {
		return err
	}
	for i := range c.rows {
		r := &c.rows[i]
		switch {
		case r.Status != matched || r.TransactionID != nil:
		case linkable[deref(r.DuplicateOf)]:
			r.TransactionID = r.DuplicateOf
		default:
			r.Status, r.DuplicateOf = ready, nil
		}
	}
	return nil
}

// skipExisting marks the rows whose external id a transaction of their wallet has: another import has created it since the preview. A
// wallet has an external id once, so a row is booked without it if the user books the row anyway, or if an earlier row of the same
// import has it. Two accounts of a file whose banks use the same ids may belong to one wallet.
func (c *chunk) skipExisting(ctx context.Context, tx pgx.Tx) error {
	var wallets []uuid.UUID
	var externals []string
	taken := map[uuid.UUID]bool{}
	for _, r := range c.rows {
		switch {
		case r.Status == matched:
			taken[deref(r.TransactionID)] = true
		case r.Status == ready && r.ExternalID != "" && r.WalletID != nil:
			wallets, externals = append(wallets, *r.WalletID), append(externals, r.ExternalID)
		}
	}
	if len(wallets) == 0 {
		return nil
	}
	found, err := selectExternal(ctx, tx, c.OwnerID, c.ID, wallets, externals)
	if err != nil {
		return err
	}
	seen := map[external]bool{}
	for i := range c.rows {
		r := &c.rows[i]
		key := external{deref(r.WalletID), r.ExternalID}
		if r.Status != ready || r.ExternalID == "" {
			continue
		}
		t, exists := found[key]
		switch {
		case exists && !t.Own && !taken[t.ID] && r.Action != actionBook:
			r.Status, r.DuplicateOf = duplicate, &t.ID
		case exists || seen[key]:
			r.ExternalID = ""
		default:
			seen[key] = true
		}
	}
	return nil
}
