// Package proposal proposes a mapping for a file whose columns have no fixed meaning.
//
// Whether 03/04 is in March or April, and whether 1.234 has a decimal mark, needs all rows. So a
// Profile counts the kinds of cells of each column while the rows are read. It keeps only the first
// rows, so its memory does not depend on the length of the file. At the end, Propose assigns
// columns to fields by their headings and their contents.
//
// Where a column has balances, the amounts must explain it. This decides among several amounts,
// finds the columns of files without a heading, and shows inverted signs (ADR 80). Each guess that
// the file does not prove becomes a warning, which the user sees.
//
//   - profile.go: the rows of the sample. column.go: the counts of each column. Start reading there
//     and at Propose in propose.go
//   - propose.go: the fields of the columns. contents.go: those that no heading names. status.go:
//     which payments are booked. amount.go, date.go, currency.go: amounts, dates and currencies.
//     forms.go: the decimal mark and the order of
//     day and month
//   - texts.go: payee, description and notes. cells.go: their counts, and who pays whom
//   - chain.go: how a column of balances follows from columns of amounts. table.go: their numbers
//   - sign.go: which amounts are money out, with the witness. words.go: texts that show it.
//     typed.go: columns that say it, and amounts that no balance proves
package proposal

import (
	"slices"
	"strings"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/headings"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/undated"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// Limits of the rows that a profile keeps. Counts cover all rows.
const (
	sampleRows  = 300
	sampleBytes = 1 << 20
)

// Profile collects the counts that a proposal needs while the rows are read. It keeps the first
// rows and only counts the others.
type Profile struct {
	options statement.Options
	rows    int
	sample  [][]string // The first rows, with the heading.
	bytes   int
	columns []column
	heading int      // Position of the heading in the sample, -1 without one.
	second  []string // Its second line, or nil.
	decided bool
	proof   *chain // The way in which the balances follow from the amounts, or nil.
	// settled is set if currencies show which column has the amounts. home is the account's, or "".
	settled bool
	home    string
	pair    *Witness // Of debits and credits that byPair has found, or nil.
	typed   *typed   // The types that explain the balances, or nil.
	marked  bool     // The column of statuses has the letters of a finance application.
	netted  bool     // Fees explain the difference between two columns of amounts.
	// orderings has the orders of the columns of dates for which they were asked.
	orderings map[int]ordering
	undated   *undated.Dates // The columns of dates without a year, or nil.
	Witness   Witness        // Of the proposal, "" if the sign is a guess.
	// transactions are the transactions of the sample, and texts describes their columns.
	transactions [][]string
	texts        []texts
}

// NewProfile returns an empty profile of a file whose heading is not known.
func NewProfile(options statement.Options) *Profile {
	return &Profile{options: options, heading: -1}
}

// NewFixedProfile returns an empty profile of a file with fixed columns. Their headings may be
// empty. Rows may have fewer cells.
func NewFixedProfile(options statement.Options, heading []string) *Profile {
	return &Profile{
		options: options, sample: [][]string{heading}, columns: make([]column, len(heading)),
		decided: true,
	}
}

// Add counts a row.
func (p *Profile) Add(cells []string) {
	p.rows++
	if !p.decided {
		p.sample = append(p.sample, cells)
		for _, c := range cells {
			p.bytes += len(c) + 16
		}
		if len(p.sample) == sampleRows || p.bytes > sampleBytes {
			p.decide()
		}
		return
	}
	p.count(p.undated.Complete(cells))
}

// decide finds the heading in the sample and counts the rows below it.
func (p *Profile) decide() {
	if p.decided {
		return
	}
	p.decided = true
	p.undated = undated.Find(p.sample, findHeading(p.sample), p.options)
	for i, cells := range p.sample {
		p.sample[i] = p.undated.Complete(cells)
	}
	p.heading = findHeading(p.sample)
	p.second = p.secondLine()
	for _, cells := range p.sample[p.heading+1:] {
		p.count(cells)
	}
}

// secondLine returns the second line of the heading, or nil: the next row is one if it is narrower
// than the rows below it and has a heading of its own.
func (p *Profile) secondLine() []string {
	if p.heading < 0 || p.heading+1 >= len(p.sample) {
		return nil
	}
	cells := p.sample[p.heading+1]
	isNumber := func(cell string) bool { return strings.ContainsAny(cell, "0123456789") }
	if slices.ContainsFunc(cells, isNumber) || len(cells) != len(p.sample[p.heading]) {
		return nil
	}
	for i, cell := range cells {
		if cell != "" && (isWhole(cell) || isWhole(both(p.sample[p.heading][i], cell))) {
			return cells
		}
	}
	return nil
}

// MaxPreamble is the maximum number of rows before the heading.
const MaxPreamble = 40

// findHeading returns the position of the row that names most fields, or -1. Banks write the
// account, the period and balances before the heading. A row with dates or numbers is not a
// heading.
func findHeading(sample [][]string) int {
	best, bestScore, below := -1, 1, 0
	for i, cells := range sample[:min(len(sample), MaxPreamble)] {
		// Statements of several pages repeat the heading, perhaps with more words.
		if best >= 0 && written.IsTransaction(cells) {
			if below++; below == 2 {
				break
			}
		}
		fields := make(map[string]bool)
		for _, c := range cells {
			if c == "" || len(c) > 80 {
				continue
			}
			// A heading has no dates and numbers.
			if _, ok := written.ScanDate(c); ok {
				fields = nil
				break
			}
			if n, ok := written.ScanNumber(c); ok && len(n.Digits) > 1 {
				fields = nil
				break
			}
			for _, h := range headings.Meanings(c) {
				fields[h.Field] = true
				break
			}
		}
		score := len(fields)
		if fields[mapping.FieldDate] {
			score += 2
		}
		if score > bestScore && len(fields) >= 2 {
			best, bestScore, below = i, score, 0
		}
	}
	return best
}

// count counts the cells of a row. A row without a date is no transaction: a line of stars below
// the heading, a total or a summary.
func (p *Profile) count(cells []string) {
	for len(p.columns) < len(cells) {
		p.columns = append(p.columns, column{})
	}
	if !written.IsTransaction(cells) {
		return
	}
	for i, c := range cells {
		if c != "" {
			p.columns[i].count(c)
		}
	}
}
