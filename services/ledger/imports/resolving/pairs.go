package resolving

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// The origins of sides whose file does not call them transfers: the name of another account of the
// file is the category of the row, as in exports of GnuCash, or its payee, as in those of Actual.
const (
	byCategory = "category"
	byPayee    = "payee"
)

// side is a row that may be one side of a transfer between two accounts of a file.
type side struct {
	N              int32
	Account, Other string
	// Origin is byCategory or byPayee, or empty if the file calls the row a transfer.
	Origin string
	// TransferID is equal in both rows of a transfer, or empty.
	TransferID       string `db:"transfer_id"`
	Date             time.Time
	Amount, Currency string
	ChosenWalletID   *uuid.UUID `db:"chosen_wallet_id"`
	// Transfers is set if the row changes another wallet, as far as its own derivation shows.
	Transfers bool `db:"-"`
	// Settled is set if the row is not booked as a transfer of the file: the user or a rule has
	// decided otherwise, or it is finished.
	Settled bool
	// Pending is set if the bank has not booked the payment yet.
	Pending bool
}

// key identifies one side of a transfer: by the id in the file, or otherwise by everything else.
type key struct {
	id, from, to string
	day          time.Time
	// amount is the signed amount, or only its sign.
	amount string
	// pending is set if only pending sides fit.
	pending bool
}

// keys returns the keys of a side and of its other side, without amounts.
func (s side) keys() (own, other key) {
	if s.TransferID != "" {
		return key{id: s.TransferID}, key{id: s.TransferID}
	}
	day := s.Date.UTC().Truncate(24 * time.Hour)
	return key{from: s.Account, to: s.Other, day: day}, key{from: s.Other, to: s.Account, day: day}
}

// exact adds the amounts to keys.
func exact(s side) (own, other key) {
	own, other = s.keys()
	own.amount = written.TrimDecimals(s.Amount)
	other.amount = written.Negate(own.amount)
	return own, other
}

// direction adds the signs of the amounts to keys. The two amounts of a transfer between currencies
// are not comparable, because the file states no rate.
func direction(s side) (own, other key) {
	own, other = s.keys()
	own.amount, other.amount = "+", "-"
	if negative(s.Amount) {
		own.amount, other.amount = "-", "+"
	}
	return own, other
}

// maxApart is the maximum number of days between the two sides of a transfer that has no id: banks
// take up to three days, and a weekend may follow, but another transfer may be as near.
const maxApart = 3

// apart returns the function that returns the exact key of a side, and those of its other side a
// number of days before and after it.
func apart(days int) func(s side) (own key, others []key) {
	return func(s side) (key, []key) {
		own, other := exact(s)
		if s.TransferID != "" {
			return own, nil
		}
		before, after := other, other
		before.day = other.day.AddDate(0, 0, -days)
		after.day = other.day.AddDate(0, 0, days)
		return own, []key{before, after}
	}
}

// isApart reports whether two sides of one transfer have different days, which their file does not
// explain.
func isApart(a, b side) bool {
	first, second := a.Date.UTC().Truncate(24*time.Hour), b.Date.UTC().Truncate(24*time.Hour)
	return a.TransferID == "" && !first.Equal(second)
}

// matchSides returns the pairs of sides that describe one transfer, in both directions by the index
// of a side. Each side names the account of the other one. Equal transfers of a day are paired in
// the order of the file. Sides of one day come first, and then the nearest ones. Sides of equal
// status are paired before a pending and a booked one: a pending payment may be listed beside its
// booking.
func matchSides(sides []side) map[int]int {
	matching := sideMatching{sides, map[int]int{}, map[int32]bool{}}
	for _, mixed := range []bool{false, true} {
		matching.round(ofDay(exact), mixed, nil)
		matching.round(ofDay(direction), mixed, exchanged)
		for days := 1; days <= maxApart; days++ {
			matching.round(apart(days), mixed, nil)
		}
	}
	return matching.pairs
}

// ofDay returns the function that returns the key of a side and that of its other side.
func ofDay(keys func(side) (own, other key)) func(side) (own key, others []key) {
	return func(s side) (key, []key) {
		own, other := keys(s)
		return own, []key{other}
	}
}

