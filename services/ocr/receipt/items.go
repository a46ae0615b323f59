package receipt

import (
	"regexp"
	"strings"
)

// draftItem is a line of goods before its amount is settled.
type draftItem struct {
	at          *line
	name        string
	quantity    int64
	unit        int64
	amount      amount
	others      []int64 // what its amount may be instead, likeliest first
	again       []int64 // what other readings found for it
	product     int64   // quantity times price, where the line says so
	doubtful    bool
	description *line
}

// items are the lines as they were settled.
type items struct {
	list       []draftItem
	reconciled bool
	repairs    int
	adjustment adjustment
	confidence float64
}

// itemRegion is from below the head, or the column titles, to the first sum.
func itemRegion(lines []*line) []*line {
	start, end := 0, len(lines)
	first := -1
	for i, l := range lines {
		if l.kind == kindHeader && (first < 0 || i < first) {
			start = i + 1
			continue
		}
		if l.prices() == 0 {
			continue
		}
		switch l.kind {
		case kindSubtotal, kindTotal, kindCash, kindChange:
			if first < 0 && l.kind != kindTotal && l.kind != kindSubtotal {
				continue
			}
			end = i
		case kindNone, kindDiscount:
			if first < 0 {
				first = i
			}
		}
		if end == i {
			break
		}
	}
	if end == len(lines) {
		// Without a sum nothing says where the goods end.
		return nil
	}
	if start > end {
		start = 0
	}
	return lines[start:end]
}

var (
	times    = regexp.MustCompile(`(?i)(?:^|[\s\d])[x×*@]\s*(?:rm|eur|[€$£])?\s*\d|\d\s*(?:pcs?|stk|st|ea|unit|uds?)?\s*[x×*@]\s`)
	lettered = regexp.MustCompile(`\p{L}{3,}`)
)

// itemReader reads the lines of goods from top to bottom.
type itemReader struct {
	out []draftItem
	// above is a name that waits for its figures, and detail a "2 x 1.50" that waits for its item.
	above, detail *line
}

// readItems reads the lines of goods. A name may stand above its figures, and "2 x 1.50" above or below its item.
func readItems(region []*line) []draftItem {
	var r itemReader
	for _, l := range region {
		price, ok := l.lastPrice()
		switch {
		case !ok:
			if hasName(l) && l.kind != kindHeader && l.kind != kindRounding {
				r.above = l
			}
		case l.kind == kindTax || l.kind == kindRounding || l.kind == kindTip:
		case l.kind == kindCount && len(l.tokens) > 1 && price.value%1000 == 0 && onlyCounts(l.tokens):
		case itemName(l) == "" && l.prices() == 1 && times.MatchString(l.text):
			r.times(l, price)
		default:
			r.item(l, price)
		}
	}
	return r.out
}

// times reads quantity and price of an item, the product of which may stand nowhere.
func (r *itemReader) times(l *line, price amount) {
	switch n := len(r.out); {
	case n > 0 && r.above == nil && confirms(l, r.out[n-1]):
		attach(&r.out[n-1], l)
	case n > 0 && r.above == nil && r.out[n-1].multiplied(l, price):
	case r.above != nil:
		r.out = append(r.out, product(l, r.above, price))
		r.above, r.detail = nil, nil
	default:
		r.detail = l
	}
}

func (r *itemReader) item(l *line, price amount) {
	it := newItem(l, itemName(l), price)
	if head := l.beforeMoney(); l.exact && it.quantity == 0 && lettered.MatchString(head) {
		// Without a price for each, a number is no quantity but the end of a name, as in "Vitamin B12".
		it.name = trimName(head, signTail)
	}
	if r.detail != nil {
		attach(&it, r.detail)
		r.detail = nil
	}
	if it.name == "" && r.above != nil {
		it.name, it.description = strings.TrimSpace(r.above.text), r.above
	} else if it.name == "" {
		it.doubtful = true
	}
	r.above = nil
	if l.kind == kindDiscount && it.amount.value > 0 && !it.net() {
		if len(l.tokens) > 1 {
			// More than the word for it may be the name of an article.
			it.others = append([]int64{it.amount.value}, it.others...)
		}
		it.amount.value = -it.amount.value
	}
	if l.kind != kindDiscount && it.amount.value < 0 {
		// A dash or a speck before a price looks like a minus.
		it.others = append(it.others, -it.amount.value)
	}
	if it.amount.value == 0 && (l.kind == kindDiscount || it.name == "") {
		return
	}
	r.out = append(r.out, it)
}

