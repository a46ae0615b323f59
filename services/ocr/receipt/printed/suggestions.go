package printed

import (
	"slices"

	"github.com/coffer-budget/coffer/services/ocr/receipt/vocabulary"
)

// suggestedWords mark a heading of tips that the customer may choose.
var suggestedWords = Words(vocabulary.Suggested)

// markSuggestions sets KindCount for suggested tips and for the totals that contain them. Each has
// its percentage, on the row of the word or below a heading: "18 % 2.70", and perhaps below it
// "Total 17.70".
func markSuggestions(lines []*Line) {
	for i, line := range lines {
		if !suggestedWords.Has(line.Tokens) || !tipWords.Has(line.Tokens) {
			continue
		}
		switch {
		case line.PriceCount() == 0:
			line.Kind = KindCount
			markSuggested(lines[:i], lines[i+1:])
		case hasPercent(line):
			line.Kind = KindCount
		}
	}
}

// markSuggested marks the suggestions at the start of the lines below a heading. A total without a
// percentage is one only if it is an earlier total plus the tip above it.
func markSuggested(above, below []*Line) {
	tip := int64(0)
	for _, line := range below {
		price, ok := line.LastPrice()
		switch {
		case taxWords.Has(line.Tokens) || line.Kind == KindDiscount:
			return // Their percentages are others.
		case hasPercent(line):
			line.Kind = KindCount
			tip = price.Value
		case !ok:
		case tip != 0 && line.Kind == KindTotal && hasTotal(above, price.Value-tip):
			line.Kind = KindCount
			tip = 0
		default:
			return
		}
	}
}

func hasPercent(l *Line) bool {
	return slices.ContainsFunc(l.Amounts, func(a Amount) bool { return a.Percent })
}

// hasTotal reports whether a line is a total with the value.
func hasTotal(lines []*Line, value int64) bool {
	return slices.ContainsFunc(lines, func(l *Line) bool {
		price, ok := l.LastPrice()
		return ok && l.Kind == KindTotal && price.Value == value
	})
}
