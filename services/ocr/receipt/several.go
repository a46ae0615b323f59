package receipt

import (
	"slices"

	"github.com/coffer-budget/coffer/services/ocr/receipt/dates"
	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

// several reports whether the pages show more than one receipt. Their lines would be mixed, so the
// result is then no more than a draft.
func several(pages []printed.Page, lines []*printed.Line) bool {
	beside := func(p printed.Page) bool {
		left, right := p.Halves()
		return complete(left) && complete(right)
	}
	return slices.ContainsFunc(pages, beside) || stacked(lines)
}

// complete reports whether a part of a page has goods and a total of its own. The names of goods
// alone, whose prices are in the other part, have neither.
func complete(part printed.Page) bool {
	lines := printed.Lines([]printed.Page{part})
	printed.Classify(lines)
	goods := 0
	for _, l := range lines {
		switch {
		case l.PriceCount() == 0:
		case l.Kind == printed.KindTotal && goods > 0 && printed.HasName(l):
			return true
		case l.Kind == printed.KindNone && itemName(l) != "":
			goods++
		}
	}
	return false
}

// stacked reports whether goods and another total follow below the date of a second receipt. A slip
// of the card terminal or a copy repeats the total and has no goods.
func stacked(lines []*printed.Line) bool {
	var first int64
	goods, dated, datedAgain := 0, false, false
	for _, l := range lines {
		price, priced := l.LastPrice()
		switch {
		case len(dates.On(l)) > 0:
			datedAgain = dated && first != 0
			dated = true
			if datedAgain {
				goods = 0
			}
		case !priced:
		case l.Kind == printed.KindTotal && first == 0:
			first = price.Value
		case l.Kind == printed.KindTotal:
			if datedAgain && goods > 1 && price.Value != first {
				return true
			}
		case l.Kind == printed.KindNone && itemName(l) != "":
			goods++
		}
	}
	return false
}
