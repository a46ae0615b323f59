package ledger

import (
	"slices"
)

// maxLines keeps a receipt's database transaction short; more lines become one transaction for the total.
const maxLines = 500

// The values of form field mode; absent is modeAuto.
const (
	modeAuto   = ""
	modeItems  = "items"
	modeSingle = "single"
)

// bill is what a receipt asks for, in minor units of one currency.
type bill struct {
	// merchant describes a transaction for the total.
	merchant string
	lines    []billLine
	// unreadable: a line or an adjustment could not be read as money, so nothing can be said about the sum.
	unreadable                   bool
	tax, tip, discount, rounding int64
	total                        int64
}

type billLine struct {
	description string
	amount      int64
}

// share is one transaction to be: what it is for, and its signed amount, negative for what was paid.
type share struct {
	description string
	amount      int64
}

// reconciles reports whether the lines and adjustments add up to the printed total exactly. The sum cannot overflow:
// money bounds each amount so that a bigint holds 900 of the finest currency.
func (b bill) reconciles() bool {
	if b.unreadable || len(b.lines) == 0 || len(b.lines) > maxLines {
		return false
	}
	sum := b.tax + b.tip - b.discount + b.rounding
	for _, l := range b.lines {
		sum += l.amount
	}
	return sum == b.total
}

// split returns the shares of a bill, whose sum is minus the printed total whatever the mode. It reports false when the
// mode cannot be followed: items that do not add up, or a total of zero that is not made of items.
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

// items leaves out what is free: a transaction of zero tells nothing, and changes no sum.
func (b bill) items() []share {
	shares := make([]share, 0, len(b.lines)+4)
	for _, l := range b.lines {
		shares = append(shares, share{description: l.description, amount: -l.amount})
	}
	shares = append(shares,
		share{description: "Tax", amount: -b.tax},
		share{description: "Tip", amount: -b.tip},
		share{description: "Discount", amount: b.discount},
		share{description: "Rounding", amount: -b.rounding})
	return slices.DeleteFunc(shares, func(s share) bool { return s.amount == 0 })
}
