package receipt

import (
	"regexp"
	"slices"
)

// kind classifies the amount of a line by the words of the line.
type kind int

// The kinds of lines. The kinds from kindTotal to kindRounding have a list in sums.
const (
	kindNone kind = iota
	kindTotal
	kindSubtotal
	kindTax
	kindCash
	kindChange
	kindTip
	kindDiscount
	kindRounding
	// kindCount is a number of articles, of points or of savings: "Total items 4".
	kindCount
	// kindHeader is the row of column titles.
	kindHeader
)

// headerWords are column titles.
var headerWords = phraseList(`qty,quantity,price,u price,unit price,amount,amt,total,description,desc,item,disc,tax,rm,code,uom,menge,preis,betrag,
	artikel,bezeichnung,einzelpreis,gesamt,designation,quantite,prix,montant,cant,descripcion,precio,importe,descrizione,prezzo,importo,qta,s price,sub total,no`)

// containedWords mark the tax that a total includes: "total includes 5 % VAT 0.40".
var containedWords = phraseList(`includes,included,contains,davon,enthalten,enthaltene,dont,darin`)

// totalOfRate matches the total of all goods with one tax rate.
var totalOfRate = regexp.MustCompile(`(?i)tota\w*\s*\(?\d{1,2}(?:[.,]\d+)?\s?%`)

// ofSupplies mark such a total in the tax invoices of countries with GST.
var ofSupplies = phraseList(`supply,supplies`)

// taxInBrackets matches a bracket after a total that names the included tax. The word "incl" may be misread: "TOTAL (GST
// INGL)".
var taxInBrackets = regexp.MustCompile(`(?i)tota?l?\s*[(<{\[]\s*[a-z0-9]{2,4}[ .]+[a-z]{2,}`)

// afterDiscount marks an amount from which a discount was subtracted.
var afterDiscount = phraseList(`after discount,after disc,nach rabatt,apres remise,tras descuento,dopo sconto`)

// amountWords mark a total of money on a line that also has the number of articles: "Qty: 6 Total Amount".
var amountWords = phraseList(`total amount,total amt,total sales,total price`)

// paidWords mark a total that was paid, not requested.
var paidWords = phraseList(`paid,tendered,tender,received,payment,gegeben,entregado,pagado,regle`)

// owedWords contain a word of paidWords but mark the amount requested.
var owedWords = phraseList(`to be paid`)

// classify sets the kind of each line.
func classify(lines []*line) {
	for _, l := range lines {
		l.kind = kindOf(l)
	}
}

// kindOf returns the kind of a line. The order of the cases matters: many lines have words of several kinds.
func kindOf(l *line) kind {
	t := l.tokens
	if len(l.amounts) == 0 && isHeader(t) {
		return kindHeader
	}
	switch total := totalWords.has(t) || isBalance(t); {
	case changeWords.has(t):
		return kindChange
	case roundingWords.has(t):
		// A rounding is less than one unit; a larger amount is the rounded total.
		if a, ok := l.lastPrice(); total && (strongTotalWords.has(t) || slices.Contains(t, "rounded") || slices.Contains(t, "after") || ok && abs(a.value) >= 1000) {
			return kindTotal
		}
		return kindRounding
	case total && (totalOfRate.MatchString(l.text) || ofSupplies.has(t)):
		return kindSubtotal
	case total && taxInBrackets.MatchString(l.text) && taxWords.has(t) && !exclusiveWords.has(t):
		return kindTotal
	case total:
		return totalKind(t)
	case subtotalWords.has(t):
		return kindSubtotal
	// Words for tips, payments and counts also occur in other meanings, so they only classify short lines.
	case tipWords.has(t) && len(t) <= 4:
		return kindTip
	case afterDiscount.has(t):
		return kindSubtotal
	case discountWords.has(t):
		return kindDiscount
	case taxWords.has(t):
		return kindTax
	case cashWords.has(t) && len(t) <= 5:
		return kindCash
	case countWords.has(t) && (len(t) <= 3 || onlyCountWords(t)):
		return kindCount
	}
	return kindNone
}

// savedWords mark an amount that the customer has saved. The prices of the goods already contain it.
var savedWords = phraseList(`total saving,total savings,total discount,you saved,you save,saved,gespart,ersparnis,points`)

// isBalance reports whether "balance" is the only word besides short ones, such as a currency. Articles are named "Balance", too.
func isBalance(t []string) bool {
	long := 0
	for _, w := range t {
		if len(w) > 3 {
			long++
		}
	}
	return long == 1 && slices.ContainsFunc(t, func(w string) bool { return similar("balance", w) })
}

// onlyCountWords reports whether all words are about numbers of articles.
func onlyCountWords(t []string) bool {
	return !slices.ContainsFunc(t, func(w string) bool { return !countWords.has([]string{w}) })
}

// totalKind returns the kind of a line with a word for total: "total tax", "total before tax", "total incl. tax" and "total
// items" are not the total of the receipt.
func totalKind(t []string) kind {
	tax := taxWords.has(t)
	switch {
	// "Total paid" is a payment, and "total to be paid" is the total.
	case paidWords.has(t) && !owedWords.has(t):
		return kindCash
	case tax && containedWords.has(t):
		return kindTax
	case tax && inclusiveWords.has(t):
		return kindTotal
	case exclusiveWords.has(t):
		return kindSubtotal
	case subtotalWords.has(t):
		return kindSubtotal
	case tipWords.has(t):
		return kindTip
	case tax:
		return kindTax
	// Discounts are among countWords as savings, but "total after discount" is the total.
	case countWords.has(t) && !amountWords.has(t) && !afterDiscount.has(t):
		return kindCount
	}
	return kindTotal
}

// isHeader reports whether at least half of the words, and at least two, are column titles.
func isHeader(t []string) bool {
	n := 0
	for i := range t {
		for _, p := range headerWords {
			if len(p) == 1 && similar(p[0], t[i]) {
				n++
				break
			}
		}
	}
	return n >= 2 && n*2 >= len(t)
}

// priceCount returns the number of prices on a line.
func (l *line) priceCount() int {
	n := 0
	for _, a := range l.amounts {
		if a.isPrice() {
			n++
		}
	}
	return n
}

// lastPrice returns the rightmost price of a line.
func (l *line) lastPrice() (amount, bool) {
	for _, a := range slices.Backward(l.amounts) {
		if a.isPrice() {
			return a, true
		}
	}
	return amount{}, false
}