// exchanged returns the currency that the other side must not have, because an equal currency
// explains no other amount. It is empty for a side that its id identifies. ok is false if the
// currency is unknown.
func exchanged(s side) (currency string, ok bool) {
	if s.TransferID != "" {
		return "", true
	}
	return s.Currency, s.Currency != ""
}

// sideMatching is the state of matchSides.
type sideMatching struct {
	sides []side
	pairs map[int]int
	// rows holds the rows with a pair.
	rows map[int32]bool
}

// queue holds the sides with one key and one currency that wait for their other side, in the order
// of the file. The currency is empty if it does not count.
type queue struct {
	currency string
	sides    []int
}

// round pairs the sides without a pair whose keys fit, and whose statuses are equal unless mixed.
// With exchanged, they have different currencies. Each side is queued once, so that the work is
// linear in the sides, apart from the few currencies of a key.
func (m *sideMatching) round(
	keys func(side) (own key, others []key), mixed bool, exchanged func(side) (string, bool),
) {
	open := map[key][]queue{}
	for index, side := range m.sides {
		if m.rows[side.N] {
			continue
		}
		currency, ok := "", true
		if exchanged != nil {
			currency, ok = exchanged(side)
		}
		if !ok {
			continue
		}
		own, others := keys(side)
		own.pending = side.Pending && !mixed
		j := -1
		for i := 0; i < len(others) && j < 0; i++ {
			others[i].pending = own.pending
			j = m.first(open[others[i]], currency)
		}
		if j < 0 {
			open[own] = add(open[own], currency, index)
			continue
		}
		m.pairs[index], m.pairs[j] = j, index
		m.rows[side.N], m.rows[m.sides[j].N] = true, true
	}
}

// first returns the first queued side whose currency is another one, or any if currency is empty.
// It removes sides that have a pair, and returns -1 if there is none.
func (m *sideMatching) first(queues []queue, currency string) int {
	first := -1
	for i := range queues {
		q := &queues[i]
		if currency != "" && q.currency == currency {
			continue
		}
		for len(q.sides) > 0 && m.rows[m.sides[q.sides[0]].N] {
			q.sides = q.sides[1:]
		}
		if len(q.sides) > 0 && (first < 0 || q.sides[0] < first) {
			first = q.sides[0]
		}
	}
	return first
}

// add appends a side to the queue of its currency.
func add(queues []queue, currency string, index int) []queue {
	i := slices.IndexFunc(queues, func(q queue) bool { return q.currency == currency })
	if i < 0 {
		return append(queues, queue{currency, []int{index}})
	}
	queues[i].sides = append(queues[i].sides, index)
	return queues
}

// unmatched returns the sides without a pair whose other account has rows as well. A payee is too
// weak to be one: a shop may have the name of an account. paired is the number of rows with a pair.
func unmatched(
	sides []side, pairs map[int]int, hasRows func(account string) bool,
) (alone []side, paired int) {
	rows := map[int32]bool{}
	for i := range pairs {
		rows[sides[i].N] = true
	}
	for _, s := range sides {
		if s.Origin != byPayee && !rows[s.N] && hasRows(s.Other) {
			alone = append(alone, s)
		}
	}
	return alone, len(pairs)
}

// way is the direction from the account of a side to the other one.
type way struct{ from, to string }

// oneSided returns those of the unmatched sides whose row stands for both sides of the transfer. A
// program writes a transfer either in both accounts or in one. The file is of the first kind if
// most of its transfers have two rows: then the rows of an account are complete, and another leg
// would change its balance twice. This also holds for two accounts whose unmatched sides cancel
// each other out, such as the parts of a split and their total.
func oneSided(alone []side, paired int) map[int32]bool {
	rows, sums := map[int32]bool{}, map[way]written.Sum{}
	if paired >= len(alone) {
		return rows
	}
	for _, s := range alone {
		sum := sums[way{s.Account, s.Other}]
		sum.Add(s.Amount)
		sums[way{s.Account, s.Other}] = sum
	}
	for _, s := range alone {
		own := sums[way{s.Account, s.Other}]
		other, ok := sums[way{s.Other, s.Account}]
		other.Units = -other.Units
		rows[s.N] = s.Origin == "" && s.TransferID == "" && (!ok || own.Differs(other))
	}
	return rows
}
