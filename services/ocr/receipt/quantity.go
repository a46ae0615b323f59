package receipt

import (
	"slices"
	"strings"

	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

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
