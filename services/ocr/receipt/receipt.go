// Package receipt converts the words on a page to a receipt: merchant, date, currency, amounts and lines, each with a
// confidence and the place where it was read. It is pure: it uses no clock, no files and no engine, and never fails. A field
// that is not found is empty.
//
// A caller runs Read once per recognition of an image and Join over the results. Amounts are kept in thousandths, because fuel
// and weighed goods are priced in them, and returned as decimal strings. Words may come in any order. The stages and their
// files:
//
//	layout.go         words to lines, in Read; language.go guesses the language from them
//	amount.go         the numbers on a line; currency.go: the currency, which decides what a price looks like
//	kinds.go          what the amount of a line is, by the vocabulary of words.go
//	sums.go           the labeled amounts: totals, taxes, payments
//	items.go          drafts of the lines of goods; itemname.go: their names
//	dateformats.go    the dates on a line; date.go: the date of the receipt
//	merchant.go       possible names of the merchant; merchantwords.go, name.go: vocabulary, spelling
//	join.go           the stages of Join, in this order: texts; figures (draft.go); total (total.go and proof.go rank the
//	                  amounts, rounding.go follows the rounding of cash); goods (reconcile.go and adjust.go make the lines add up to the total); charges
//	output.go         the results of the stages as a Receipt
//	claim.go          instead of all this, checks a receipt that a language model has read
package receipt

import "strings"

// Word is a recognized word. Confidence is the engine's, from 0 to 1.
type Word struct {
	Text       string
	Box        Box
	Confidence float64
}

// Box is a rectangle in pixels of the upright page.
type Box struct{ X, Y, W, H int }

// Page holds the words of one page. Width and Height are in pixels, or zero for plain text. Words may come in any order.
type Page struct {
	Width, Height int
	Words         []Word
	// Exact is set if the words were text in the file and did not have to be recognized. No digit of them is treated as
	// misread.
	Exact bool
}

// Receipt is the result of reading an image or a text. Amounts are decimal strings with a point and at least two decimals. A
// field that was not found is empty.
type Receipt struct {
	Merchant string
	// Date is YYYY-MM-DD.
	Date string
	// Currency is an ISO 4217 code.
	Currency                                      string
	Subtotal, Tax, Tip, Discount, Rounding, Total string
	Items                                         []Item
	// Confidence is from 0 to 1 by field name: merchant, date, currency, subtotal, tax, tip, total, lines.
	Confidence map[string]float64
	Evidence   []Evidence
	Warnings   []Warning
}

// Item is one line of goods. Amount is negative for a refund or a discount.
type Item struct {
	Description, Quantity, UnitPrice, Amount string
}

// Evidence is the place where a field was read. Page counts from 1. Box is zero for plain text.
type Evidence struct {
	Field string
	Page  int
	Box   Box
	Text  string
}

// Warning is a code for a doubt that a user should check.
type Warning string

// The warnings that reading a receipt can give.
const (
	// DateAmbiguous means that day and month may be swapped.
	DateAmbiguous Warning = "DATE_AMBIGUOUS"
	// LinesNotReconciled means that the lines do not add up to the total.
	LinesNotReconciled Warning = "LINES_NOT_RECONCILED"
)

// Reading is the analysis of one recognition of a receipt. Join combines the readings of the same receipt.
type Reading struct {
	lines     []*line
	sums      sums
	draft     []draftItem
	dates     []printedDate
	merchants []textField
	// nameRows are single rows that were recognized again for the merchant's name.
	nameRows []*line
	// rowsOnly is set if only single rows were recognized. Such readings of a row tend to repeat the same error, so together
	// they count less.
	rowsOnly bool
	currency textField
}

// textField is the value of a text field with the line where it was read. Before Join, confidence is a score that may exceed 1.
type textField struct {
	value      string
	confidence float64
	at         *line
}

