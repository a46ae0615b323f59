package printed

import (
	"regexp"
	"slices"

	"github.com/coffer-budget/coffer/services/ocr/receipt/vocabulary"
)

// Kind classifies the amount of a line by the words of the line.
type Kind int

// The kinds of lines. Those from KindTotal to KindRounding have a list in sums.
const (
	KindNone Kind = iota
	KindTotal
	KindSubtotal
	KindTax
	KindCash
	KindChange
	KindTip
	KindDiscount
	KindRounding
	// KindCount is a number of articles, of points or of savings, or a suggested tip: amounts that
	// nobody pays, such as "Total items 4".
	KindCount
	KindHeader
)

var (
	headerWords    = Words(vocabulary.Column)
	containedWords = Words(vocabulary.TaxIncluded)
	includedWords  = Words(vocabulary.Inclusive)
	inclusiveWords = slices.Concat(includedWords, Words(vocabulary.AfterTax))
	ofSupplies     = Words(vocabulary.Supplies)
	afterDiscount  = Words(vocabulary.Discounted)
	amountWords    = Words(vocabulary.TotalOfMoney)
	paidWords      = Words(vocabulary.Paid)
	owedWords      = Words(vocabulary.Owed)
	// SavedWords mark an amount that the customer has saved. The prices of the goods already
	// contain it.
	SavedWords = Words(vocabulary.Saved)
)

// totalOfRate matches the total of all goods with one tax rate.
var totalOfRate = regexp.MustCompile(`(?i)tota\w*\s*\(?\d{1,2}(?:[.,]\d+)?\s?%`)

// taxInBrackets matches a bracket after a total that names the included tax. The word "incl" may be
// misread: "TOTAL (GST INGL)".
var taxInBrackets = regexp.MustCompile(`(?i)tota?l?\s*[(<{\[]\s*[a-z0-9]{2,4}[ .]+[a-z]{2,}`)

// Classify sets the kinds of lines.
func Classify(lines []*Line) {
	for _, l := range lines {
		l.Kind = kindOf(l)
	}
	markSuggestions(lines)
}

// kindOf returns the kind of a line. The order of the cases matters: many lines have words of
// several kinds.
func kindOf(line *Line) Kind {
	tokens := line.Tokens
	if len(line.Amounts) == 0 && isHeader(tokens) {
		return KindHeader
	}
	switch total := totalWords.Has(tokens) || isBalance(tokens); {
	case changeWords.Has(tokens):
		return KindChange
	case roundingWords.Has(tokens):
		if total && isRoundedTotal(line) {
			return KindTotal
		}
		return KindRounding
	case total && (totalOfRate.MatchString(line.Text) || ofSupplies.Has(tokens)):
		return KindSubtotal
	case total && taxInBrackets.MatchString(line.Text) && taxWords.Has(tokens) &&
		!exclusiveWords.Has(tokens):
		return KindTotal
	case total:
		return totalKind(line)
	case subtotalWords.Has(tokens):
		return KindSubtotal
	// Words for tips, payments and counts also occur in other meanings, so they only classify short
	// lines.
	case tipWords.Has(tokens) && len(tokens) <= 4:
		return KindTip
	case afterDiscount.Has(tokens):
		return KindSubtotal
	case discountWords.Has(tokens):
		return KindDiscount
	case taxWords.Has(tokens):
		return KindTax
	case cashWords.Has(tokens) && len(tokens) <= 5:
		return KindCash
	case countWords.Has(tokens) && (len(tokens) <= 3 || OnlyCountWords(tokens)):
		return KindCount
	}
	return KindNone
}

// Included reports whether a line names a tax that the prices include: "INC 6 % GST".
func Included(l *Line) bool {
	return l.Kind == KindTax && (containedWords.Has(l.Tokens) || includedWords.Has(l.Tokens))
}

func isRoundedTotal(l *Line) bool {
	if StrongTotalWords.Has(l.Tokens) || slices.Contains(l.Tokens, "rounded") ||
		slices.Contains(l.Tokens, "after") {
		return true
	}
	// A rounding is less than one unit; a larger amount is the rounded total.
	a, ok := l.LastPrice()
	return ok && (a.Value >= 1000 || a.Value <= -1000)
}

// isBalance reports whether "balance" is the only word besides short ones, such as a currency, or
// "AMT" or "DUE" the only word at all. Articles are named "Balance", too.
func isBalance(t []string) bool {
	long := 0
	for _, w := range t {
		if len(w) > 3 {
			long++
		}
	}
	alone := len(t) == 1 && slices.Contains([]string{"amt", "due", "bal"}, t[0])
	return alone || long == 1 &&
		slices.ContainsFunc(t, func(w string) bool { return similar("balance", w) })
}

// OnlyCountWords reports whether all words are about numbers of articles and their total.
func OnlyCountWords(t []string) bool {
	return !slices.ContainsFunc(t, func(w string) bool {
		word := []string{w}
		return !countWords.Has(word) && !totalWords.Has(word)
	})
}

// totalKind returns the kind of a line with a word for total: "total tax", "total before tax",
// "total incl. tax" and "total items" are not the total of the receipt.
func totalKind(line *Line) Kind {
	tokens := line.Tokens
	tax := taxWords.Has(tokens)
	switch {
	// "Total paid" is a payment, and "total to be paid" is the total.
	case paidWords.Has(tokens) && !owedWords.Has(tokens):
		return KindCash
	case tax && containedWords.Has(tokens):
		return KindTax
	case tax && inclusiveWords.Has(tokens):
		return KindTotal
	case exclusiveWords.Has(tokens), subtotalWords.Has(tokens):
		return KindSubtotal
	case tipWords.Has(tokens):
		return KindTip
	case tax:
		return KindTax
	// Discounts are among countWords as savings, but "total after discount" is the total.
	case countWords.Has(tokens) && !amountWords.Has(tokens) && !afterDiscount.Has(tokens):
		if countAndPrice(line) {
			return KindTotal
		}
		return KindCount
	}
	return KindTotal
}

// countAndPrice reports whether a line has a number of articles, and after it the total: "Total
// Qty: 21 270.30".
func countAndPrice(line *Line) bool {
	price, ok := line.LastPrice()
	first := line.Amounts
	return ok && len(first) > 1 && first[0].Decimals == 0 && !first[0].Percent &&
		price.Start > first[0].End &&
		!discountWords.Has(line.Tokens) && !SavedWords.Has(line.Tokens)
}

// isHeader reports whether at least half of the words, and at least two, are column titles.
func isHeader(t []string) bool {
	n := 0
	for _, word := range t {
		titled := func(p []string) bool { return len(p) == 1 && similar(p[0], word) }
		if slices.ContainsFunc(headerWords, titled) {
			n++
		}
	}
	return n >= 2 && n*2 >= len(t)
}

// PriceCount returns the number of prices on a line.
func (l *Line) PriceCount() int {
	n := 0
	for _, a := range l.Amounts {
		if a.IsPrice() {
			n++
		}
	}
	return n
}

// LastPrice returns the rightmost price of a line.
func (l *Line) LastPrice() (Amount, bool) {
	for _, a := range slices.Backward(l.Amounts) {
		if a.IsPrice() {
			return a, true
		}
	}
	return Amount{}, false
}

// BeforeMoney returns the text before the first price or percentage.
func (l *Line) BeforeMoney() string {
	end := len(l.Text)
	for _, a := range l.Amounts {
		if a.IsPrice() || a.Percent {
			end = min(end, a.Start)
		}
	}
	return l.Text[:end]
}
