package duplicates

import (
	"cmp"
	"slices"
	"sort"
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

// compareFacts orders replacements: equal external ids first, then the nearest amount and day.
func (r replacement) compareFacts(o replacement) int {
	rank := map[bool]int{true: 0, false: 1}
	return cmp.Or(rank[r.same]-rank[o.same], cmp.Compare(r.difference, o.difference),
		cmp.Compare(r.days, o.days))
}

// maxCompared limits the comparisons of texts. Only rows that all have near amounts and days reach
// it; the later ones then stay ready, and name a transaction that they may book.
const maxCompared = 100_000

// slot has what must be equal in a row and its pending transaction, except that the day of the row
// may be another one.
type slot struct {
	wallet          uuid.UUID
	currency        string
	negative, fixed bool
	day             int32
}

// externalKey identifies a transaction that has an external id.
type externalKey struct {
	wallet uuid.UUID
	id     string
}

// replacements collects the rows that may be bookings of pending transactions. The transactions are
// read in pages, and each page is compared with all rows.
type replacements struct {
	// slots holds the transactions of the page, by amount.
	slots map[slot][]*pendingTransaction
	// ids holds the transactions of the page by wallet and external id.
	ids      map[externalKey]*pendingTransaction
	compared int
	found    []replacement
	// rest holds the nearest transaction of each row that was not compared with all near ones, or
	// whose texts only have some words in common.
	rest map[int32]replacement
}

// load replaces the page of transactions.
func (c *replacements) load(page []pendingTransaction) {
	c.slots, c.ids = map[slot][]*pendingTransaction{}, map[externalKey]*pendingTransaction{}
	if c.rest == nil {
		c.rest = map[int32]replacement{}
	}
	for i := range page {
		t := &page[i]
		k := slot{t.WalletID, t.Currency, t.AmountMinor < 0, t.Fixed, t.Day}
		c.slots[k] = append(c.slots[k], t)
		c.ids[externalKey{t.WalletID, t.ExternalID}] = t
	}
	for _, all := range c.slots {
		slices.SortStableFunc(all, func(a, b *pendingTransaction) int {
			return cmp.Compare(magnitude(a.AmountMinor), magnitude(b.AmountMinor))
		})
	}
}

// add finds the transactions of the page that a row may book. The work depends on the number of
// these only.
func (c *replacements) add(row bookedRow) {
	if t := c.ids[externalKey{row.WalletID, statement.PendingID + row.ExternalID}]; t != nil {
		if found, ok := row.near(t); ok {
			c.found = append(c.found, found)
		}
	}
	for _, fixed := range []bool{false, true} {
		for day := row.Day - maxPendingDays; day <= row.Day+maxPendingDays; day++ {
			all := c.slots[slot{row.WalletID, row.Currency, row.AmountMinor < 0, fixed, day}]
			if len(all) > 0 {
				c.addNear(row, all)
			}
		}
	}
}

// addNear adds the transactions of a slot whose amounts are near that of a row.
func (c *replacements) addNear(row bookedRow, all []*pendingTransaction) {
	amount := magnitude(row.AmountMinor)
	first := sort.Search(len(all), func(i int) bool {
		t := magnitude(all[i].AmountMinor)
		return all[i].Fixed && t >= amount || !all[i].Fixed && t+t/pendingShare >= amount
	})
	end := first + sort.Search(len(all)-first, func(i int) bool {
		t := magnitude(all[first+i].AmountMinor)
		return all[first+i].Fixed && t > amount || !all[first+i].Fixed && t-t/pendingShare > amount
	})
	for i := first; i < end && c.compared < maxCompared; i++ {
		if found, ok := row.near(all[i]); ok && !found.same {
			c.found = append(c.found, found)
			c.compared++
		}
	}
	if first == end || c.compared < maxCompared {
		return
	}
	nearest := first + sort.Search(end-first, func(i int) bool {
		return magnitude(all[first+i].AmountMinor) >= amount
	})
	for i := max(nearest-1, first); i < min(nearest+1, end); i++ {
		if found, ok := row.near(all[i]); ok {
			c.addRest(found)
		}
	}
}

// near reports whether the facts of a row allow that it is the booking of a pending transaction:
// wallet, currency and direction are equal, and so is the external id, or the amount and the day
// are near.
func (r bookedRow) near(transaction *pendingTransaction) (replacement, bool) {
	found := replacement{
		n: r.N, transaction: transaction,
		same:       statement.PendingID+r.ExternalID == transaction.ExternalID,
		difference: magnitude(r.AmountMinor - transaction.AmountMinor),
		days:       max(r.Day-transaction.Day, transaction.Day-r.Day),
	}
	ok := r.WalletID == transaction.WalletID && r.Currency == transaction.Currency &&
		(r.AmountMinor < 0) == (transaction.AmountMinor < 0) &&
		!(transaction.Fixed && found.difference > 0)
	isNear := found.days <= maxPendingDays &&
		found.difference <= magnitude(transaction.AmountMinor)/pendingShare
	return found, ok && (found.same || isNear)
}

func magnitude(amount int64) int64 { return max(amount, -amount) }

// compare compares the texts of rows and transactions, and removes the replacements whose texts do
// not agree. If they have some words in common, such as a city, the row names the transaction.
// Equal external ids need no texts.
func (c *replacements) compare(rows map[int32]string, transactions map[uuid.UUID]string) {
	c.found = slices.DeleteFunc(c.found, func(r replacement) bool {
		if r.same {
			return false
		}
		relation := relate(rows[r.n], transactions[r.transaction.ID])
		if relation == shares {
			c.addRest(r)
		}
		return relation != agrees
	})
	for i, r := range c.found {
		if !r.same {
			c.found[i].similarity = similarity(rows[r.n], transactions[r.transaction.ID])
		}
	}
}

// addRest makes a transaction a possible one of a row, unless another one is nearer.
func (c *replacements) addRest(r replacement) {
	if best, ok := c.rest[r.n]; !ok || r.compareFacts(best) < 0 {
		c.rest[r.n] = r
	}
}

// assign assigns each pending transaction to at most one row and each row to at most one of them:
// equal external ids first, then the nearest amount, the nearest day and the most similar text.
func (c *replacements) assign() []replacement {
	slices.SortStableFunc(c.found, func(a, b replacement) int {
		return cmp.Or(a.compareFacts(b), cmp.Compare(b.similarity, a.similarity),
			cmp.Compare(a.n, b.n))
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

// possible returns the nearest transaction of each other row of the rest, unless a row in booked
// replaces it.
func (c *replacements) possible(booked []replacement) (results []result) {
	rows, transactions := map[int32]bool{}, map[uuid.UUID]bool{}
	for _, r := range booked {
		rows[r.n], transactions[r.transaction.ID] = true, true
	}
	for n, r := range c.rest {
		if !rows[n] && !transactions[r.transaction.ID] {
			results = append(results, result{n, r.transaction.ID, possible})
		}
	}
	return results
}