// Read analyzes one recognition of all pages of a receipt.
func Read(pages []Page) Reading {
	r := Reading{lines: layout(pages)}
	classify(r.lines)
	signRefund(r.lines)
	r.currency = findCurrency(r.lines)
	markPrices(r.lines, r.currency.value)
	r.sums = findSums(r.lines)
	r.draft = readItems(itemRegion(r.lines))
	r.dates = findDates(r.lines)
	r.merchants = findMerchants(r.lines)
	return r
}

// Row is the place of a row of words. Page counts from 1.
type Row struct {
	Page int
	Box  Box
}

// maxRows is the number of rows of a kind that are worth recognizing again.
const maxRows = 3

// DateRows returns the rows that should contain the date, at most maxRows, likeliest first. It uses the rows of all readings
// that have a date, a time of day, or a word for date with digits.
func DateRows(readings ...Reading) []Row {
	var likely, possible []Row
	for _, r := range readings {
		for _, l := range r.lines {
			place := Row{Page: l.page, Box: l.evidence("", 0, 0).Box}
			switch dates := len(datesOn(l)) > 0; {
			case l.height == 0:
			case dates && (hasDateWord(l.tokens) || timeOfDay.MatchString(l.text)):
				likely = addRow(likely, place)
			case dates || timeOfDay.MatchString(l.text) || hasDateWord(l.tokens) && hasDigits(l.text):
				possible = addRow(possible, place)
			}
		}
	}
	for _, p := range possible {
		likely = addRow(likely, p)
	}
	return likely[:min(len(likely), maxRows)]
}

// minNameConfidence is the mean confidence of words below which the spelling of a merchant's name is doubtful.
const minNameConfidence = 0.88

// MerchantRow returns the row of the merchant's name, or nil if its spelling is not doubtful.
func MerchantRow(readings ...Reading) []Row {
	name := pickMerchant(readings)
	if name.at == nil || name.at.height == 0 || name.at.meanConfidence() >= minNameConfidence {
		return nil
	}
	return []Row{{Page: name.at.page, Box: name.at.evidence("", 0, 0).Box}}
}

// ReadMerchantRow analyzes a second recognition of the row of the merchant's name. The result only votes on the spelling.
func ReadMerchantRow(pages []Page) Reading {
	lines := layoutRows(pages)
	return Reading{lines: lines, nameRows: lines}
}

// addRow appends p unless the list has a row that overlaps more than half of its height.
func addRow(places []Row, p Row) []Row {
	for _, have := range places {
		if top, bottom := max(have.Box.Y, p.Box.Y), min(have.Box.Y+have.Box.H, p.Box.Y+p.Box.H); have.Page == p.Page && 2*(bottom-top) > min(have.Box.H, p.Box.H) {
			return places
		}
	}
	return append(places, p)
}

// SumRows returns the last rows with the total, the payment, and sums before them, at most 2*maxRows.
func (r Reading) SumRows() []Row {
	var out []Row
	for _, l := range r.lines {
		switch l.kind {
		case kindTotal, kindSubtotal, kindCash, kindChange, kindRounding:
			if len(l.amounts) > 0 || len(l.tokens) <= 3 {
				out = append(out, Row{Page: l.page, Box: l.evidence("", 0, 0).Box})
			}
		}
	}
	// The last rows are nearest to the total.
	return out[max(0, len(out)-2*maxRows):]
}

func hasDigits(text string) bool { return strings.ContainsAny(text, "0123456789") }

// ReadSumRows analyzes a second recognition of rows with sums. Everything else on them is ignored.
func ReadSumRows(pages []Page) Reading {
	lines := layoutRows(pages)
	classify(lines)
	return Reading{lines: lines, sums: findSums(lines), rowsOnly: true}
}

// ReadDateRows analyzes a second recognition of rows with a date. Everything else on them is ignored.
func ReadDateRows(pages []Page) Reading {
	lines := layoutRows(pages)
	return Reading{lines: lines, dates: findDates(lines), rowsOnly: true}
}
