package receipt

import (
	"slices"
	"strings"
)

// maxRepairItems bounds the search for repairs: on longer receipts too many combinations hit the total by chance.
const maxRepairItems = 40

// repair is one way to make the lines come out at the total.
type repair func(draft []draftItem, total int64, s *sums) (items, bool)

// reconcile settles the items' amounts against the total: sum of lines, tax, tip, discount and rounding must come out at
// it. When they do not, the one change that makes them do so is looked for.
func reconcile(draft []draftItem, total int64, s *sums) items {
	plain := items{list: draft, confidence: 0.3}
	if len(draft) == 0 {
		return plain
	}
	if adj, ok := balances(draft, total, s); ok {
		return items{list: draft, reconciled: true, adjustment: adj, confidence: settled(len(draft), 0)}
	}
	if r, ok := some(withoutDoubtful)(draft, total, s); ok {
		return r
	}
	if len(draft) > maxRepairItems {
		return plain
	}
	repairs := []repair{some(confirmed), some(belowNames), products, otherReadings, replaceOne, respellOne, dropOne, otherColumn}
	if draft[0].at.exact {
		// What a line says is not in doubt, only which lines are goods and which column is the price.
		repairs = []repair{some(confirmed), some(belowNames), dropOne, otherColumn}
	}
	for _, repair := range repairs {
		if r, ok := repair(draft, total, s); ok {
			return r
		}
	}
	return plain
}

// some takes only those lines for goods that are chosen.
func some(choose func([]draftItem) []draftItem) repair {
	return func(draft []draftItem, total int64, s *sums) (items, bool) {
		part := choose(draft)
		if len(part) == 0 || len(part) == len(draft) {
			return items{}, false
		}
		adj, ok := balances(part, total, s)
		return items{list: part, reconciled: true, repairs: 1, adjustment: adj, confidence: settled(len(part), 1)}, ok
	}
}

func settled(n, repairs int) float64 {
	c := 0.95
	if n == 1 {
		c = 0.8
	}
	return c - 0.15*float64(repairs)
}

func balances(list []draftItem, total int64, s *sums) (adjustment, bool) {
	sum := sumOf(list)
	if s.roundedTo(sum, total) {
		return adjustment{rounding: total - sum}, true
	}
	adj, ok := adjustments(sum, total, s)
	return adj, ok && adj.plausible(sum)
}

func sumOf(list []draftItem) int64 {
	sum := int64(0)
	for _, it := range list {
		sum += it.amount.value
	}
	return sum
}

func withoutDoubtful(draft []draftItem) []draftItem {
	return slices.DeleteFunc(slices.Clone(draft), func(it draftItem) bool { return it.doubtful })
}

// confirmed are the items whose quantity and price make their amount.
func confirmed(draft []draftItem) []draftItem {
	return slices.DeleteFunc(slices.Clone(draft), func(it draftItem) bool { return it.quantity == 0 })
}

// belowNames are the lines without a name of their own, where each stands below one that has the name and the price of one.
func belowNames(draft []draftItem) []draftItem {
	var out []draftItem
	for i, it := range draft {
		if it.doubtful && i > 0 && !draft[i-1].doubtful {
			it.name, it.description = draft[i-1].name, draft[i-1].description
			out = append(out, it)
		}
	}
	if len(out) < 2 {
		// One line alone may as well be a sum of those above.
		return nil
	}
	return out
}

// products takes quantity times price for the amounts of all lines that have them.
func products(draft []draftItem, total int64, s *sums) (items, bool) {
	list := slices.Clone(draft)
	changes := 0
	for i, it := range list {
		if it.product > 0 && it.product != it.amount.value {
			list[i].amount.value = it.product
			changes++
		}
	}
	adj, ok := balances(list, total, s)
	return items{list: list, reconciled: true, repairs: min(changes, maxReread), adjustment: adj, confidence: settled(len(list), min(changes, maxReread))}, ok && changes > 0
}

// maxReread bounds how many amounts are taken from other readings, and of how many lines: where more are in doubt, some
// choice of them comes out at anything.
const maxReread, maxRereadOf = 3, 10

