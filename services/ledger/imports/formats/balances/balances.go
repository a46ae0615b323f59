// Package balances compares the balances of a file with its amounts.
//
// A balance is the one before it plus the amounts between them. This proves which column has the
// amounts and which sign means money out, without any heading, and finds rows that were read
// wrongly. A Trail reads rows in the order of the file and counts how its balances follow. Files
// are sorted in both directions, have gaps, several accounts and days with one balance, so a single
// balance that does not follow proves nothing; Verdict.Contradicts decides. All functions are pure.
package balances

import (
	"slices"
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

// maxDay is the number of rows of a day that a Trail keeps.
const maxDay = 1000

// Trail collects the rows of a file. Its zero value is empty. Within a day, some banks write the
// rows in the other direction than the days, so it also counts the rows with each day reversed.
type Trail struct {
	direct, reversed counts
	day              []Row
}

// Add adds the next row of the file.
func (t *Trail) Add(r Row) {
	if n := len(t.day); n > 0 && (n == maxDay || !t.day[n-1].Date.Equal(r.Date)) {
		t.endDay()
	}
	t.direct.add(r)
	t.day = append(t.day, r)
}

// endDay counts the rows of a day from the last one to the first one.
func (t *Trail) endDay() {
	for _, r := range slices.Backward(t.day) {
		t.reversed.add(r)
	}
	t.day = t.day[:0]
}

// Interrupt marks a row whose amount is unknown: the next balances do not follow from earlier ones.
func (t *Trail) Interrupt() {
	t.endDay()
	t.direct.accounts, t.reversed.accounts = nil, nil
}

// Verdict returns the verdict of the order in which most balances follow.
func (t *Trail) Verdict() Verdict {
	t.endDay()
	return t.direct.verdict().or(t.reversed.verdict())
}

// or returns the one of two verdicts in which more balances follow.
func (v Verdict) or(other Verdict) Verdict {
	more := other.Agreed + other.Opposed - v.Agreed - v.Opposed
	if more > 0 || more == 0 && other.Agreed > v.Agreed {
		return other
	}
	return v
}

// counts are the verdicts of rows in one order.
type counts struct {
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

// add counts the next row.
func (c *counts) add(row Row) {
	if !c.last.IsZero() {
		switch row.Date.Compare(c.last) {
		case 1:
			c.up++
		case -1:
			c.down++
		}
	}
	c.last = row.Date
	before := c.accounts[row.Account]
	switch {
	case row.Stated && !row.Balance.Unknown:
		if before != nil {
			c.compare(*before, row)
		}
		if c.accounts == nil {
			c.accounts = make(map[string]*position)
		}
		c.accounts[row.Account] = &position{row: row}
	case before != nil:
		before.since = before.since.Plus(row.Amount)
	}
}

// compare counts a pair of balances.
func (c *counts) compare(before position, row Row) {
	difference := row.Balance.Units - before.row.Balance.Units
	here, there := before.since.Plus(row.Amount), before.since.Plus(before.row.Amount)
	if here.Unknown || there.Unknown {
		return
	}
	c.moved = c.moved || difference != 0
	expected := [ways]int64{
		afterOldestFirst: here.Units, afterNewestFirst: -there.Units,
		beforeOldestFirst: there.Units, beforeNewestFirst: -here.Units,
	}
	for way, units := range expected {
		verdict := &c.verdicts[way]
		switch {
		case difference == units && units == 0:
			continue
		case difference == units:
			verdict.Agreed++
			continue
		case difference == -units:
			verdict.Opposed++
		default:
			verdict.Other++
		}
		if verdict.First == nil {
			verdict.First = &Break{before.row.N, row.N, before.row.Balance, row.Balance}
		}
	}
}

// verdict returns the verdict of the way in which most balances follow. The dates decide between
// the oldest and the newest row first. Without them, balances are those after their rows, because
// the balance before a row, the oldest first, looks like an inverted one after a row, the newest
// first. It is empty if the rows are not sorted by date.
func (c *counts) verdict() Verdict {
	if !c.moved {
		// The same balance in each row is that of the day of the export.
		return Verdict{}
	}
	possible := [2]int{afterOldestFirst, afterNewestFirst}
	switch {
	case c.up > 0 && c.down == 0:
		possible = [2]int{afterOldestFirst, beforeOldestFirst}
	case c.down > 0 && c.up == 0:
		possible = [2]int{afterNewestFirst, beforeNewestFirst}
	}
	best := c.verdicts[possible[0]].or(c.verdicts[possible[1]])
	if _, ok := best.Follows(); !ok && min(c.up, c.down)*5 > max(c.up, c.down) {
		return Verdict{}
	}
	return best
}

// Contradicts reports whether the amounts are wrong. A balance that does not follow is a gap, as
// long as most of them follow. A balance that changes in the other direction is an error, unless as
// many do not follow at all. owed is set if positive amounts were read as money out: then balances
// that all change in the other direction are debts.
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
