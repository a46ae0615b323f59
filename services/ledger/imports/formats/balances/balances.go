// Package balances compares the balances of a file with its amounts.
//
// A balance is the one before it plus the amounts between them. This proves which column has the
// amounts and which sign means money out, without any heading, and finds rows that were read
// wrongly. A Trail reads rows in the order of the file and counts how its balances follow. Files
// are sorted in both directions, have gaps, several accounts and days with one balance, so a single
// balance that does not follow proves nothing; Verdict.Contradicts decides. All functions are pure.
package balances

import (
	"time"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// Row is a row of a file.
type Row struct {
	N       int
	Account string // The account and the currency. Balances of other accounts do not matter.
	Date    time.Time
	Amount  written.Sum
	// Balance is only valid if Stated is set.
	Balance written.Sum
	Stated  bool
}

// Break is a balance that does not follow from the balance of an earlier row of the file.
type Break struct {
	Previous, Row   int // Numbers of both rows.
	Before, Balance written.Sum
}

// Verdict counts the pairs of neighboring balances by the amounts between them.
type Verdict struct {
	Agreed  int // The balance changes by the amounts.
	Opposed int // The balance changes by the amounts, in the other direction.
	Other   int
	First   *Break // The first pair that does not agree, or nil.
}

// The ways in which balances can follow: the balance after or before the amount of its row, in
// files with the oldest or the newest row first.
const (
	afterOldestFirst = iota
	afterNewestFirst
	beforeOldestFirst
	beforeNewestFirst
	ways
)

// Trail collects the rows of a file. Its zero value is empty.
type Trail struct {
	verdicts [ways]Verdict
	accounts map[string]*position
	last     time.Time
	up, down int // Days after and before those of the previous row.
	moved    bool
}

// position is the last row of an account with a balance, and the amounts of the rows after it.
type position struct {
	row   Row
	since written.Sum
}

// Add adds the next row of the file.
func (t *Trail) Add(r Row) {
	if !t.last.IsZero() {
		switch r.Date.Compare(t.last) {
		case 1:
			t.up++
		case -1:
			t.down++
		}
	}
	t.last = r.Date
	before := t.accounts[r.Account]
	switch {
	case r.Stated && !r.Balance.Unknown:
		if before != nil {
			t.compare(*before, r)
		}
		if t.accounts == nil {
			t.accounts = make(map[string]*position)
		}
		t.accounts[r.Account] = &position{row: r}
	case before != nil:
		before.since = before.since.Plus(r.Amount)
	}
}

// Interrupt marks a row whose amount is unknown: the next balances do not follow from earlier ones.
func (t *Trail) Interrupt() { t.accounts = nil }

// compare counts a pair of balances.
func (t *Trail) compare(before position, r Row) {
	difference := r.Balance.Units - before.row.Balance.Units
	here, there := before.since.Plus(r.Amount), before.since.Plus(before.row.Amount)
	if here.Unknown || there.Unknown {
		return
	}
	t.moved = t.moved || difference != 0
	expected := [ways]int64{
		afterOldestFirst: here.Units, afterNewestFirst: -there.Units,
		beforeOldestFirst: there.Units, beforeNewestFirst: -here.Units,
	}
	for way, units := range expected {
		v := &t.verdicts[way]
		switch {
		case difference == units && units == 0:
			continue
		case difference == units:
			v.Agreed++
			continue
		case difference == -units:
			v.Opposed++
		default:
			v.Other++
		}
		if v.First == nil {
			v.First = &Break{before.row.N, r.N, before.row.Balance, r.Balance}
		}
	}
}

// Verdict returns the verdict of the way in which most balances follow. The dates decide between
// the oldest and the newest row first. Without them, balances are those after their rows, because
// the balance before a row, the oldest first, looks like an inverted one after a row, the newest
// first. It is empty if the rows are not sorted by date.
func (t *Trail) Verdict() Verdict {
	if !t.moved {
		// The same balance in each row is that of the day of the export.
		return Verdict{}
	}
	possible := [2]int{afterOldestFirst, afterNewestFirst}
	switch {
	case t.up > 0 && t.down == 0:
		possible = [2]int{afterOldestFirst, beforeOldestFirst}
	case t.down > 0 && t.up == 0:
		possible = [2]int{afterNewestFirst, beforeNewestFirst}
	}
	best, other := t.verdicts[possible[0]], t.verdicts[possible[1]]
	if found := other.Agreed + other.Opposed - best.Agreed - best.Opposed; found > 0 ||
		found == 0 && other.Agreed > best.Agreed {
		best = other
	}
	if _, ok := best.Follows(); !ok && min(t.up, t.down)*5 > max(t.up, t.down) {
		return Verdict{}
	}
	return best
}

// Contradicts reports whether the amounts are wrong. A balance that does not follow is a gap, as
// long as most of them follow. A balance that changes in the other direction is an error, unless as
// many do not follow, because the rows of a day are in another order. owed is set if positive
// amounts were read as money out: then balances that all change in the other direction are debts.
func (v Verdict) Contradicts(owed bool) bool {
	if owed && v.Agreed+v.Other == 0 {
		return false
	}
	return v.Opposed > v.Other || v.Other > 1 && v.Other > v.Agreed
}

// Follows reports whether at least four of five balances follow, with all amounts as they are or
// with all amounts inverted.
func (v Verdict) Follows() (inverted, ok bool) {
	matches := max(v.Agreed, v.Opposed)
	return v.Opposed > v.Agreed, matches > 0 && matches*5 >= (v.Agreed+v.Opposed+v.Other)*4
}