// otherReadings takes for some lines what other readings found there; as few as it takes.
func otherReadings(draft []draftItem, total int64, s *sums) (items, bool) {
	var reread []int
	for i, it := range draft {
		if len(it.again) > 0 {
			reread = append(reread, i)
		}
	}
	if len(reread) > maxRereadOf {
		return items{}, false
	}
	list := slices.Clone(draft)
	var try func(from, changes int, missing int64) bool
	try = func(from, changes int, missing int64) bool {
		for k := from; k < len(reread) && changes > 0; k++ {
			i := reread[k]
			for _, v := range draft[i].again {
				list[i].amount.value = v
				if try(k+1, changes-1, missing+draft[i].amount.value-v) {
					return true
				}
			}
			list[i].amount.value = draft[i].amount.value
		}
		return changes == 0 && missing == 0
	}
	for changes := 1; changes <= min(maxReread, len(reread)); changes++ {
		for _, adj := range simpleAdjustments(s) {
			if try(0, changes, total-sumOf(draft)-adj.tax-adj.rounding) {
				return items{list: list, reconciled: true, repairs: changes, adjustment: adj, confidence: settled(len(list), changes)}, true
			}
		}
	}
	return items{}, false
}

// replaceOne takes another figure of the same line for one amount.
func replaceOne(draft []draftItem, total int64, s *sums) (items, bool) {
	for i := range draft {
		for _, v := range draft[i].others {
			list := slices.Clone(draft)
			list[i].amount.value = v
			if adj, ok := balances(list, total, s); ok {
				return items{list: list, reconciled: true, repairs: 1, adjustment: adj, confidence: settled(len(list), 1)}, true
			}
		}
	}
	return items{}, false
}

// respellOne takes one digit of one amount for misread, when that is all that is missing: of several, one that looks like
// what it must be, and then that of the word which the engine was least sure of.
func respellOne(draft []draftItem, total int64, s *sums) (items, bool) {
	missing := total - sumOf(draft)
	for _, adj := range simpleAdjustments(s) {
		worst := -1
		fits := func(i int) int64 { return draft[i].amount.value + missing - adj.tax - adj.rounding }
		for i := range draft {
			if oneDigitOff(draft[i].amount.value, fits(i)) && (worst < 0 || likelier(draft[i], fits(i), draft[worst], fits(worst))) {
				worst = i
			}
		}
		if worst < 0 {
			continue
		}
		list := slices.Clone(draft)
		list[worst].amount.value = fits(worst)
		return items{list: list, reconciled: true, repairs: 1, adjustment: adj, confidence: settled(len(list), 1)}, true
	}
	return items{}, false
}

// likelier: a was rather meant as x than b as y.
func likelier(a draftItem, x int64, b draftItem, y int64) bool {
	if alikeA, alikeB := looksLike(a.amount.value, x), looksLike(b.amount.value, y); alikeA != alikeB {
		return alikeA
	}
	return a.amount.certainty < b.amount.certainty
}

// digitPairs are taken for each other by whoever reads worn print.
const digitPairs = "56 38 08 06 68 17 09 58 35 49 14 27 89 39"

// looksLike: the digit in which two amounts differ is one of a pair.
func looksLike(a, b int64) bool {
	x, y := format(a), format(b)
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			pair := string([]byte{min(x[i], y[i]), max(x[i], y[i])})
			return strings.Contains(digitPairs, pair)
		}
	}
	return false
}

// simpleAdjustments are none, and each of those printed alone.
func simpleAdjustments(s *sums) []adjustment {
	out := []adjustment{{}}
	for _, t := range s.taxes {
		if !t.late {
			out = append(out, adjustment{tax: abs(t.value)})
		}
	}
	for _, r := range roundings(s.rounding)[1:] {
		out = append(out, adjustment{rounding: r.value})
	}
	return out
}

func oneDigitOff(a, b int64) bool {
	x, y := format(a), format(b)
	if len(x) != len(y) || b%10 != 0 || (a < 0) != (b < 0) {
		return false
	}
	off := 0
	for i := range len(x) {
		if x[i] != y[i] {
			off++
		}
	}
	return off == 1
}

// dropOne takes one line for something other than goods.
func dropOne(draft []draftItem, total int64, s *sums) (items, bool) {
	if len(draft) < 2 {
		return items{}, false
	}
	for i := range draft {
		list := slices.Delete(slices.Clone(draft), i, i+1)
		if adj, ok := balances(list, total, s); ok {
			return items{list: list, reconciled: true, repairs: 1, adjustment: adj, confidence: settled(len(list), 1)}, true
		}
	}
	return items{}, false
}

// otherColumn takes the column before the last for the amounts: the last one holds taxes or nothing of interest.
func otherColumn(draft []draftItem, total int64, s *sums) (items, bool) {
	list := slices.Clone(draft)
	for i := range list {
		if len(list[i].others) > 0 {
			list[i].amount.value = list[i].others[0]
		}
	}
	adj, ok := balances(list, total, s)
	return items{list: list, reconciled: true, repairs: 1, adjustment: adj, confidence: settled(len(list), 1)}, ok
}
