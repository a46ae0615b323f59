// Package xlsx parses workbooks in the format of Excel since 2007.
//
// A workbook is a zip archive of XML parts. Parse reads the first sheet with a table, one row at a
// time, and yields the cells that a CSV file of the sheet would have: dates as YYYY-MM-DD, numbers
// with a point and without the noise of floats, and the stored results of formulas. The proposal of
// a mapping and the conversion of the cells are those of CSV. Cells are all that is read: macros,
// links, images and formulas are never evaluated or opened.
//
// The compressed file stays in memory while it is parsed, up to MaxFile, because its directory is
// at its end. So do the texts that cells share. All parts together may decompress to as many bytes
// as any other compressed file (scan.Allowed). An archive with a wrong checksum, or a sheet that
// ends early, is an error: rows that are missing silently would change balances (ADR 120).
//
//   - xlsx.go: the choice of the sheet. Start reading at Parse
//   - archive.go: the parts and their limits. book.go: the list of the sheets and the styles
//   - texts.go: the shared texts. rows.go: the rows of a sheet. value.go: numbers and dates
package xlsx

import (
	"errors"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/headings"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/proposal"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/scan"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// Parse parses the first sheet with a table. The proposed mapping is complete after the last
// record.
func Parse(in *statement.Input) (iter.Seq2[statement.Record, error], *mapping.Mapping) {
	proposed := &mapping.Mapping{}
	return func(yield func(statement.Record, error) bool) {
		rows, err := open(in)
		if err != nil {
			yield(statement.Record{}, err)
			return
		}
		defer rows.part.close()
		profile := proposal.NewProfile(in.Options)
		for {
			cells, line, err := rows.next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				yield(statement.Record{}, err)
				return
			}
			profile.Add(cells)
			if !yield(statement.Record{Line: line, Cells: cells}, nil) {
				return
			}
		}
		*proposed = profile.Propose(in, "")
		proposed.Format = statement.XLSX
		if rows.mixedDates(proposed) {
			in.Assume(statement.DateOrderAssumed, statement.Shows("DATES_MIXED"))
		}
	}, proposed
}

// mixedDates reports whether the column of the date has dates as numbers beside dates as text. A
// spreadsheet that opens a file of another country makes numbers of 03/04/2026 in its own order,
// and leaves 31/01/2026 as text, so that the numbers may be other days.
func (r *rows) mixedDates(m *mapping.Mapping) bool {
	return slices.ContainsFunc(m.Columns, func(c mapping.Column) bool {
		return c.Field == mapping.FieldDate && r.days[c.Index] && r.writtenDays[c.Index]
	})
}

// How likely the rows at the start of a sheet are a list of transactions.
const (
	empty   = iota
	columns // A row has two cells.
	dated   // A row has a date and a number.
	table   // So has a row below a heading.
)

// maxNamed is the maximum number of sheets that a warning names.
const maxNamed = 20

// peekRows is the number of rows that decide how likely a sheet is a list of transactions.
const peekRows = 200

// open opens the most likely sheet, the first one of several. It names other sheets with cells.
// Hidden sheets are only considered if no other one has cells.
func open(in *statement.Input) (*rows, error) {
	book, err := openBook(in.Text)
	if err != nil {
		return nil, err
	}
	for _, hidden := range []bool{false, true} {
		best, likely := -1, empty
		var filled []string
		for index, sheet := range book.sheets {
			if sheet.hidden != hidden {
				continue
			}
			found, err := book.likely(sheet)
			if err != nil {
				return nil, err
			}
			if found > empty {
				filled = append(filled, quoted(sheet.name))
			}
			if found > likely {
				best, likely = index, found
			}
		}
		if best >= 0 {
			if len(filled) > 1 {
				names := strings.Join(filled[:min(len(filled), maxNamed)], ", ")
				in.Assume(statement.SheetsSkipped, statement.Shows("OTHER_SHEETS",
					"sheets", names, "sheet", quoted(book.sheets[best].name)))
			}
			return book.rows(book.sheets[best])
		}
	}
	return nil, scan.ErrEmpty
}

// quoted returns the start of a sheet's name in quotes.
func quoted(name string) string { return strconv.Quote(statement.Cut(name, statement.MaxName)) }

// likely returns how likely a sheet is a list of transactions.
func (b *book) likely(s sheet) (int, error) {
	rows, err := b.rows(s)
	if err != nil {
		return empty, err
	}
	defer rows.part.close()
	found, heading := empty, false
	for range peekRows {
		cells, _, err := rows.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return empty, err
		}
		heading = heading || headings.Known(cells) > 0
		switch {
		case isDated(cells) && heading:
			return table, nil
		case isDated(cells):
			found = dated
		case len(cells) > 1:
			found = max(found, columns)
		}
	}
	return found, nil
}

// isDated reports whether a row has a date and a number.
func isDated(cells []string) bool {
	day, number := false, false
	for _, c := range cells {
		if d, ok := written.ScanDate(c); ok && d.Orders() != 0 {
			day = true
		} else if n, ok := written.ScanNumber(c); ok && n.Marks() != 0 {
			number = true
		}
	}
	return day && number
}
