// Package receipt turns the words on a page into a receipt: who sold what, when, for how much, and how sure that is.
//
// It is pure: no clock, no files, no engine. Words come with their boxes, in any order; amounts are kept in thousandths,
// because fuel and weighed goods are priced in them, and leave as decimal strings with a point.
package receipt

import "strings"

// Word is a word as it was recognised. Confidence is the engine's own, 0 to 1.
type Word struct {
	Text       string
	Box        Box
	Confidence float64
}

// Box is a rectangle in pixels of the upright page.
type Box struct{ X, Y, W, H int }

// Page is what was recognised on one page. Width and Height are zero for plain text, which has no pixels.
type Page struct {
	Width, Height int
	Words         []Word
	// Exact: the words came as text and nobody had to recognise them, so none of their digits is taken for misread.
	Exact bool
}

// Receipt is what was read. Amounts are decimal strings; what was not found is empty.
type Receipt struct {
	Merchant string
	// Date is YYYY-MM-DD.
	Date string
	// Currency is an ISO 4217 code.
	Currency                                      string
	Subtotal, Tax, Tip, Discount, Rounding, Total string
	Items                                         []Item
	// Confidence is 0 to 1 by field name: merchant, date, currency, subtotal, tax, tip, total, lines.
	Confidence map[string]float64
	Evidence   []Evidence
	Warnings   []Warning
}

// Item is one line of goods. Amount is negative for a refund or a discount.
type Item struct {
	Description, Quantity, UnitPrice, Amount string
}

// Evidence is where a field was read. Page counts from 1.
type Evidence struct {
	Field string
	Page  int
	Box   Box
	Text  string
}

// Warning is something that a person should look at.
type Warning string

// The warnings that reading a receipt can give.
const (
	DateAmbiguous      Warning = "DATE_AMBIGUOUS"
	LinesNotReconciled Warning = "LINES_NOT_RECONCILED"
)

// Reading is one recognition of a receipt, analysed. Several readings of the same receipt are joined by Join.
type Reading struct {
	lines     []*line
	sums      sums
	draft     []draftItem
	dates     []printedDate
	merchants []found
	// names are single rows that were looked at once more.
	names []*line
	// rowsOnly: nothing but such rows was read.
	rowsOnly bool
	currency found
}

// found is a text field with its place.
type found struct {
	value      string
	confidence float64
	at         *line
}

// Read analyses one recognition.
func Read(pages []Page) Reading {
	r := Reading{lines: layout(pages)}
	classify(r.lines)
	r.currency = findCurrency(r.lines)
	readPrices(r.lines, r.currency.value)
	r.sums = findSums(r.lines)
	r.draft = readItems(itemRegion(r.lines))
	r.dates = findDates(r.lines)
	r.merchants = findMerchants(r.lines)
	return r
}

// Place is a stretch of a page, as its words' boxes go.
type Place struct {
	Page int
	Box  Box
}

// maxPlaces bounds how many rows are worth a second look.
const maxPlaces = 3

// DatePlaces are the rows on which the date is printed, or must be: beside the time, or the word for date. What any of
// the readings found counts, likeliest first.
func DatePlaces(readings ...Reading) []Place {
	var likely, possible []Place
	for _, r := range readings {
		for _, l := range r.lines {
			place := Place{Page: l.page, Box: l.evidence("", 0, 0).Box}
			switch dates := len(datesOn(l)) > 0; {
			case l.height == 0:
			case dates && (saysDate(l.tokens) || timeOfDay.MatchString(l.text)):
				likely = addPlace(likely, place)
			case dates || timeOfDay.MatchString(l.text) || saysDate(l.tokens) && hasDigits(l.text):
				possible = addPlace(possible, place)
			}
		}
	}
	for _, p := range possible {
		likely = addPlace(likely, p)
	}
	return likely[:min(len(likely), maxPlaces)]
}

// unsureName: below it, how a merchant's name is spelled is doubtful.
const unsureName = 0.88

// NamePlace is the row of the merchant's name, when its spelling is doubtful.
func NamePlace(readings ...Reading) []Place {
	name := pickMerchant(readings)
	if name.at == nil || name.at.height == 0 || name.at.sureness() >= unsureName {
		return nil
	}
	return []Place{{Page: name.at.page, Box: name.at.evidence("", 0, 0).Box}}
}

// ReadNames analyses a second look at the row of a name, for nothing else.
func ReadNames(pages []Page) Reading {
	lines := strips(pages)
	return Reading{lines: lines, names: lines}
}

// addPlace leaves out a row that is there already.
func addPlace(places []Place, p Place) []Place {
	for _, have := range places {
		if top, bottom := max(have.Box.Y, p.Box.Y), min(have.Box.Y+have.Box.H, p.Box.Y+p.Box.H); have.Page == p.Page && 2*(bottom-top) > min(have.Box.H, p.Box.H) {
			return places
		}
	}
	return append(places, p)
}

// SumPlaces are the rows on which total, payment and what leads to them are printed.
func (r Reading) SumPlaces() []Place {
	var out []Place
	for _, l := range r.lines {
		switch l.kind {
		case kindTotal, kindSubtotal, kindCash, kindChange, kindRounding:
			if len(l.amounts) > 0 || len(l.tokens) <= 3 {
				out = append(out, Place{Page: l.page, Box: l.evidence("", 0, 0).Box})
			}
		}
	}
	// The last ones are nearest to the total.
	return out[max(0, len(out)-2*maxPlaces):]
}

func hasDigits(text string) bool { return strings.ContainsAny(text, "0123456789") }

// ReadSums analyses a second look at rows with sums, for nothing else.
func ReadSums(pages []Page) Reading {
	lines := strips(pages)
	classify(lines)
	return Reading{lines: lines, sums: findSums(lines), rowsOnly: true}
}

// ReadDates analyses a second look at rows on which a date is printed, for nothing else.
func ReadDates(pages []Page) Reading {
	lines := strips(pages)
	return Reading{lines: lines, dates: findDates(lines), rowsOnly: true}
}
