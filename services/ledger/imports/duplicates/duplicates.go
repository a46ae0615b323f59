// Package duplicates finds staged rows whose transaction exists already. Wrong duplicates are worse
// than missed ones, because they lose money: an equal external id skips a row, and a row that looks
// like an existing transaction, with texts that agree, is shown as matched. A row of the same day
// and amount whose texts differ stays ready and names the transaction, so that the user decides.
//
// The work is linear in the rows of the import and in the transactions of its days, also if
// PostgreSQL has no statistics, and if all payments have one day and amount: each statement reads
// rows of one index in order, and the number of comparisons is limited by maxCandidates and
// maxComparisons. A row that reaches a limit without a match names a transaction like one whose
// texts differ.
//
//   - duplicates.go: Find and Search, which reads rows and transactions in steps. Start here
//   - match.go: which row is which transaction, without a database. near.go: the transactions that
//     a row is compared with
//   - pending.go and store_pending.go: rows that book a payment that was pending in an earlier file
//   - legs.go: rows whose other side matches a leg of a transfer that exists
//   - similarity.go and agreement.go: the comparison of texts
//   - store_duplicates.go: the statements. stretches.go: the days whose transactions are read
package duplicates

import (
	"context"
	"math"
	"slices"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// stepStretches is the number of stretches whose transactions a step reads: about a year.
const stepStretches = 12

// Find marks the rows whose transaction exists already: as duplicate if it has the external id of
// the row, as matched if it is pending and the row seems to be its booking, and as matched if a
// transaction without an external id, or of an import of another format, looks like the same
// payment. ns limits it to these rows; nil means all.
//
// Two rows of one file are never compared: two equal coffees on one day are two.
func Find(ctx context.Context, q pg.Querier, owner, id uuid.UUID, format string, ns []int32) error {
	s := NewSearch(owner, id, format, ns)
	for {
		if finished, err := s.Step(ctx, q, math.MaxInt32); err != nil || finished {
			return err
		}
	}
}

// Search is Find in steps, which may be database transactions of their own. Nothing else may change
// the rows meanwhile. A search that starts again after some steps has the same result.
type Search struct {
	owner, id uuid.UUID
	format    string
	span      span
	next      func(ctx context.Context, q pg.Querier, limit int) (finished bool, err error)

	// stretches are the days whose transactions are not read yet. others are the imports of other
	// formats.
	stretches []stretch
	others    []uuid.UUID
	// found holds the transactions that may be payments of rows, by what must be equal.
	found map[key][]existing
	// taken holds the transactions that rows of the import match already. It is nil until it is
	// needed.
	taken map[uuid.UUID]bool
	// wanted are the rows that may be a transaction in found. after is the last row that was read.
	wanted []wanted
	after  int32
	// paired are the rows whose other side is a row, too.
	paired []pairedRow
	// pending are the bookings of pending payments so far, and lastPending is the last of these
	// payments that was read.
	pending     replacements
	lastPending pendingTransaction
	// results are the outcomes that are not written yet.
	results []result
}

// NewSearch returns a search before its first step. Its arguments are those of Find.
func NewSearch(owner, id uuid.UUID, format string, ns []int32) *Search {
	s := &Search{
		owner: owner, id: id, format: format, span: span{ns: ns, last: math.MaxInt32},
		found: map[key][]existing{},
	}
	if len(ns) > 0 {
		s.span.first, s.span.last = slices.Min(ns), slices.Max(ns)
	}
	s.next = s.begin
	return s
}

// Step reads or writes up to limit rows, and reports whether it was the last step.
func (s *Search) Step(ctx context.Context, q pg.Querier, limit int) (finished bool, err error) {
	return s.next(ctx, q, limit)
}

// begin finds the days whose transactions are read, and reads those of receipts.
func (s *Search) begin(ctx context.Context, q pg.Querier, _ int) (finished bool, err error) {
	days, err := selectDays(ctx, q, s.owner, s.id, s.span)
	if err != nil || len(days) == 0 {
		return err == nil, err
	}
	s.stretches = stretches(days)
	if s.others, err = selectOtherImports(ctx, q, s.owner, s.format); err != nil {
		return false, err
	}
	receipts, err := selectReceipts(ctx, q, s.owner, s.stretches)
	s.add(receipts)
	s.next = s.readTransactions
	return false, err
}

func (s *Search) add(found []existing) {
	for _, e := range found {
		s.found[e.key()] = append(s.found[e.key()], e)
	}
}

// readTransactions reads the transactions of the next stretches.
func (s *Search) readTransactions(
	ctx context.Context, q pg.Querier, _ int,
) (finished bool, err error) {
	n := min(len(s.stretches), stepStretches)
	found, err := selectExisting(ctx, q, s.owner, s.id, s.others, s.stretches[:n])
	s.add(found)
	if s.stretches = s.stretches[n:]; len(s.stretches) == 0 {
		for _, group := range s.found {
			slices.SortStableFunc(group, compareInGroup)
		}
		s.next = s.readRows
	}
	return false, err
}

// readRows marks the duplicates among the next rows, and remembers those of the others that may be
// one of the transactions.
func (s *Search) readRows(
	ctx context.Context, q pg.Querier, limit int,
) (finished bool, err error) {
	rows, err := selectWanted(ctx, q, s.owner, s.id, s.span, s.after, min(limit, pageRows))
	if err != nil {
		return false, err
	}
	if len(rows) == 0 {
		s.next = s.readPending
		return false, nil
	}
	s.after = rows[len(rows)-1].N
	known, err := s.markDuplicates(ctx, q, rows)
	if err != nil {
		return false, err
	}
	for _, r := range rows {
		if known[r.N] || r.Pending {
			continue
		}
		if r.PairN != nil {
			s.paired = append(s.paired, pairedRow{r.N, *r.PairN})
		}
		if !s.hasNear(r) {
			continue
		}
		if err := s.loadTaken(ctx, q); err != nil {
			return false, err
		}
		s.wanted = append(s.wanted, r)
	}
	return false, nil
}

// hasNear reports whether a transaction may be the payment of a row.
func (s *Search) hasNear(r wanted) bool {
	group := s.found[r.key()]
	indexes, _ := near(r.Day, len(group), in(group), 1)
	return len(indexes) > 0
}

// readPending compares the next transactions of pending payments with all rows.
func (s *Search) readPending(
	ctx context.Context, q pg.Querier, _ int,
) (finished bool, err error) {
	page, err := selectPending(ctx, q, s.owner, s.id, s.lastPending, pendingPage)
	if err != nil {
		return false, err
	}
	if len(page) < pendingPage {
		s.next = s.matchRows
	}
	if len(page) == 0 {
		return false, nil
	}
	s.lastPending = page[len(page)-1]
	if err := s.loadTaken(ctx, q); err != nil {
		return false, err
	}
	s.pending.load(slices.DeleteFunc(page, func(t pendingTransaction) bool {
		return s.taken[t.ID]
	}))
	return false, s.pending.selectRows(ctx, q, s.owner, s.id, s.span)
}

// matchRows matches rows with the transactions of pending payments that they book, and then the
// others.
func (s *Search) matchRows(
	ctx context.Context, q pg.Querier, _ int,
) (finished bool, err error) {
	if err := s.pending.selectTexts(ctx, q, s.owner, s.id); err != nil {
		return false, err
	}
	booked := s.pending.assign()
	if err := setReplacements(ctx, q, s.owner, s.id, booked); err != nil {
		return false, err
	}
	done := map[int32]bool{}
	for _, r := range booked {
		done[r.n], s.taken[r.transaction.ID] = true, true
	}
	s.wanted = slices.DeleteFunc(s.wanted, func(r wanted) bool { return done[r.N] })
	s.results = match(s.wanted, s.found, s.taken)
	for _, r := range s.results {
		done[r.n] = true
		if r.status == matched {
			s.taken[r.transaction] = true
		}
	}
	for _, r := range s.pending.possible(booked) {
		if !done[r.n] {
			s.results = append(s.results, r)
		}
	}
	s.pending = replacements{}
	s.wanted, s.found, s.next = nil, nil, s.write
	return false, nil
}

// markDuplicates marks the rows whose external id a transaction of the wallet has, and returns
// their numbers. It ignores transactions that this import has created or matched before it failed.
func (s *Search) markDuplicates(
	ctx context.Context, q pg.Querier, rows []wanted,
) (known map[int32]bool, err error) {
	wallets, ids := make([]uuid.UUID, len(rows)), make([]*string, len(rows))
	for i, r := range rows {
		wallets[i] = r.WalletID
		if r.ExternalID != "" {
			ids[i] = &rows[i].ExternalID
		}
	}
	found, err := posting.SelectExternal(ctx, q, s.owner, wallets, ids)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	if err := s.loadTaken(ctx, q); err != nil {
		return nil, err
	}
	known = map[int32]bool{}
	var results []result
	for _, t := range found {
		if t.ImportID != nil && *t.ImportID == s.id || s.taken[t.ID] {
			continue
		}
		n := rows[t.Position-1].N
		known[n] = true
		results = append(results, result{n, t.ID, duplicate})
	}
	return known, setResults(ctx, q, s.owner, s.id, results)
}

func (s *Search) loadTaken(ctx context.Context, q pg.Querier) (err error) {
	if s.taken == nil {
		s.taken, err = SelectTaken(ctx, q, s.owner, s.id)
	}
	return err
}

// write writes the next outcomes.
func (s *Search) write(ctx context.Context, q pg.Querier, limit int) (finished bool, err error) {
	n := min(len(s.results), limit, pageRows)
	err = setResults(ctx, q, s.owner, s.id, s.results[:n])
	if s.results = s.results[n:]; len(s.results) == 0 {
		s.next = s.matchLegs
	}
	return len(s.results) == 0 && len(s.paired) == 0, err
}
