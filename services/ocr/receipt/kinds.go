package receipt

import (
	"regexp"
	"slices"
)

// kind is what a line's words say that its amount is.
type kind int

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
	// kindCount is a number of things, of points or of savings: "Total items 4".
	kindCount
	// kindHeader is the row of column titles.
	kindHeader
)

var headerWords = phraseList(`qty,quantity,price,u price,unit price,amount,amt,total,description,desc,item,disc,tax,rm,code,uom,menge,preis,betrag,
	artikel,bezeichnung,einzelpreis,gesamt,designation,quantite,prix,montant,cant,descripcion,precio,importe,descrizione,prezzo,importo,qta,s price,sub total,no`)

// containedWords make a total with a tax in it the tax: "total includes 5 % VAT 0.40".
var containedWords = phraseList(`includes,included,contains,davon,enthalten,enthaltene,dont,darin`)

// totalOfRate is the total of what one rate of tax applies to.
var totalOfRate = regexp.MustCompile(`(?i)tota\w*\s*\(?\d{1,2}(?:[.,]\d+)?\s?%`)

// ofSupplies make a total that of what one rate of tax applies to, in the tax invoices of countries with GST.
var ofSupplies = phraseList(`supply,supplies`)

// taxInBrackets after a total says what is in it, however badly the "incl" is read: "TOTAL (GST INGL)".
var taxInBrackets = regexp.MustCompile(`(?i)tota?l?\s*[(<{\[]\s*[a-z0-9]{2,4}[ .]+[a-z]{2,}`)

// afterDiscount is what is left when a discount is taken off.
var afterDiscount = phraseList(`after discount,after disc,nach rabatt,apres remise,tras descuento,dopo sconto`)

// amountWords make a total that of money, though the number of things stands beside it: "Qty: 6 Total Amount".
var amountWords = phraseList(`total amount,total amt,total sales,total price`)

// paidWords make a total what was handed over, not what was asked for.
var paidWords = phraseList(`paid,tendered,tender,received,payment,gegeben,entregado,pagado,regle`)

// owedWords are about paying, but not about what was paid.
var owedWords = phraseList(`to be paid`)

func classify(lines []*line) {
	for _, l := range lines {
		l.kind = kindOf(l)
	}
}

func kindOf(l *line) kind {
	t := l.tokens
	if len(l.amounts) == 0 && isHeader(t) {
		return kindHeader
	}
	switch total := totalWords.has(t); {
	case changeWords.has(t):
		return kindChange
	case roundingWords.has(t):
		// What is rounded away is worth less than one unit.
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
	case countWords.has(t) && (len(t) <= 3 || onlyCounts(t)):
		return kindCount
	}
	return kindNone
}

// onlyCounts: every word is about how many there are.
func onlyCounts(t []string) bool {
	return !slices.ContainsFunc(t, func(w string) bool { return !countWords.has([]string{w}) })
}

// totalKind tells what there is a total of: "total tax", "total before tax", "total incl. tax", "total items".
func totalKind(t []string) kind {
	tax := taxWords.has(t)
	switch {
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
	case countWords.has(t) && !amountWords.has(t) && !afterDiscount.has(t):
		return kindCount
	}
	return kindTotal
}

func isHeader(t []string) bool {
	n := 0
	for i := range t {
		for _, p := range headerWords {
			if len(p) == 1 && alike(p[0], t[i]) {
				n++
				break
			}
		}
	}
	return n >= 2 && n*2 >= len(t)
}

// prices counts the numbers on a line that are written like prices.
func (l *line) prices() int {
	n := 0
	for _, a := range l.amounts {
		if a.money() {
			n++
		}
	}
	return n
}

// lastPrice is the rightmost price of a line.
func (l *line) lastPrice() (amount, bool) {
	for _, a := range slices.Backward(l.amounts) {
		if a.money() {
			return a, true
		}
	}
	return amount{}, false
}