func newItem(l *line, name string, price amount) draftItem {
	it := draftItem{at: l, name: name, amount: price, description: l}
	var numbers []amount
	for _, a := range l.amounts {
		if a.start < price.start && !a.percent {
			numbers = append(numbers, a)
		}
	}
	if times.MatchString(l.text) && len(numbers) > 0 {
		u := price
		if len(numbers) > 1 {
			u = numbers[1]
		}
		if u.decimals >= 2 && numbers[0].value <= 1_000_000 {
			it.product = multiply(numbers[0].value, u.value)
		}
	}
	for i, q := range numbers {
		for j, u := range numbers {
			if i != j && u.money() && q.decimals != 2 && q.value > 0 && q.value <= 1_000_000 && multiply(q.value, u.value) == abs(price.value) {
				it.quantity, it.unit = q.value, u.value
			}
		}
	}
	for i := len(numbers) - 1; i >= 0; i-- {
		a := numbers[i]
		if a.money() && a.value != price.value {
			it.others = append(it.others, a.value)
		}
		for j := range numbers {
			if q := numbers[j]; j != i && a.money() && q.decimals == 0 && q.value > 0 && q.value <= 100_000 && q.value != 1000 {
				it.others = append(it.others, multiply(q.value, a.value))
			}
		}
	}
	return it
}

// multiplied: the item had the price of one, and the line below has how many and their amount: "Tea 1.00", "*2 2.00".
func (it *draftItem) multiplied(l *line, price amount) bool {
	for _, q := range l.amounts {
		if one := it.amount.value; q.start != price.start && q.value > 1000 && one > 0 && multiply(q.value, one) == price.value {
			it.quantity, it.unit, it.amount, it.at = q.value, one, price, l
			return true
		}
	}
	return false
}

// net: the amount is what another figure of the line is without a third: "1 x 11.50 (Disc. 1.60) 9.90".
func (it draftItem) net() bool {
	for _, gross := range it.others {
		for _, off := range it.others {
			if off != 0 && gross-off == it.amount.value {
				return true
			}
		}
	}
	return false
}

// product is an item whose amount is only given as quantity and price.
func product(l, above *line, price amount) draftItem {
	it := draftItem{at: l, name: strings.TrimSpace(above.text), description: above, amount: price, quantity: 1000, unit: price.value}
	for _, q := range l.amounts {
		if q.start != price.start && q.decimals != 2 && q.value > 0 && q.value <= 100_000 {
			it.quantity = q.value
			it.amount.value = multiply(q.value, price.value)
		}
	}
	if it.amount.value != price.value {
		it.others = append(it.others, price.value)
	}
	return it
}

// confirms: the line's quantity times its price is the item's amount.
func confirms(l *line, it draftItem) bool {
	price, _ := l.lastPrice()
	for _, q := range l.amounts {
		if q.start != price.start && multiply(q.value, price.value) == abs(it.amount.value) {
			return true
		}
	}
	return false
}

func attach(it *draftItem, l *line) {
	price, _ := l.lastPrice()
	for _, q := range l.amounts {
		if q.start == price.start {
			continue
		}
		if p := multiply(q.value, price.value); p == abs(it.amount.value) {
			it.quantity, it.unit = q.value, price.value
		} else {
			it.others = append(it.others, p)
		}
	}
}

// multiply rounds quantity times price, both in thousandths, to hundredths.
func multiply(q, u int64) int64 {
	p := q * u / 1000
	return (p + 5) / 10 * 10
}
