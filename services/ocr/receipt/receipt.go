// Package receipt converts the words on a page to a receipt: merchant, date, currency, amounts and
// lines, each with a confidence and the place where it was read. It is pure: it uses no clock, no
// files and no engine, and never fails. A field that is not found is empty.
//
// A caller divides pages with several receipts by Split, runs Read once per recognition of a
// receipt, and Join over the results. Amounts are kept in thousandths, because fuel and weighed
// goods are priced in them, and returned as decimal strings. Words may come in any order.
//
// Read uses three packages below this one: printed makes lines of the words, dates finds dates, and
// merchant finds names. dates and merchant import only printed, and get values instead of a
// Reading. The total and the lines of goods verify each other and are chosen together, so they stay
// in this package. Only refund.go changes a line; drafts of goods have copies of the amounts.
//
// Join has these stages: texts; figures (draft.go); total (total.go collects the likely amounts,
// equation.go explains the receipt by each, and steps.go leads from one sum to the next); goods
// (reconcile.go, repairs.go and adjust.go make the lines add up to the total); charges. Instead of
// all this, claim.go checks a receipt that a language model has read.
package receipt

import (
	"strings"

	"github.com/coffer-budget/coffer/services/ocr/receipt/dates"
	"github.com/coffer-budget/coffer/services/ocr/receipt/merchant"
	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

// Receipt is the result of reading an image or a text. Amounts are decimal strings with a point and
// at least two decimals. A field that was not found is empty.
type Receipt struct {
	Merchant string
	// Date is YYYY-MM-DD.
	Date string
	// Currency is an ISO 4217 code.
	Currency                                      string
	Subtotal, Tax, Tip, Discount, Rounding, Total string
	Items                                         []Item
	// Confidence is the score of the rules, from 0 to 1, by field name: merchant, date, currency,
	// subtotal, tax, tip, total, lines. See Calibrated.
	Confidence map[string]float64
	Evidence   []printed.Evidence
	Warnings   []Warning
	// Legible is set if the pages show a receipt, also without a total: a price, and a date or an
	// amount with a label.
	Legible bool
	// claimed is set for a claim, whose confidences are no scores of the rules.
	claimed bool
}

// Item is one line of goods. Amount is negative for a refund or a discount.
type Item struct {
	Description, Quantity, UnitPrice, Amount string
}

// Warning is a code for a doubt that a user should check.
type Warning string

const (
	// DateAmbiguous means that day and month may be swapped.
	DateAmbiguous Warning = "DATE_AMBIGUOUS"
	// LinesNotReconciled means that the lines do not add up to the total.
	LinesNotReconciled Warning = "LINES_NOT_RECONCILED"
	// SeveralReceipts means that the pages show more than one receipt.
	SeveralReceipts Warning = "SEVERAL_RECEIPTS"
	// TotalMissing means that the receipt is legible, but no amount is likely enough to be its
	// total.
	TotalMissing Warning = "TOTAL_MISSING"
)

// Reading is the analysis of one recognition of a receipt. Join combines the readings of the same
// receipt.
type Reading struct {
	lines []*printed.Line
	sums  sums
	draft []draftItem
	dates []dates.Date
	names merchant.Reading
	// rowsOnly is set if only single rows were recognized. Such readings of a row tend to repeat
	// the same error, so together they count less.
	rowsOnly bool
	currency printed.Field
}

// Read analyzes one recognition of all pages of a receipt.
func Read(pages []printed.Page) Reading {
	reading := Reading{lines: printed.Lines(pages)}
	printed.Classify(reading.lines)
	signRefund(reading.lines)
	printed.JoinThousands(reading.lines)
	reading.currency = printed.FindCurrency(reading.lines)
	printed.MarkPrices(reading.lines, reading.currency.Value)
	reading.sums = findSums(reading.lines)
	reading.draft = readItems(itemRegion(reading.lines))
	reading.dates = dates.Find(reading.lines, false)
	reading.names.Names = merchant.Find(reading.lines)
	return reading
}

// Row is the place of a row of words. Page counts from 1.
type Row struct {
	Page int
	Box  printed.Box
}

// maxRows is the number of rows of a kind that are worth recognizing again.
const maxRows = 3

// DateRows returns the rows that should contain the date, at most maxRows, likeliest first.
func DateRows(readings ...Reading) []Row {
	var likely, possible []Row
	for _, r := range readings {
		for _, line := range r.lines {
			dated, timed := len(dates.On(line)) > 0, dates.TimeOfDay.MatchString(line.Text)
			worded := dates.HasWord(line.Tokens)
			switch {
			case line.Height == 0:
			case dated && (worded || timed):
				likely = addRow(likely, rowOf(line))
			case dated || timed || worded && strings.ContainsAny(line.Text, "0123456789"):
				possible = addRow(possible, rowOf(line))
			}
		}
	}
	for _, p := range possible {
		likely = addRow(likely, p)
	}
	return likely[:min(len(likely), maxRows)]
}

// minNameConfidence is the mean confidence of words below which the spelling of a merchant's name
// is doubtful.
const minNameConfidence = 0.88

// MerchantRow returns the row of the merchant's name, or nil if its spelling is not doubtful.
func MerchantRow(readings ...Reading) []Row {
	name := merchant.Pick(namesOf(readings))
	if name.At == nil || name.At.Height == 0 || name.At.MeanConfidence() >= minNameConfidence {
		return nil
	}
	return []Row{rowOf(name.At)}
}

func rowOf(l *printed.Line) Row { return Row{Page: l.Page, Box: l.Evidence("", 0, 0).Box} }

func namesOf(readings []Reading) []merchant.Reading {
	names := make([]merchant.Reading, len(readings))
	for i, r := range readings {
		names[i] = r.names
	}
	return names
}

// ReadMerchantRow analyzes a second recognition of the row of the merchant's name. The result only
// votes on the spelling.
func ReadMerchantRow(pages []printed.Page) Reading {
	lines := printed.RowLines(pages)
	return Reading{lines: lines, names: merchant.Reading{Rows: lines}}
}

// addRow appends p unless the list has a row that overlaps more than half of its height.
func addRow(places []Row, p Row) []Row {
	for _, have := range places {
		top := max(have.Box.Y, p.Box.Y)
		bottom := min(have.Box.Y+have.Box.H, p.Box.Y+p.Box.H)
		if have.Page == p.Page && 2*(bottom-top) > min(have.Box.H, p.Box.H) {
			return places
		}
	}
	return append(places, p)
}

// SumRows returns the last rows with the total, the payment, and sums before them, at most
// 2*maxRows.
func (r Reading) SumRows() []Row {
	var out []Row
	for _, l := range r.lines {
		switch l.Kind {
		case printed.KindTotal, printed.KindSubtotal, printed.KindCash, printed.KindChange,
			printed.KindRounding:
			if len(l.Amounts) > 0 || len(l.Tokens) <= 3 {
				out = append(out, rowOf(l))
			}
		}
	}
	// The last rows are nearest to the total.
	return out[max(0, len(out)-2*maxRows):]
}

// ReadSumRows analyzes a second recognition of rows with sums. Everything else on them is ignored.
func ReadSumRows(pages []printed.Page) Reading {
	lines := printed.RowLines(pages)
	printed.Classify(lines)
	printed.JoinThousands(lines)
	return Reading{lines: lines, sums: findSums(lines), rowsOnly: true}
}

// ReadDateRows analyzes a second recognition of rows with a date. Everything else on them is
// ignored.
func ReadDateRows(pages []printed.Page) Reading {
	lines := printed.RowLines(pages)
	return Reading{lines: lines, dates: dates.Find(lines, true), rowsOnly: true}
}
