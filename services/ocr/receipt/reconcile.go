package receipt

import "slices"

// maxRepairItems bounds the search for repairs: on longer receipts too many combinations hit the total by chance.
const maxRepairItems = 40

// repair is one way to make the lines come out at the total.
type repair func(draft []draftItem, total int64, s *sums) (items, bool)

// reconcile settles the items' amounts against the total: sum of lines, tax, tip, discount and rounding must come out at
// it. When they do not, the one change that makes them do so is looked for.
func reconcile(draft []draftItem, total int64, s *sums) items {
	plain := items{list: draft, confidence: 0.3}
	if len(draft) == 0 || total == 0 {
		return plain
	}
	if adj, ok := balances(draft, total, s); ok {
		return items{list: draft, reconciled: true, adjustment: adj, confidence: settled(len(draft), 0)}
	}
	if kept := withoutDoubtful(draft); len(kept) > 0 && len(kept) < len(draft) {
		if adj, ok := balances(kept, total, s); ok {
			return items{list: kept, reconciled: true, repairs: 1, adjustment: adj, confidence: settled(len(kept), 1)}
		}
	}
	if len(draft) > maxRepairItems {
		return plain
	}
	repairs := []repair{replaceOne, respellOne, dropOne, otherColumn}
	if draft[0].at.exact {
		// What a line says is not in doubt, only which lines are goods and which column is the price.
		repairs = []repair{dropOne, otherColumn}
	}
	for _, repair := range repairs {
		if r, ok := repair(draft, total, s); ok {
			return r
		}
	}
	return plain
}

func settled(n, repairs int) float64 {
	c := 0.95
	if n == 1 {
		c = 0.8
	}
	return c - 0.15*float64(repairs)
}

func balances(list []draftItem, total int64, s *sums) (adjustment, bool) {
	return adjustments(sumOf(list), total, s)
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

// respellOne takes one digit of one amount for misread, when that is all that is missing: of several, that of the word
// which the engine was least sure of.
func respellOne(draft []draftItem, total int64, s *sums) (items, bool) {
	missing := total - sumOf(draft)
	for _, adj := range simpleAdjustments(s) {
		worst := -1
		fits := func(i int) int64 { return draft[i].amount.value + missing - adj.tax - adj.rounding }
		for i := range draft {
			if oneDigitOff(draft[i].amount.value, fits(i)) && (worst < 0 || draft[i].amount.certainty < draft[worst].amount.certainty) {
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
