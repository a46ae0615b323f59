package printed

import (
	"regexp"
	"slices"
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
	// KindCount is a number of articles, of points or of savings: "Total items 4".
	KindCount
	KindHeader
)

var headerWords = PhraseList(`qty,quantity,price,u price,unit price,amount,amt,total,description,
	desc,item,disc,tax,rm,code,uom,menge,preis,betrag,artikel,bezeichnung,einzelpreis,gesamt,
	designation,quantite,prix,montant,cant,descripcion,precio,importe,descrizione,prezzo,importo,
	qta,s price,sub total,no`)

// containedWords mark the tax that a total includes: "total includes 5 % VAT 0.40".
var containedWords = PhraseList(`includes,included,contains,davon,enthalten,enthaltene,dont,darin`)

// totalOfRate matches the total of all goods with one tax rate.
var totalOfRate = regexp.MustCompile(`(?i)tota\w*\s*\(?\d{1,2}(?:[.,]\d+)?\s?%`)

// ofSupplies mark such a total in the tax invoices of countries with GST.
var ofSupplies = PhraseList(`supply,supplies`)

// taxInBrackets matches a bracket after a total that names the included tax. The word "incl" may be
// misread: "TOTAL (GST INGL)".
var taxInBrackets = regexp.MustCompile(`(?i)tota?l?\s*[(<{\[]\s*[a-z0-9]{2,4}[ .]+[a-z]{2,}`)

// afterDiscount marks an amount from which a discount was subtracted.
var afterDiscount = PhraseList(`after discount,after disc,nach rabatt,apres remise,tras descuento,
	dopo sconto`)

// amountWords mark a total of money on a line that also has the number of articles: "Qty: 6 Total
// Amount".
var amountWords = PhraseList(`total amount,total amt,total sales,total price`)

// paidWords mark a total that was paid, not requested.
var paidWords = PhraseList(`paid,tendered,tender,received,payment,gegeben,entregado,pagado,regle`)

// owedWords contain a word of paidWords but mark the amount requested.
var owedWords = PhraseList(`to be paid`)

// Classify sets the kinds of lines.
func Classify(lines []*Line) {
	for _, l := range lines {
		l.Kind = kindOf(l)
	}
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
		return totalKind(tokens)
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

func isRoundedTotal(l *Line) bool {
	if StrongTotalWords.Has(l.Tokens) || slices.Contains(l.Tokens, "rounded") ||
		slices.Contains(l.Tokens, "after") {
		return true
	}
	// A rounding is less than one unit; a larger amount is the rounded total.
	a, ok := l.LastPrice()
	return ok && (a.Value >= 1000 || a.Value <= -1000)
}

// SavedWords mark an amount that the customer has saved. The prices of the goods already contain
// it.
var SavedWords = PhraseList(`total saving,total savings,total discount,you saved,you save,saved,
	gespart,ersparnis,points`)

// isBalance reports whether "balance" is the only word besides short ones, such as a currency.
// Articles are named "Balance", too.
func isBalance(t []string) bool {
	long := 0
	for _, w := range t {
		if len(w) > 3 {
			long++
		}
	}
	return long == 1 && slices.ContainsFunc(t, func(w string) bool { return similar("balance", w) })
}

// OnlyCountWords reports whether all words are about numbers of articles.
func OnlyCountWords(t []string) bool {
	return !slices.ContainsFunc(t, func(w string) bool { return !countWords.Has([]string{w}) })
}

// totalKind returns the kind of a line with a word for total: "total tax", "total before tax",
// "total incl. tax" and "total items" are not the total of the receipt.
func totalKind(tokens []string) Kind {
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
		return KindCount
	}
	return KindTotal
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
