// Package undated finds columns of dates without a year, such as 03/04, and writes the year into
// their cells, so that all rules of a proposal see usual dates.
//
// Find decides for the sample of a file which columns have such dates, the order of day and month,
// and the last day that they can have. Package daymonth has the evidence for both. Complete writes
// the year into a row. All functions are pure.
package undated

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/daymonth"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/headings"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// Dates are the columns of a file with dates without a year.
type Dates struct {
	Columns []int
	Order   written.Orders
	// Assumed is set if nothing shows the order. Otherwise, Shown is what does, or has no code if
	// the dates do themselves.
	Assumed bool
	Shown   statement.Evidence
	Layout  string
	Example string    // The first date as written.
	Until   time.Time // Each date is the last such day up to this one.
	// Year is the evidence of the year. YearAssumed is set if the file does not show it.
	Year        statement.Evidence
	YearAssumed bool
}

// sample has the first rows of a file.
type sample struct {
	rows    [][]string
	heading int        // -1 without one.
	amounts [][]string // The rows below the heading with an amount.
}

// minDates is the number of dates without a year from which a column has them.
const minDates = 2

// Find returns the columns of dates without a year if most rows with amounts have no other date.
// It returns nil if there are none, or if nothing shows the year. heading is the position of the
// heading, -1 without one.
func Find(rows [][]string, heading int, options statement.Options) *Dates {
	s, d := sample{rows: rows, heading: heading}, &Dates{}
	widest, dated := 0, 0
	for _, cells := range rows[heading+1:] {
		if !slices.ContainsFunc(cells, written.IsAmount) {
			continue
		}
		s.amounts = append(s.amounts, cells)
		widest = max(widest, len(cells))
		if written.IsTransaction(cells) {
			dated++
		}
	}
	var days []written.DayText
	for i := range widest {
		if found := s.datesIn(i); len(found) >= minDates {
			d.Columns = append(d.Columns, i)
			days = append(days, found...)
		}
	}
	if len(d.Columns) == 0 || dated*2 >= len(days)/len(d.Columns) {
		return nil
	}
	orders := written.DMY | written.MDY
	for _, day := range days {
		orders &= day.Orders()
	}
	if orders == 0 || !d.decide(s, orders, options) {
		return nil
	}
	return d
}

// title returns the heading of a column.
func (s sample) title(i int) string {
	if s.heading < 0 {
		return ""
	}
	return at(s.rows[s.heading], i)
}

// titles returns the headings of all columns.
func (s sample) titles() []string {
	if s.heading < 0 {
		return nil
	}
	return s.rows[s.heading]
}

// at returns a cell, or "" beyond the end of the row.
func at(cells []string, i int) string {
	if i < len(cells) {
		return cells[i]
	}
	return ""
}

// datesIn returns the dates without a year of a column in which most cells are some. Installments
// such as 01/12 look like them, so the heading must name the date. Without headings, the dates must
// have names of months, or be in the first column with slashes.
func (s sample) datesIn(i int) []written.DayText {
	isDay := func(m headings.Meaning) bool { return m.Field == mapping.FieldDate }
	named := slices.ContainsFunc(headings.Meanings(s.title(i)), isDay)
	if s.heading >= 0 && !named {
		return nil
	}
	var days []written.DayText
	filled := 0
	for _, cells := range s.amounts {
		cell := at(cells, i)
		if cell == "" {
			continue
		}
		filled++
		day, ok := written.ScanDay(cell)
		if ok && (named || day.HasName() || i == 0 && strings.Contains(cell, "/")) {
			days = append(days, day)
		}
	}
	if len(days)*10 < filled*6 {
		return nil
	}
	return days
}

// decide decides the order and the years of the dates. It reports false if nothing shows the year.
func (d *Dates) decide(s sample, orders written.Orders, options statement.Options) bool {
	file := &daymonth.Undated{FileName: options.FileName, Today: options.Today}
	var cells []string
	for i, row := range s.rows {
		cell := at(row, d.Columns[0])
		day, ok := written.ScanDay(cell)
		if !ok || i <= s.heading || !slices.ContainsFunc(row, written.IsAmount) {
			file.Around = append(file.Around, row)
			continue
		}
		file.Days, cells = append(file.Days, day), append(cells, cell)
	}
	if len(cells) == 0 {
		return false
	}
	d.Example = cells[0]
	d.Order = orders
	if orders == written.DMY|written.MDY {
		d.setOrder(s, file, cells, options.Locale)
	}
	file.Order, d.Layout = d.Order, file.Days[0].Layout(d.Order)
	var ok bool
	d.Until, d.Year, d.YearAssumed, ok = file.Year()
	return ok
}

// easternScripts are the scripts of languages that write the month before the day.
var easternScripts = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
}

// setOrder decides between two orders: by the script of the headings, the points that no language
// writes after a month, the days that the lines around the rows state, and the evidence of package
// daymonth.
func (d *Dates) setOrder(s sample, file *daymonth.Undated, cells []string, locale string) {
	isEastern := func(r rune) bool { return unicode.In(r, easternScripts...) }
	if strings.ContainsFunc(strings.Join(s.titles(), ""), isEastern) {
		d.Order = written.MDY
		return
	}
	d.Order = written.DMY
	if file.Days[0].Layout(written.DMY) == "DD.MM" {
		return
	}
	file.Order = written.MDY
	monthFirst := file.Fits()
	file.Order = written.DMY
	if file.Fits() != monthFirst {
		if monthFirst {
			d.Order = written.MDY
		}
		return
	}
	found := daymonth.File{
		Orders: []written.Orders{written.DMY, written.MDY}, Around: file.Around,
		Headings: s.titles(),
	}
	for _, cell := range cells {
		if date, ok := written.ScanDate(strings.TrimRight(cell, ".") + "/2024"); ok {
			found.Dates = append(found.Dates, date)
		}
	}
	var ok bool
	if d.Order, d.Shown, ok = daymonth.Infer(&found); !ok {
		d.Order, d.Assumed = written.DMY, true
		if order := daymonth.OfLocale(locale); order != 0 {
			d.Order = order
		}
	}
}

// Complete returns a row in which the dates without a year have one. It accepts nil.
func (d *Dates) Complete(cells []string) []string {
	if d == nil {
		return cells
	}
	changed := cells
	for _, i := range d.Columns {
		day, ok := written.ScanDay(at(cells, i))
		if !ok {
			continue
		}
		if date, ok := day.Until(d.Until, d.Order); ok {
			if &changed[0] == &cells[0] {
				changed = slices.Clone(cells)
			}
			changed[i] = date.Format(time.DateOnly)
		}
	}
	return changed
}

// Has reports whether a column has dates without a year. It accepts nil.
func (d *Dates) Has(column int) bool { return d != nil && slices.Contains(d.Columns, column) }
