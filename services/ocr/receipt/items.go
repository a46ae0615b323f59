package receipt

import (
	"regexp"
	"slices"
	"strings"

	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

// draftItem is a line of goods before its amount is reconciled. Numbers are in thousandths.
type draftItem struct {
	at           *printed.Line
	name         string
	quantity     int64
	unit         int64
	amount       printed.Amount
	alternatives []int64       // other possible amounts from the same line, likeliest first
	rereads      []int64       // different amounts that other readings found in the same row
	product      int64         // quantity times price, if the line prints both
	unnamed      bool          // without a name on this line or above it
	description  *printed.Line // the line with the name
}

// minFreeConfidence is the confidence from which the amount 0.00 is print and not dirt.
const minFreeConfidence = 0.8

// free reports whether an item with the amount 0 is printed as such: a part of a menu, with its
// quantity. In text it always is.
func (it draftItem) free() bool {
	counted := it.quantity > 0 || quantityFirst.MatchString(it.at.Text)
	legible := it.amount.Decimals == 2 && it.amount.MinConfidence >= minFreeConfidence
	return it.at.Exact || counted && legible && !it.unnamed && printed.Lettered.MatchString(it.name)
}

// items is the result of reconciling a draft. repairs is the number of changes that were needed.
type items struct {
	list       []draftItem
	reconciled bool
	repairs    int
	adjustment adjustment
	confidence float64
}

// itemRegion returns the lines with goods: from the column titles, or the top, to the first sum
// below a price. It returns nil if there is no sum, because nothing then shows where the goods end.
func itemRegion(lines []*printed.Line) []*printed.Line {
	start, end := 0, len(lines)
	// Column titles below the first line with a price do not restart the region.
	first := -1
	for index, line := range lines {
		if line.Kind == printed.KindHeader && (first < 0 || index < first) {
			start = index + 1
			continue
		}
		// Below an article with words of a sum, the figures of its quantity and price follow.
		below := first >= 0 && amountBelow(lines, index) && len(lines[index+1].Amounts) == 1
		if line.PriceCount() == 0 && !below {
			continue
		}
		switch line.Kind {
		case printed.KindSubtotal, printed.KindTotal, printed.KindCash, printed.KindChange:
			// A payment above the first price belongs to the head, for example a card terminal's
			// slip.
			if first < 0 && line.Kind != printed.KindTotal && line.Kind != printed.KindSubtotal {
				continue
			}
			end = index
		case printed.KindNone, printed.KindDiscount:
			if first < 0 {
				first = index
			}
		}
		if end == index {
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
	// quantityTimesPrice matches "2 x 1.50" or "3 pcs @".
	quantityTimesPrice = regexp.MustCompile(`(?i)(?:^|[\s\d])[x×*@]\s*(?:rm|eur|[€$£])?\s*\d|` +
		`\d\s*(?:pcs?|stk|st|ea|unit|uds?)?\s*[x×*@]\s`)
	quantityFirst = regexp.MustCompile(`^\d{1,2}\s*[xX×]?\s+\p{L}`)
)

type itemReader struct {
	out []draftItem
	// pendingName is a name without figures, and pendingQuantity a "2 x 1.50" without an item. Both
	// belong to the next item.
	pendingName, pendingQuantity *printed.Line
}

// readItems reads the lines of goods. A name may be above its figures, and "2 x 1.50" above or
// below its item. Lines with taxes, tips, roundings and counts are skipped.
func readItems(region []*printed.Line) []draftItem {
	var reader itemReader
	for _, line := range region {
		price, ok := line.LastPrice()
		switch {
		case !ok:
			named := line.Kind != printed.KindHeader && line.Kind != printed.KindRounding
			if named && printed.HasName(line) {
				reader.pendingName = line
			}
		case line.Kind == printed.KindTax, line.Kind == printed.KindRounding,
			line.Kind == printed.KindTip:
		case line.Kind == printed.KindCount && isCount(line, price):
		case itemName(line) == "" && line.PriceCount() == 1 &&
			quantityTimesPrice.MatchString(line.Text):
			reader.readQuantity(line, price)
		default:
			reader.item(line, price)
		}
	}
	return reader.out
}

// isCount reports whether a line with words for counts has no goods. "Item Qty: 2.00" prints a
// number of articles like a price.
func isCount(l *printed.Line, price printed.Amount) bool {
	return printed.SavedWords.Has(l.Tokens) ||
		len(l.Tokens) > 1 && price.Value%1000 == 0 && printed.OnlyCountWords(l.Tokens)
}

// readQuantity reads a line with only quantity and price. It belongs to the item above if it
// confirms its amount, then to a pending name, and otherwise to the next item.
func (r *itemReader) readQuantity(line *printed.Line, price printed.Amount) {
	switch n := len(r.out); {
	case n > 0 && r.pendingName == nil && matchesAmount(line, r.out[n-1]):
		addQuantity(&r.out[n-1], line)
	case n > 0 && r.pendingName == nil && r.out[n-1].applyQuantity(line, price):
	case r.pendingName != nil:
		r.out = append(r.out, productItem(line, r.pendingName, price))
		r.pendingName, r.pendingQuantity = nil, nil
	default:
		r.pendingQuantity = line
	}
}

func (r *itemReader) item(line *printed.Line, price printed.Amount) {
	it := newItem(line, itemName(line), price)
	if head := line.BeforeMoney(); line.Exact && it.quantity == 0 &&
		printed.Lettered.MatchString(head) {
		// Without a unit price, a number belongs to the name, as in "Vitamin B12".
		it.name = trimName(head, signTail)
	}
	if r.pendingQuantity != nil {
		addQuantity(&it, r.pendingQuantity)
		r.pendingQuantity = nil
	}
	if it.name == "" && r.pendingName != nil {
		it.name, it.description = strings.TrimSpace(r.pendingName.Text), r.pendingName
	} else if it.name == "" {
		it.unnamed = true
	}
	r.pendingName = nil
	isDiscount := line.Kind == printed.KindDiscount
	minus := it.amount.Value < 0 || printed.AttachedMinus.MatchString(line.Text[:price.Start])
	switch value := it.amount.Value; {
	case value == 0 && (isDiscount || it.name == ""):
		return
	case isDiscount && value > 0 && !it.isNet():
		if len(line.Tokens) > 1 {
			// With more words than the one for a discount, the line may be an article.
			it.alternatives = append([]int64{value}, it.alternatives...)
		}
		it.amount.Value = -value
	// A dash after the name or dirt before a price looks like a minus.
	case !isDiscount && value != 0 && minus:
		it.alternatives = append(it.alternatives, -value)
	}
	r.out = append(r.out, it)
}

// newItem reads the figures of a line. Other figures and their products are alternatives for the
// amount, nearest to the price first.
func newItem(line *printed.Line, name string, price printed.Amount) draftItem {
	it := draftItem{at: line, name: name, amount: price, description: line}
	var numbers []printed.Amount
	for _, a := range line.Amounts {
		if a.Start < price.Start && !a.Percent {
			numbers = append(numbers, a)
		}
	}
	// The product is kept even if it differs from the amount, because the amount may be misread.
	if quantityTimesPrice.MatchString(line.Text) && len(numbers) > 0 {
		// The unit price follows the quantity, or is the only price of the line.
		u := price
		if len(numbers) > 1 {
			u = numbers[1]
		}
		if u.Decimals >= 2 && numbers[0].Value <= 1_000_000 {
			it.product = multiply(numbers[0].Value, u.Value)
		}
	}
	for i, amount := range slices.Backward(numbers) {
		if !amount.IsPrice() {
			continue
		}
		if amount.Value != price.Value {
			it.alternatives = append(it.alternatives, amount.Value)
		}
		for j, q := range numbers {
			// A quantity of 1 is left out, because its product is the price itself.
			if j != i && q.Decimals == 0 && isQuantity(q, 100_000) && q.Value != 1000 {
				it.alternatives = append(it.alternatives, multiply(q.Value, amount.Value))
			}
		}
	}
	it.quantity, it.unit = quantityOf(numbers, abs(price.Value))
	return it
}

// isNet reports whether the amount is the difference of two other figures of the line, as in "1 x
// 11.50 (Disc. 1.60) 9.90".
func (it draftItem) isNet() bool {
	for _, gross := range it.alternatives {
		for _, off := range it.alternatives {
			if off != 0 && gross-off == it.amount.Value {
				return true
			}
		}
	}
	return false
}
