package receipt

import (
	"regexp"
	"slices"
	"strings"

	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

func itemName(line *printed.Line) string {
	head := gluedQuantity.ReplaceAllString(line.BeforeMoney(), "")
	if !printed.Lettered.MatchString(head) {
		// The figures come before the name, as in "5.00 Noodles".
		head = line.Text
		for _, a := range slices.Backward(line.Amounts) {
			head = head[:a.Start] + " " + head[a.End:]
		}
		head = gluedQuantity.ReplaceAllString(head, "")
		if !printed.Lettered.MatchString(head) {
			return ""
		}
		if printed.CodesOnly(strings.Fields(head)) {
			return ""
		}
	}
	if name := trimName(head, figureTail); !printed.CodesOnly(strings.Fields(name)) {
		return name
	}
	return ""
}

var (
	// gluedQuantity matches "2XRM" of a quantity and price without spaces, whose letters are no
	// name.
	gluedQuantity = regexp.MustCompile(`(?i)^\s*(?:\d+\s*)?[x×*@]\s?(?:rm|myr|eur|usd|gbp|chf)\b`)
	// quantityHead matches a quantity or symbols before a name. signTail matches a currency, a
	// multiplication sign or punctuation after it; figureTail also matches numbers and units.
	quantityHead = regexp.MustCompile(`^(?:\d{1,3}\s*[x×]?\s+|[^\p{L}\d(]+)`)
	signTail     = regexp.MustCompile(signPattern)
	figureTail   = regexp.MustCompile(signPattern + `|[\s(]*\d+(?:[.,]\d+)?\s*[x×@*]?\s*$|` +
		`[\s(]*\d+\s*(?:pcs?|stk|kg|g|l|ea)\s*[x×@*]?\s*$`)
)

const signPattern = `(?i)(?:[\s(]+(?:rm|eur|myr|usd|gbp|chf|jpy|[x×]\s?\d*|\d+\s?[x×])|` +
	`[\s(]*[€$£¥₩₹×@*=:.,|_(-]+)\s*$`

// trimName removes the text that matches tail from the end of a name, up to four times, and a
// quantity before it. It stops when no word would remain.
func trimName(text string, tail *regexp.Regexp) string {
	text = strings.TrimSpace(text)
	for range 4 {
		t := strings.TrimSpace(tail.ReplaceAllString(text, ""))
		if !printed.Lettered.MatchString(t) {
			break
		}
		text = t
	}
	if t := quantityHead.ReplaceAllString(text, ""); printed.Lettered.MatchString(t) {
		text = t
	}
	return strings.TrimSpace(text)
}

// quantityOf returns the last two numbers that are a quantity of at most 1000 and a price with the
// amount as product. A quantity does not have two decimals.
func quantityOf(numbers []printed.Amount, amount int64) (quantity, unit int64) {
	for i, q := range numbers {
		for j, u := range numbers {
			product := multiply(q.Value, u.Value)
			if i != j && u.IsPrice() && isQuantity(q, 1_000_000) && product == amount {
				quantity, unit = q.Value, u.Value
			}
		}
	}
	return quantity, unit
}

func isQuantity(a printed.Amount, most int64) bool {
	return a.Decimals != 2 && a.Value > 0 && a.Value <= most
}

// applyQuantity handles an item with its unit price, followed by a line with quantity and amount:
// "Tea 1.00", "*2 2.00".
func (it *draftItem) applyQuantity(line *printed.Line, price printed.Amount) bool {
	one := it.amount.Value
	for _, q := range line.Amounts {
		isProduct := multiply(q.Value, one) == price.Value
		if q.Start != price.Start && q.Value > 1000 && one > 0 && isProduct {
			it.quantity, it.unit = q.Value, one
			it.amount, it.at = price, line
			return true
		}
	}
	return false
}

// productItem returns an item whose amount is only given as quantity and price. Its name is on the
// line above.
func productItem(line, above *printed.Line, price printed.Amount) draftItem {
	it := draftItem{
		at: line, name: strings.TrimSpace(above.Text), description: above,
		amount: price, quantity: 1000, unit: price.Value,
	}
	for _, q := range line.Amounts {
		if q.Start != price.Start && isQuantity(q, 100_000) {
			it.quantity = q.Value
			it.amount.Value = multiply(q.Value, price.Value)
		}
	}
	if it.amount.Value != price.Value {
		it.alternatives = append(it.alternatives, price.Value)
	}
	return it
}

func matchesAmount(l *printed.Line, it draftItem) bool {
	price, _ := l.LastPrice()
	return slices.ContainsFunc(l.Amounts, func(q printed.Amount) bool {
		return q.Start != price.Start && multiply(q.Value, price.Value) == abs(it.amount.Value)
	})
}

// addQuantity adds quantity and price of line l to the item if their product is its amount.
// Otherwise the product becomes an alternative.
func addQuantity(it *draftItem, l *printed.Line) {
	price, _ := l.LastPrice()
	for _, q := range l.Amounts {
		if q.Start == price.Start {
			continue
		}
		if p := multiply(q.Value, price.Value); p == abs(it.amount.Value) {
			it.quantity, it.unit = q.Value, price.Value
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
