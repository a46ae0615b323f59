package receipt

import (
	"slices"
	"strings"

	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

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

func named(draft []draftItem) []draftItem {
	return slices.DeleteFunc(slices.Clone(draft), func(it draftItem) bool { return it.unnamed })
}

// withQuantity returns the items whose amount is the product of their quantity and price.
func withQuantity(draft []draftItem) []draftItem {
	uncounted := func(it draftItem) bool { return it.quantity == 0 }
	return slices.DeleteFunc(slices.Clone(draft), uncounted)
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
	// try reports whether exactly that many changes, from reread[from] on, add the missing amount.
	// It leaves them in list.
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
	for _, adj := range r.sums.singleAdjustments() {
		missing := r.total - sumOf(draft) - adj.tax - adj.rounding
		worst := -1
		for i, it := range draft {
			if it.oneDigitOff(missing) && (worst < 0 || it.likelierMisread(draft[worst], missing)) {
				worst = i
			}
		}
		if worst < 0 {
			continue
		}
		list := slices.Clone(draft)
		list[worst].amount.Value += missing
		return reconciled(list, adj, 1), true
	}
	return items{}, false
}

// likelierMisread reports whether the amount is more likely misread by missing than that of other.
func (it draftItem) likelierMisread(other draftItem, missing int64) bool {
	if confused := it.oftenConfused(missing); confused != other.oftenConfused(missing) {
		return confused
	}
	return it.amount.MinConfidence < other.amount.MinConfidence
}

// confusedDigits are the pairs of digits that engines confuse in worn print, the smaller digit
// first.
const confusedDigits = "56 38 08 06 68 17 09 58 35 49 14 27 89 39"

// oftenConfused reports whether the first digits in which the amount changes are a pair of
// confusedDigits.
func (it draftItem) oftenConfused(missing int64) bool {
	x, y := printed.Format(it.amount.Value), printed.Format(it.amount.Value+missing)
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			pair := string([]byte{min(x[i], y[i]), max(x[i], y[i])})
			return strings.Contains(confusedDigits, pair)
		}
	}
	return false
}

// oneDigitOff reports whether the amount plus missing is in hundredths and differs in exactly one
// digit.
func (it draftItem) oneDigitOff(missing int64) bool {
	a, b := it.amount.Value, it.amount.Value+missing
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
