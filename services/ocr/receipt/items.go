package receipt

import (
	"regexp"
	"strings"
)

// draftItem is a line of goods before its amount is reconciled. Amounts, prices and quantities are in thousandths.
type draftItem struct {
	at           *line
	name         string
	quantity     int64
	unit         int64
	amount       amount
	alternatives []int64 // other possible amounts from the same line, likeliest first
	rereads      []int64 // different amounts that other readings found in the same row
	product      int64   // quantity times price, if the line prints both
	unnamed      bool    // without a name on this line or above it
	description  *line   // the line with the name
}

// minFreeConfidence is the confidence from which the amount 0.00 is print and not dirt.
const minFreeConfidence = 0.8

// free reports whether an item with the amount 0 is printed as such: a part of a menu, with its quantity. In text it always is.
func (it draftItem) free() bool {
	counted := it.quantity > 0 || quantityFirst.MatchString(it.at.text)
	return it.at.exact || counted && !it.unnamed && lettered.MatchString(it.name) && it.amount.decimals == 2 && it.amount.minConfidence >= minFreeConfidence
}

// items is the result of reconciling a draft. repairs is the number of changes that were needed.
type items struct {
	list       []draftItem
	reconciled bool
	repairs    int
	adjustment adjustment
	confidence float64
}

