package receipt

import (
	"slices"
	"strings"

	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

// maxRepairItems limits the search for repairs. On longer receipts too many combinations equal the
// total by chance.
const maxRepairItems = 40

// reconciler makes the amounts of goods add up to a total. All its methods leave the drafts that
// they get unchanged.
type reconciler struct {
	total int64
	sums  *sums
}

// repair is one way to change a draft so that it adds up to the total. It returns false if that is
// not possible.
type repair func(r reconciler, draft []draftItem) (items, bool)

// repairs are tried in this order, the most reliable first.
var repairs = []repair{
	subset(withQuantity), subset(belowNames), reconciler.useProducts, reconciler.useRereads,
	reconciler.replaceOne, reconciler.fixOneDigit, reconciler.dropOne, reconciler.otherColumn,
}

// exactRepairs are the repairs for text. Its figures are not misread, so only the selection of
// lines and of the price column may be wrong.
var exactRepairs = []repair{subset(withQuantity), subset(belowNames), reconciler.dropOne, reconciler.otherColumn}

// reconcile returns the draft if its lines, tax, tip, discount and rounding add up to the total.
// Otherwise it returns the result of the first repair that succeeds. If none does, it returns the
// draft with reconciled unset.
func (r reconciler) reconcile(draft []draftItem) items {
	plain := items{list: draft, confidence: 0.3}
	if len(draft) == 0 {
		return plain
	}
	if out, ok := r.balance(draft, 0); ok {
		return out
	}
	// This is a single combination, so it is tried on receipts of any length.
	if out, ok := subset(named)(r, draft); ok {
		return out
	}
	if len(draft) > maxRepairItems {
		return plain
	}
	list := repairs
	if draft[0].at.Exact {
		list = exactRepairs
	}
	for _, repair := range list {
		if out, ok := repair(r, draft); ok {
			return out
		}
	}
	return plain
}

// balance returns the list as reconciled after the given number of repairs, or false if it does not
// add up to the total.
func (r reconciler) balance(list []draftItem, repairs int) (items, bool) {
	adj, ok := r.adjustment(list)
	return reconciled(list, adj, repairs), ok
}

// adjustment returns the printed amounts that lead from the lines to the total.
func (r reconciler) adjustment(list []draftItem) (adjustment, bool) {
	sum := sumOf(list)
	if r.sums.roundedTo(sum, r.total) {
		return adjustment{rounding: r.total - sum}, true
	}
	adj, ok := r.sums.adjustments(sum, r.total)
	if !ok {
		adj, ok = r.sums.roundedAdjustments(sum, r.total)
	}
	return adj, ok && adj.plausible(sum)
}

// reconciled returns the list as the result of the given number of repairs.
func reconciled(list []draftItem, adj adjustment, repairs int) items {
	return items{list: list, reconciled: true, repairs: repairs, adjustment: adj, confidence: reconciledConfidence(len(list), repairs)}
}

// reconciledConfidence returns the confidence of n lines that add up to the total after the given
// number of repairs.
func reconciledConfidence(n, repairs int) float64 {
	c := 0.95
	if n == 1 {
		c = 0.8
	}
	return c - 0.15*float64(repairs)
}

// sumOf returns the sum of the amounts.
func sumOf(list []draftItem) int64 {
	sum := int64(0)
	for _, it := range list {
		sum += it.amount.Value
	}
	return sum
}

// subset returns the repair that keeps only the chosen lines.
func subset(choose func([]draftItem) []draftItem) repair {
	return func(r reconciler, draft []draftItem) (items, bool) {
		part := choose(draft)
		if len(part) == 0 || len(part) == len(draft) {
			return items{}, false
		}
		return r.balance(part, 1)
	}
}

// named returns the items that have a name.
func named(draft []draftItem) []draftItem {
	return slices.DeleteFunc(slices.Clone(draft), func(it draftItem) bool { return it.unnamed })
}

// withQuantity returns the items whose amount is the product of their quantity and price.
func withQuantity(draft []draftItem) []draftItem {
	return slices.DeleteFunc(slices.Clone(draft), func(it draftItem) bool { return it.quantity == 0 })
}

// belowNames returns the unnamed lines, each with the name of the line above it. It is for receipts
// that print the name with the unit price on one line, and the amount on the next.
func belowNames(draft []draftItem) []draftItem {
	var out []draftItem
	for i, it := range draft {
		if it.unnamed && i > 0 && !draft[i-1].unnamed {
			it.name, it.description = draft[i-1].name, draft[i-1].description
			out = append(out, it)
		}
	}
	if len(out) < 2 {
		// A single unnamed line may be a sum of the lines above.
		return nil
	}
	return out
}

// useProducts replaces the amount of every line that prints quantity and price by their product.
func (r reconciler) useProducts(draft []draftItem) (items, bool) {
	list := slices.Clone(draft)
	changes := 0
	for i, it := range list {
		if it.product > 0 && it.product != it.amount.Value {
			list[i].amount.Value = it.product
			changes++
		}
	}
	out, ok := r.balance(list, min(changes, maxRereads))
	return out, ok && changes > 0
}

// maxRereads limits the number of amounts that are taken from other readings, and maxRereadLines
// the number of lines from which they are chosen. With more lines, some combination equals any
// total.
const maxRereads, maxRereadLines = 3, 10

// useRereads replaces the amounts of some lines by those that other readings found in the same row.
// It prefers fewer changes.
func (r reconciler) useRereads(draft []draftItem) (items, bool) {
	var reread []int
	for i, it := range draft {
		if len(it.rereads) > 0 {
			reread = append(reread, i)
		}
	}
	if len(reread) > maxRereadLines {
		return items{}, false
	}
	list := slices.Clone(draft)
	// try reports whether exactly that many changes, from reread[from] on, add the missing amount. It
	// leaves them in list.
	var try func(from, changes int, missing int64) bool
	try = func(from, changes int, missing int64) bool {
		for k := from; k < len(reread) && changes > 0; k++ {
			i := reread[k]
			for _, v := range draft[i].rereads {
				list[i].amount.Value = v
				if try(k+1, changes-1, missing+draft[i].amount.Value-v) {
					return true
				}
			}
			list[i].amount.Value = draft[i].amount.Value
		}
		return changes == 0 && missing == 0
	}
	for changes := 1; changes <= min(maxRereads, len(reread)); changes++ {
		for _, adj := range r.sums.singleAdjustments() {
			if try(0, changes, r.total-sumOf(draft)-adj.tax-adj.rounding) {
				return reconciled(list, adj, changes), true
			}
		}
	}
	return items{}, false
}

// replaceOne replaces one amount by another figure of the same line.
func (r reconciler) replaceOne(draft []draftItem) (items, bool) {
	for i := range draft {
		for _, v := range draft[i].alternatives {
			list := slices.Clone(draft)
			list[i].amount.Value = v
			if out, ok := r.balance(list, 1); ok {
				return out, true
			}
		}
	}
	return items{}, false
}

// fixOneDigit changes one digit of one amount if that makes the lines add up. If several amounts
// qualify, it prefers digits that are often confused, then the word with the lowest confidence.
func (r reconciler) fixOneDigit(draft []draftItem) (items, bool) {
	missing := r.total - sumOf(draft)
	for _, adj := range r.sums.singleAdjustments() {
		worst := -1
		required := func(i int) int64 { return draft[i].amount.Value + missing - adj.tax - adj.rounding }
		for i := range draft {
			if oneDigitOff(draft[i].amount.Value, required(i)) && (worst < 0 || likelierMisread(draft[i], required(i), draft[worst], required(worst))) {
				worst = i
			}
		}
		if worst < 0 {
			continue
		}
		list := slices.Clone(draft)
		list[worst].amount.Value = required(worst)
		return reconciled(list, adj, 1), true
	}
	return items{}, false
}

// likelierMisread reports whether a is more likely a misread x than b is a misread y.
func likelierMisread(a draftItem, x int64, b draftItem, y int64) bool {
	if confusedA, confusedB := oftenConfused(a.amount.Value, x), oftenConfused(b.amount.Value, y); confusedA != confusedB {
		return confusedA
	}
	return a.amount.MinConfidence < b.amount.MinConfidence
}

// confusedDigits are the pairs of digits that engines confuse in worn print, the smaller digit
// first.
const confusedDigits = "56 38 08 06 68 17 09 58 35 49 14 27 89 39"

// oftenConfused reports whether the first digits in which two amounts differ are a pair of
// confusedDigits.
func oftenConfused(a, b int64) bool {
	x, y := printed.Format(a), printed.Format(b)
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			pair := string([]byte{min(x[i], y[i]), max(x[i], y[i])})
			return strings.Contains(confusedDigits, pair)
		}
	}
	return false
}

// oneDigitOff reports whether b is a possible amount in hundredths that differs from a in exactly
// one digit.
func oneDigitOff(a, b int64) bool {
	x, y := printed.Format(a), printed.Format(b)
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

// dropOne removes one line that is probably not goods.
func (r reconciler) dropOne(draft []draftItem) (items, bool) {
	if len(draft) < 2 {
		return items{}, false
	}
	for i := range draft {
		list := slices.Delete(slices.Clone(draft), i, i+1)
		if out, ok := r.balance(list, 1); ok {
			return out, true
		}
	}
	return items{}, false
}

// otherColumn takes all amounts from the column before the last. The last column of some receipts
// holds taxes.
func (r reconciler) otherColumn(draft []draftItem) (items, bool) {
	list := slices.Clone(draft)
	for i := range list {
		if len(list[i].alternatives) > 0 {
			list[i].amount.Value = list[i].alternatives[0]
		}
	}
	return r.balance(list, 1)
}
