package receipts

import (
	"slices"

	"github.com/google/uuid"
)

// maxLines is the maximum number of lines that become a transaction each. It keeps the database
// transaction short. A receipt with more lines becomes one transaction for the total.
const maxLines = 500

// The values of parameter mode. An absent mode is modeAuto.
const (
	modeAuto   = ""
	modeItems  = "items"
	modeSingle = "single"
)

// bill holds the amounts of a receipt in minor units of one currency. Prices are positive.
type bill struct {
	// merchant is the description of a transaction for the total.
	merchant string
	lines    []billLine
	// unreadable is true if a line or an adjustment is not a valid amount, so that the lines cannot
	// be compared with the total.
	unreadable bool
	// The adjustments are added to the lines, and discount is subtracted.
	tax, tip, discount, rounding int64
	total                        int64
}

// billLine is one item of a receipt. A refund is negative.
type billLine struct {
	description string
	amount      int64
	// category is uuid.Nil for the category of the request.
	category uuid.UUID
}

// share is a part of a bill that becomes one transaction. The amount is signed like a
// transaction's: negative for an expense.
type share struct {
	description string
	amount      int64
	// category is uuid.Nil for the category of the request.
	category uuid.UUID
}

// reconciles reports whether the lines and adjustments add up to the printed total exactly. A
// tolerance would create transactions whose sum is not the amount that was paid.
func (b bill) reconciles() bool {
	if b.unreadable || len(b.lines) == 0 || len(b.lines) > maxLines {
		return false
	}
	return b.sum() == b.total
}

// sum returns the sum of the lines and adjustments. It cannot overflow with at most maxLines lines,
// because package money limits each amount so that an int64 holds the sum of 900.
func (b bill) sum() int64 {
	sum := b.tax + b.tip - b.discount + b.rounding
	for _, l := range b.lines {
		sum += l.amount
	}
	return sum
}

// split returns the shares of a bill. Their sum is minus the printed total in each mode. It returns
// false if the mode is impossible: modeItems with lines that do not add up, or one transaction for
// a total of zero.
func (b bill) split(mode string) ([]share, bool) {
	if mode != modeSingle && b.reconciles() {
		if shares := b.items(); len(shares) > 0 {
			return shares, true
		}
	}
	if mode == modeItems || b.total == 0 {
		return nil, false
	}
	return []share{{description: b.merchant, amount: -b.total}}, true
}

// items returns one share per line and adjustment. It omits those of zero, because transactions of
// zero are not allowed and change no sum.
func (b bill) items() []share {
	shares := make([]share, 0, len(b.lines)+4)
	for _, l := range b.lines {
		shares = append(shares,
			share{description: l.description, amount: -l.amount, category: l.category})
	}
	shares = append(shares,
		share{description: "Tax", amount: -b.tax},
		share{description: "Tip", amount: -b.tip},
		share{description: "Discount", amount: b.discount},
		share{description: "Rounding", amount: -b.rounding})
	return slices.DeleteFunc(shares, func(s share) bool { return s.amount == 0 })
}
