package receipt

import (
	"slices"

	"github.com/coffer-budget/coffer/services/ocr/receipt/dates"
	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

// maxReceipts limits the receipts of a file.
const maxReceipts = 8

// Split divides pages that show several receipts into the pages of each one, in reading order.
// Every recognition of the pages is divided at the same places, which the first one determines. The
// result has the recognitions of each receipt. All pages remain, without the words of the other
// receipts.
func Split(recognitions ...[]printed.Page) [][][]printed.Page {
	parts := [][][]printed.Page{recognitions}
	for i := 0; i < len(parts) && len(parts) < maxReceipts; {
		at, found := findCut(parts[i][0])
		if !found {
			i++
			continue
		}
		var first, second [][]printed.Page
		for _, pages := range parts[i] {
			before, after := at.divide(pages)
			first, second = append(first, before), append(second, after)
		}
		parts = slices.Replace(parts, i, i+1, first, second)
	}
	return parts
}

// cut is the place between two receipts: a vertical line on a page, or a horizontal one. Page
// counts from 0. The pages before it belong to the first receipt, and those after it to the second.
type cut struct {
	page     int
	vertical bool
	at       int
}

func (c cut) divide(pages []printed.Page) (before, after []printed.Page) {
	for i, p := range pages {
		first, second := p, p
		first.Words, second.Words = nil, nil
		for _, w := range p.Words {
			if c.before(i, w.Box) {
				first.Words = append(first.Words, w)
			} else {
				second.Words = append(second.Words, w)
			}
		}
		before, after = append(before, first), append(after, second)
	}
	return before, after
}

func (c cut) before(page int, box printed.Box) bool {
	switch {
	case page != c.page:
		return page < c.page
	case c.vertical:
		return box.X+box.W/2 < c.at
	}
	return box.Y+box.H/2 < c.at
}

// findCut returns the place that divides the pages into two parts with a complete receipt each, and
// with different totals. Two columns of a receipt are not complete, and a copy has the same total.
func findCut(pages []printed.Page) (cut, bool) {
	for i, p := range pages {
		if x, ok := p.Gap(); ok {
			at := cut{page: i, vertical: true, at: x}
			left, right := at.divide(pages)
			first, second := linesOf(left), linesOf(right)
			if complete(first) && complete(second) && totalOf(first) != totalOf(second) {
				return at, true
			}
		}
	}
	return findStacked(linesOf(pages))
}

func totalOf(complete []*printed.Line) int64 {
	total, _ := complete[totalIn(complete)].LastPrice()
	return total.Value
}

// complete reports whether a part has a date, and a total below goods.
func complete(part []*printed.Line) bool {
	return totalIn(part) < len(part) && slices.ContainsFunc(part, dated)
}

func dated(l *printed.Line) bool { return len(dates.On(l)) > 0 }

func linesOf(pages []printed.Page) []*printed.Line {
	lines := printed.Lines(pages)
	printed.Classify(lines)
	return lines
}

// totalIn returns the index of the first total below goods, or the number of lines.
func totalIn(lines []*printed.Line) int {
	goods := false
	for i, l := range lines {
		if goods && isTotal(l) {
			return i
		}
		goods = goods || isGoods(l)
	}
	return len(lines)
}

func isTotal(l *printed.Line) bool {
	return l.Kind == printed.KindTotal && l.PriceCount() > 0 && printed.HasName(l)
}

func isGoods(l *printed.Line) bool {
	return l.Kind == printed.KindNone && l.PriceCount() > 0
}

// findStacked returns the widest gap between two receipts of which one is below the other. A slip
// of the card terminal has no goods. A line between two totals of a receipt is a rounding or a
// charge, so the second receipt has at least two lines of goods, or one with the amount of its
// total.
func findStacked(lines []*printed.Line) (cut, bool) {
	top := totalIn(lines)
	if top == len(lines) {
		return cut{}, false
	}
	first, _ := lines[top].LastPrice()
	if !slices.ContainsFunc(lines[:top], dated) {
		// The date is below the total.
		below := slices.IndexFunc(lines[top:], dated)
		if below < 0 {
			return cut{}, false
		}
		top += below
	}
	var best cut
	found := false
	widest, total, isDated := usualGap(lines)*3/2, int64(0), false
	// upcoming is the first total below the line, and goods the number of lines of goods between.
	upcoming, goods := int64(0), 0
	for i, l := range slices.Backward(lines) {
		if i <= top {
			break
		}
		price, _ := l.LastPrice()
		switch {
		case isTotal(l):
			upcoming, goods = price.Value, 0
		case isGoods(l) && upcoming != 0:
			goods++
			if goods > 1 || price.Value == upcoming {
				total = upcoming
			}
		}
		isDated = isDated || dated(l)
		if gap := gapAbove(lines, i); gap >= widest && isDated && total != 0 &&
			total != first.Value && !taxed(lines[:i], total) {
			best, widest, found = cutAbove(lines, i), gap, true
		}
	}
	return best, found
}

// taxed reports whether an amount is a tax. A table of taxes repeats it as its total.
func taxed(lines []*printed.Line, amount int64) bool {
	return slices.ContainsFunc(lines, func(l *printed.Line) bool {
		price, ok := l.LastPrice()
		return ok && l.Kind == printed.KindTax && price.Value == amount
	})
}

// usualGap returns the median distance of two lines of a page.
func usualGap(lines []*printed.Line) int {
	var gaps []int
	for i := 1; i < len(lines); i++ {
		if gap := gapAbove(lines, i); gap < pageGap {
			gaps = append(gaps, gap)
		}
	}
	return printed.Median(gaps)
}

// pageGap is wider than any gap between the lines of a page.
const pageGap = 1 << 30

// gapAbove returns the distance in pixels of a line from the one above.
func gapAbove(lines []*printed.Line, i int) int {
	if lines[i].Page != lines[i-1].Page {
		return pageGap
	}
	return lines[i].Middle - lines[i-1].Middle
}

// cutAbove returns the place above a line.
func cutAbove(lines []*printed.Line, i int) cut {
	at := cut{page: lines[i].Page - 1}
	if lines[i].Page == lines[i-1].Page {
		at.at = lines[i].Middle - gapAbove(lines, i)/2
	}
	return at
}
