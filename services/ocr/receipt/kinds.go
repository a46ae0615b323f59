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

// paidWords make a total what was handed over, not what was asked for.
var paidWords = phraseList(`paid,tendered,tender,received,payment,gegeben,entregado,pagado,regle`)

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
		if total && (strongTotalWords.has(t) || slices.Contains(t, "rounded") || slices.Contains(t, "after")) {
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
	case discountWords.has(t):
		return kindDiscount
	case taxWords.has(t):
		return kindTax
	case cashWords.has(t) && len(t) <= 5:
		return kindCash
	case countWords.has(t) && len(t) <= 3:
		return kindCount
	}
	return kindNone
}

// totalKind tells what there is a total of: "total tax", "total before tax", "total incl. tax", "total items".
func totalKind(t []string) kind {
	tax := taxWords.has(t)
	switch {
	case paidWords.has(t):
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
	case countWords.has(t):
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

// labelled is an amount with the line that says what it is.
type labelled struct {
	amount
	at *line
	// strong: the words leave no doubt that it is what is to be paid.
	strong bool
	// near: the words stand on the line above, or the figure had to be guessed at.
	near bool
	// seen: in how many readings.
	seen int
	// late: below the last total, where tables of taxes and of savings repeat what is in it already.
	late bool
}

// sums are the amounts below the items, by what they are called.
type sums struct {
	totals, subtotals, taxes, cash, change, tips, discounts, rounding []labelled
	// rates of taxes whose amount was not read, in thousandths of a percent.
	rates []int64
}

func findSums(lines []*line) sums {
	var s sums
	for i, l := range lines {
		into := s.of(l.kind)
		if into == nil {
			continue
		}
		strong := strongTotalWords.has(l.tokens)
		if a, ok := l.lastPrice(); ok {
			*into = append(*into, labelled{amount: a, at: l, strong: strong, seen: 1})
			continue
		}
		// The figure may stand on the next line, alone.
		if i+1 < len(lines) && lines[i+1].kind == kindNone && len(lines[i+1].tokens) <= 1 {
			if a, ok := lines[i+1].lastPrice(); ok && lines[i+1].prices() == 1 {
				*into = append(*into, labelled{amount: a, at: lines[i+1], strong: strong, near: true, seen: 1})
				continue
			}
		}
		if l.kind == kindTax {
			s.addRates(l)
		} else if a, ok := lostPoint(l); ok {
			*into = append(*into, labelled{amount: a, at: l, near: true, seen: 1})
		}
	}
	if n := len(s.totals); n > 0 {
		last := s.totals[n-1].at.index
		for _, list := range [][]labelled{s.taxes, s.tips, s.discounts} {
			for i := range list {
				list[i].late = list[i].at.index > last
			}
		}
	}
	return s
}

func (s *sums) addRates(l *line) {
	for _, a := range l.amounts {
		if a.percent && a.value > 0 && !slices.Contains(s.rates, a.value) {
			s.rates = append(s.rates, a.value)
		}
	}
}

// add joins what another reading found; what both found counts once.
func (s *sums) add(o sums) {
	for _, rate := range o.rates {
		if !slices.Contains(s.rates, rate) {
			s.rates = append(s.rates, rate)
		}
	}
	for k := kindTotal; k <= kindRounding; k++ {
		into := s.of(k)
		if into == nil {
			continue
		}
		for _, l := range *o.of(k) {
			i := slices.IndexFunc(*into, func(have labelled) bool { return have.value == l.value })
			if i < 0 {
				*into = append(*into, l)
				continue
			}
			have := &(*into)[i]
			have.strong, have.near, have.late = have.strong || l.strong, have.near && l.near, have.late && l.late
			have.seen += l.seen
			have.certainty = max(have.certainty, l.certainty)
		}
	}
}

func (s *sums) of(k kind) *[]labelled {
	switch k {
	case kindTotal:
		return &s.totals
	case kindSubtotal:
		return &s.subtotals
	case kindTax:
		return &s.taxes
	case kindCash:
		return &s.cash
	case kindChange:
		return &s.change
	case kindTip:
		return &s.tips
	case kindDiscount:
		return &s.discounts
	case kindRounding:
		return &s.rounding
	}
	return nil
}

// lostPoint reads "1250" or "12 50" at the end of a labelled line as 12.50. Others must confirm it. Text has lost nothing:
// there it is what it says.
func lostPoint(l *line) (amount, bool) {
	n := len(l.amounts)
	if n == 0 {
		return amount{}, false
	}
	last := l.amounts[n-1]
	if l.exact {
		return last, !last.percent && last.decimals < 2
	}
	if last.percent || last.decimals == 3 || len(l.text)-last.end > 3 {
		return amount{}, false
	}
	if n > 1 && last.decimals == 0 && last.end-last.start == 2 && l.amounts[n-2].decimals == 0 && last.start-l.amounts[n-2].end == 1 {
		a := last
		a.start = l.amounts[n-2].start
		a.value, a.decimals = l.amounts[n-2].value+last.value/100, 2
		return a, true
	}
	if last.decimals == 0 && last.end-last.start >= 3 && last.end-last.start <= 7 {
		last.value, last.decimals, last.certainty = last.value/100, 2, last.certainty*0.5
		return last, true
	}
	if last.decimals == 0 {
		last.certainty *= 0.5
		return last, true
	}
	return amount{}, false
}
