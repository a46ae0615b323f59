// Package duplicates finds staged rows whose transaction exists already. Wrong duplicates are worse
// than missed ones, because they lose money: only an equal external id skips a row, and a row that
// looks like an existing transaction is shown as matched. match decides, and needs no database.
//
//   - duplicates.go: Find and match. Start reading here. store_duplicates.go: the candidates, and
//     the status of their rows
//   - pending.go and store_pending.go: rows that book a payment that was pending in an earlier file
//   - similarity.go and agreement.go: the comparison of texts
package duplicates

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
)

// minSimilarity is the similarity of texts from which two payments of different days are the same.
const minSimilarity = 0.3

// Find marks the rows whose transaction exists already: as duplicate if it has the external id of
// the row, as matched if it is pending and the row seems to be its booking, and as matched if a
// transaction without an external id, or of an import of another format, looks like the same
// payment. ns limits it to these rows; nil means all.
//
// Two rows of one file are never compared: two equal coffees on one day are two.
func Find(ctx context.Context, q pg.Querier, owner, id uuid.UUID, format string, ns []int32) error {
	s := span{ns: ns, last: math.MaxInt32}
	if len(ns) > 0 {
		s.first, s.last = slices.Min(ns), slices.Max(ns)
	}
	if err := markDuplicates(ctx, q, owner, id, s); err != nil {
		return err
	}
	if err := matchPending(ctx, q, owner, id, s); err != nil {
		return err
	}
	candidates, err := selectCandidates(ctx, q, owner, id, format, s)
	if err != nil {
		return err
	}
	rows, transactions := match(candidates)
	return setMatches(ctx, q, owner, id, rows, transactions)
}

// matchPending matches ready rows with the transactions of pending payments that they book.
func matchPending(ctx context.Context, q pg.Querier, owner, id uuid.UUID, s span) error {
	pending, err := selectPending(ctx, q, owner, id)
	if err != nil || len(pending) == 0 {
		return err
	}
	c := &replacements{pending: pending}
	if err := c.selectRows(ctx, q, owner, id, s); err != nil {
		return err
	}
	return setReplacements(ctx, q, owner, id, c.assign())
}

// match assigns each transaction to at most one row and each row to at most one transaction: the
// nearest day first, then the most similar text, then the transaction that was created first. A
// receipt takes all its transactions.
func match(candidates []candidate) (rows []int32, transactions []uuid.UUID) {
	type scored struct {
		candidate
		similarity float64
	}
	var likely []scored
	for _, c := range candidates {
		s := scored{c, similarity(c.Text, c.RowText)}
		if c.Days == 0 || s.similarity >= minSimilarity {
			likely = append(likely, s)
		}
	}
	slices.SortStableFunc(likely, func(a, b scored) int {
		return cmp.Or(cmp.Compare(a.Days, b.Days), cmp.Compare(b.similarity, a.similarity))
	})
	takenRows, taken := map[int32]bool{}, map[uuid.UUID]bool{}
	for _, c := range likely {
		if takenRows[c.N] ||
			slices.ContainsFunc(c.Parts, func(id uuid.UUID) bool { return taken[id] }) {
			continue
		}
		takenRows[c.N] = true
		for _, id := range c.Parts {
			taken[id] = true
		}
		rows, transactions = append(rows, c.N), append(transactions, c.TransactionID)
	}
	return rows, transactions
}
