package transfers

import (
	"cmp"
	"slices"
	"time"

	"github.com/google/uuid"
)

const day = 24 * time.Hour

// nearby finds the transaction for each of several legs: one with the same wallet, amount, currency
// and other wallet, at most maxDaysApart days apart. It is linear in the transactions of these
// days, also if all of them have one day and one amount: it keeps as many of a day as there are
// legs with the same properties, because they cannot take more.
type nearby struct {
	legs []Leg
	// legsOf is the number of legs with the same properties.
	legsOf map[legKey]int
	// found holds the transactions by properties and day, in the order of their times and ids.
	found map[legKey]map[time.Time][]uuid.UUID
	used  map[uuid.UUID]bool
}

// legKey has the properties that a leg and its transaction have in common.
type legKey struct {
	wallet, other uuid.UUID
	currency      string
	amount        int64
}

func (l Leg) key() legKey { return legKey{l.WalletID, l.OtherWalletID, l.Currency, l.AmountMinor} }

func (l Leg) day() time.Time { return l.Date.UTC().Truncate(day) }

// newNearby returns nearby without a transaction. It leaves the transactions in used.
func newNearby(legs []Leg, used map[uuid.UUID]bool) *nearby {
	n := &nearby{
		legs: legs, legsOf: map[legKey]int{}, found: map[legKey]map[time.Time][]uuid.UUID{},
		used: used,
	}
	for _, l := range legs {
		n.legsOf[l.key()]++
	}
	return n
}

// amounts returns the amounts of the legs, each once.
func (n *nearby) amounts() []int64 {
	amounts := make([]int64, len(n.legs))
	for i, l := range n.legs {
		amounts[i] = l.AmountMinor
	}
	slices.Sort(amounts)
	return slices.Compact(amounts)
}

// period is a part of a wallet's time, from first to before end, both at midnight UTC.
type period struct {
	wallet     uuid.UUID
	first, end time.Time
}

// periods returns the periods that have all transactions near the legs, each day of a wallet once.
func (n *nearby) periods() []period {
	all := make([]period, len(n.legs))
	for i, l := range n.legs {
		all[i] = period{
			l.WalletID, l.day().Add(-maxDaysApart * day), l.day().Add((maxDaysApart + 1) * day),
		}
	}
	slices.SortFunc(all, func(a, b period) int {
		return cmp.Or(slices.Compare(a.wallet[:], b.wallet[:]), a.first.Compare(b.first))
	})
	merged := all[:0]
	for _, p := range all {
		last := len(merged) - 1
		if last >= 0 && merged[last].wallet == p.wallet && !p.first.After(merged[last].end) {
			merged[last].end = p.end
			continue
		}
		merged = append(merged, p)
	}
	return merged
}

// add adds a transaction. Those of a day follow in the order of their times and ids.
func (n *nearby) add(id uuid.UUID, l Leg) {
	key := l.key()
	if n.used[id] || n.legsOf[key] == 0 {
		return
	}
	if n.found[key] == nil {
		n.found[key] = map[time.Time][]uuid.UUID{}
	}
	if of := n.found[key][l.day()]; len(of) < n.legsOf[key] {
		n.found[key][l.day()] = append(of, id)
	}
}

// assign returns the transactions by the indexes of their legs. The nearest days come first, then
// the earlier legs, and then the smaller ids.
func (n *nearby) assign() map[int]uuid.UUID {
	chosen := map[int]uuid.UUID{}
	for apart := range maxDaysApart + 1 {
		for i, l := range n.legs {
			if _, ok := chosen[i]; ok {
				continue
			}
			days := n.found[l.key()]
			distance := time.Duration(apart) * day
			before, after := l.day().Add(-distance), l.day().Add(distance)
			of := before
			if first, second := days[before], days[after]; len(second) > 0 && (len(first) == 0 ||
				slices.Compare(second[0][:], first[0][:]) < 0) {
				of = after
			}
			if len(days[of]) > 0 {
				chosen[i], days[of] = days[of][0], days[of][1:]
			}
		}
	}
	return chosen
}
