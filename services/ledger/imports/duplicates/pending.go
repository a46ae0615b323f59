package duplicates

import (
	"cmp"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
)

// Limits of the changes of a payment between its reservation and its booking: a tip or a rate of
// exchange changes the amount, and weekends the day.
const (
	maxPendingDays = 7
	// pendingShare is the inverse of the share by which the amount may differ: 20 %.
	pendingShare = 5
)

// payment is what a row and a pending transaction have in common.
type payment struct {
	WalletID    uuid.UUID `db:"wallet_id"`
	Currency    string
	AmountMinor int64 `db:"amount_minor"`
	// Day is the number of days since 2000-01-01.
	Day        int32
	ExternalID string `db:"external_id"`
	// Text joins the payee and the description.
	Text string
}

// pendingTransaction is a transaction of a payment that was pending in an earlier file.
type pendingTransaction struct {
	ID uuid.UUID
	payment
	// Date is the day with its time.
	Date time.Time
	// Fixed is set if the amount cannot change, because the transaction has splits or is a leg of a
	// transfer.
	Fixed bool
}

// bookedRow is a ready row of the import.
type bookedRow struct {
	N int32
	payment
}

// replacement is a row that may be the booking of a pending transaction.
type replacement struct {
	n           int32
	transaction *pendingTransaction
	// same is set if both have the same external id, apart from the mark of the pending one.
	same       bool
	difference int64 // Of the amounts.
	days       int32
	similarity float64
}

// maxCompared limits the comparisons of texts. Only rows that all have near amounts and days reach
// it; the later ones then stay ready, and name a transaction that they may book.
const maxCompared = 100_000

// replacements collects the rows that may be bookings of pending transactions.
type replacements struct {
	pending  []pendingTransaction
	compared int
	found    []replacement
	// rest are the rows that were not compared with all near transactions, without their texts.
	rest []bookedRow
}

// add compares a row with all pending transactions. A different external id needs texts that do not
// disagree.
func (c *replacements) add(r bookedRow) {
	isRest := false
	for i := range c.pending {
		t := &c.pending[i]
		found, ok := r.near(t)
		if ok && !found.same {
			if c.compared == maxCompared {
				isRest = true
				continue
			}
			c.compared++
			ok, found.similarity = agree(r.Text, t.Text), similarity(r.Text, t.Text)
		}
		if ok {
			c.found = append(c.found, found)
		}
	}
	if isRest {
		r.Text = ""
		c.rest = append(c.rest, r)
	}
}

// near reports whether the facts of a row allow that it is the booking of a pending transaction:
// wallet, currency and direction are equal, and so is the external id, or the amount and the day
// are near.
func (r bookedRow) near(t *pendingTransaction) (replacement, bool) {
	found := replacement{
		n: r.N, transaction: t, same: statement.PendingID+r.ExternalID == t.ExternalID,
		difference: magnitude(r.AmountMinor - t.AmountMinor), days: max(r.Day-t.Day, t.Day-r.Day),
	}
	ok := r.WalletID == t.WalletID && r.Currency == t.Currency &&
		(r.AmountMinor < 0) == (t.AmountMinor < 0) && !(t.Fixed && found.difference > 0)
	isNear := found.days <= maxPendingDays &&
		found.difference <= magnitude(t.AmountMinor)/pendingShare
	return found, ok && (found.same || isNear)
}

func magnitude(amount int64) int64 { return max(amount, -amount) }

// assign assigns each pending transaction to at most one row and each row to at most one of them:
// equal external ids first, then the nearest amount, the nearest day and the most similar text.
func (c *replacements) assign() []replacement {
	rank := map[bool]int{true: 0, false: 1}
	slices.SortStableFunc(c.found, func(a, b replacement) int {
		return cmp.Or(rank[a.same]-rank[b.same], cmp.Compare(a.difference, b.difference),
			cmp.Compare(a.days, b.days), cmp.Compare(b.similarity, a.similarity))
	})
	rows, transactions := map[int32]bool{}, map[uuid.UUID]bool{}
	return slices.DeleteFunc(c.found, func(r replacement) bool {
		if rows[r.n] || transactions[r.transaction.ID] {
			return true
		}
		rows[r.n], transactions[r.transaction.ID] = true, true
		return false
	})
}

// possible returns the transaction that each other row of the rest may book: the one with the
// nearest amount and day among those that no row in booked replaces.
func (c *replacements) possible(booked []replacement) (results []result) {
	rows, transactions := map[int32]bool{}, map[uuid.UUID]bool{}
	for _, r := range booked {
		rows[r.n], transactions[r.transaction.ID] = true, true
	}
	for _, r := range c.rest {
		var best *replacement
		for i := range c.pending {
			found, ok := r.near(&c.pending[i])
			if ok && !transactions[found.transaction.ID] && (best == nil || cmp.Or(
				cmp.Compare(found.difference, best.difference),
				cmp.Compare(found.days, best.days)) < 0) {
				best = &found
			}
		}
		if best != nil && !rows[r.N] {
			results = append(results, result{r.N, best.transaction.ID, possible})
		}
	}
	return results
}