// itemRegion returns the lines with goods: from the column titles, or the top, to the first sum below a price. It returns nil
// if there is no sum, because nothing then shows where the goods end.
func itemRegion(lines []*line) []*line {
	start, end := 0, len(lines)
	// first is the index of the first line with a price. Column titles below it do not restart the region.
	first := -1
	for i, l := range lines {
		if l.kind == kindHeader && (first < 0 || i < first) {
			start = i + 1
			continue
		}
		// Below an article with words of a sum, the figures of its quantity and price follow.
		if l.priceCount() == 0 && (first < 0 || !amountBelow(lines, i) || len(lines[i+1].amounts) > 1) {
			continue
		}
		switch l.kind {
		case kindSubtotal, kindTotal, kindCash, kindChange:
			// A payment above the first price belongs to the head, for example a card terminal's slip.
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
	// quantityTimesPrice matches a multiplication of quantity and price, such as "2 x 1.50" or "3 pcs @".
	quantityTimesPrice = regexp.MustCompile(`(?i)(?:^|[\s\d])[x×*@]\s*(?:rm|eur|[€$£])?\s*\d|\d\s*(?:pcs?|stk|st|ea|unit|uds?)?\s*[x×*@]\s`)
	// quantityFirst matches a small quantity before the name of an article.
	quantityFirst = regexp.MustCompile(`^\d{1,2}\s*[xX×]?\s+\p{L}`)
	// lettered matches a word of at least three letters.
	lettered = regexp.MustCompile(`\p{L}{3,}`)
)

// itemReader reads the lines of goods from top to bottom.
type itemReader struct {
	out []draftItem
	// pendingName is a name without figures, and pendingQuantity a "2 x 1.50" without an item. Both belong to the next item.
	pendingName, pendingQuantity *line
}

// readItems reads the lines of goods. A name may be above its figures, and "2 x 1.50" above or below its item. Lines with
// taxes, tips, roundings and counts are skipped.
func readItems(region []*line) []draftItem {
	var r itemReader
	for _, l := range region {
		price, ok := l.lastPrice()
		switch {
		case !ok:
			if hasName(l) && l.kind != kindHeader && l.kind != kindRounding {
				r.pendingName = l
			}
		case l.kind == kindTax || l.kind == kindRounding || l.kind == kindTip:
		case l.kind == kindCount && savedWords.has(l.tokens):
		// "Item Qty: 2.00" prints a number of articles like a price.
		case l.kind == kindCount && len(l.tokens) > 1 && price.value%1000 == 0 && onlyCountWords(l.tokens):
		case itemName(l) == "" && l.priceCount() == 1 && quantityTimesPrice.MatchString(l.text):
			r.readQuantity(l, price)
		default:
			r.item(l, price)
		}
	}
	return r.out
}

// readQuantity reads a line with only quantity and price. It belongs to the item above if it confirms its amount, then to a
// pending name, and otherwise to the next item.
func (r *itemReader) readQuantity(l *line, price amount) {
	switch n := len(r.out); {
	case n > 0 && r.pendingName == nil && matchesAmount(l, r.out[n-1]):
		addQuantity(&r.out[n-1], l)
	case n > 0 && r.pendingName == nil && r.out[n-1].applyQuantity(l, price):
	case r.pendingName != nil:
		r.out = append(r.out, productItem(l, r.pendingName, price))
		r.pendingName, r.pendingQuantity = nil, nil
	default:
		r.pendingQuantity = l
	}
}

// item reads a line with a price, and gives it the pending name or quantity.
func (r *itemReader) item(l *line, price amount) {
	it := newItem(l, itemName(l), price)
	if head := l.beforeMoney(); l.exact && it.quantity == 0 && lettered.MatchString(head) {
		// Without a unit price, a number belongs to the name, as in "Vitamin B12".
		it.name = trimName(head, signTail)
	}
	if r.pendingQuantity != nil {
		addQuantity(&it, r.pendingQuantity)
		r.pendingQuantity = nil
	}
	if it.name == "" && r.pendingName != nil {
		it.name, it.description = strings.TrimSpace(r.pendingName.text), r.pendingName
	} else if it.name == "" {
		it.unnamed = true
	}
	r.pendingName = nil
	if l.kind == kindDiscount && it.amount.value > 0 && !it.isNet() {
		if len(l.tokens) > 1 {
			// With more words than the one for a discount, the line may be an article.
			it.alternatives = append([]int64{it.amount.value}, it.alternatives...)
		}
		it.amount.value = -it.amount.value
	}
	if l.kind != kindDiscount && it.amount.value > 0 && attachedMinus.MatchString(l.text[:price.start]) {
		// A minus before the number may also be a dash after the name.
		it.alternatives = append(it.alternatives, -it.amount.value)
	}
	if l.kind != kindDiscount && it.amount.value < 0 {
		// A dash or dirt before a price looks like a minus.
		it.alternatives = append(it.alternatives, -it.amount.value)
	}
	// A discount of zero and a zero without a name are no items.
	if it.amount.value == 0 && (l.kind == kindDiscount || it.name == "") {
		return
	}
	r.out = append(r.out, it)
}

// newItem reads the figures of a line. It finds quantity and unit price among the numbers before the price, and collects other
// figures of the line and their products as alternatives for the amount, nearest to the price first.
func newItem(l *line, name string, price amount) draftItem {
	it := draftItem{at: l, name: name, amount: price, description: l}
	var numbers []amount
	for _, a := range l.amounts {
		if a.start < price.start && !a.percent {
			numbers = append(numbers, a)
		}
	}
	// The product is kept even if it differs from the amount, because the amount may be misread.
	if quantityTimesPrice.MatchString(l.text) && len(numbers) > 0 {
		// The first number is the quantity. The unit price follows it, or is the only price of the line.
		u := price
		if len(numbers) > 1 {
			u = numbers[1]
		}
		if u.decimals >= 2 && numbers[0].value <= 1_000_000 {
			it.product = multiply(numbers[0].value, u.value)
		}
	}
	// Quantity and unit price are two numbers whose product is the amount. A quantity does not have two decimals and is at most
	// 1000.
	for i, q := range numbers {
		for j, u := range numbers {
			if i != j && u.isPrice() && q.decimals != 2 && q.value > 0 && q.value <= 1_000_000 && multiply(q.value, u.value) == abs(price.value) {
				it.quantity, it.unit = q.value, u.value
			}
		}
	}
	// Prices further left, and their products with whole quantities up to 100, may be the amount instead. A quantity of 1 is
	// left out, because its product is the price itself.
	for i := len(numbers) - 1; i >= 0; i-- {
		a := numbers[i]
		if a.isPrice() && a.value != price.value {
			it.alternatives = append(it.alternatives, a.value)
		}
		for j := range numbers {
			if q := numbers[j]; j != i && a.isPrice() && q.decimals == 0 && q.value > 0 && q.value <= 100_000 && q.value != 1000 {
				it.alternatives = append(it.alternatives, multiply(q.value, a.value))
			}
		}
	}
	return it
}

// applyQuantity handles an item with its unit price, followed by a line with quantity and amount: "Tea 1.00", "*2 2.00". It
// reports whether the amount on line l is the product, and then updates the item.
func (it *draftItem) applyQuantity(l *line, price amount) bool {
	for _, q := range l.amounts {
		if one := it.amount.value; q.start != price.start && q.value > 1000 && one > 0 && multiply(q.value, one) == price.value {
			it.quantity, it.unit, it.amount, it.at = q.value, one, price, l
			return true
		}
	}
	return false
}

// isNet reports whether the amount is the difference of two other figures of the line, as in "1 x 11.50 (Disc. 1.60) 9.90".
func (it draftItem) isNet() bool {
	for _, gross := range it.alternatives {
		for _, off := range it.alternatives {
			if off != 0 && gross-off == it.amount.value {
				return true
			}
		}
	}
	return false
}

// productItem returns an item whose amount is only given as quantity and price. Its name is on the line above.
func productItem(l, above *line, price amount) draftItem {
	it := draftItem{at: l, name: strings.TrimSpace(above.text), description: above, amount: price, quantity: 1000, unit: price.value}
	for _, q := range l.amounts {
		if q.start != price.start && q.decimals != 2 && q.value > 0 && q.value <= 100_000 {
			it.quantity = q.value
			it.amount.value = multiply(q.value, price.value)
		}
	}
	if it.amount.value != price.value {
		it.alternatives = append(it.alternatives, price.value)
	}
	return it
}

// matchesAmount reports whether a quantity on the line times its price is the item's amount.
func matchesAmount(l *line, it draftItem) bool {
	price, _ := l.lastPrice()
	for _, q := range l.amounts {
		if q.start != price.start && multiply(q.value, price.value) == abs(it.amount.value) {
			return true
		}
	}
	return false
}

// addQuantity adds quantity and price of line l to the item if their product is its amount. Otherwise the product becomes an
// alternative.
func addQuantity(it *draftItem, l *line) {
	price, _ := l.lastPrice()
	for _, q := range l.amounts {
		if q.start == price.start {
			continue
		}
		if p := multiply(q.value, price.value); p == abs(it.amount.value) {
			it.quantity, it.unit = q.value, price.value
		} else {
			it.alternatives = append(it.alternatives, p)
		}
	}
}

// multiply returns quantity times price, both in thousandths, rounded to hundredths.
func multiply(q, u int64) int64 {
	p := q * u / 1000
	return (p + 5) / 10 * 10
}
