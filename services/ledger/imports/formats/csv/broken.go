package csv

import (
	"errors"
	"io"
	"slices"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/headings"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/scan"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

const (
	// minKnown is the number of known headings from which a row is the heading of a table.
	minKnown = 3
	// maxParts is the maximum number of rows after the first one that are joined with it. It limits
	// how often a row is read ahead.
	maxParts = 20
)

// whole yields the rows of a file. It joins the lines of a row with line breaks in a cell without
// quotes: the first one has a date, but no amount and too few cells, and together they have as many
// cells as the heading.
type whole struct {
	source *scan.Rows
	width  int   // Of the heading, or 0.
	ahead  []row // Rows that were read while parts of a row were expected.
}

// row is a row with its first line in the file.
type row struct {
	cells []string
	line  int
}

// next returns the next row, or io.EOF.
func (w *whole) next() (cells []string, line int, err error) {
	first, err := w.read()
	if err != nil {
		return nil, first.line, err
	}
	if headings.Known(first.cells) >= minKnown {
		w.width = max(w.width, len(first.cells))
	}
	if !w.isPart(first.cells) {
		return first.cells, first.line, nil
	}
	joined, parts := slices.Clone(first.cells), []row(nil)
	for len(joined) < w.width {
		part, err := w.read()
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, part.line, err
		}
		if err != nil || len(parts) == maxParts || written.IsDate(part.cells[0]) ||
			len(joined)+len(part.cells)-1 > w.width {
			if err == nil {
				parts = append(parts, part)
			}
			w.ahead = append(parts, w.ahead...)
			return first.cells, first.line, nil
		}
		last := len(joined) - 1
		joined[last] = statement.Cut(joined[last]+"\n"+part.cells[0], scan.MaxRow)
		joined = append(joined, part.cells[1:]...)
		parts = append(parts, part)
	}
	return joined, first.line, nil
}

// read returns the next row of the file, or one that was read ahead.
func (w *whole) read() (row, error) {
	if len(w.ahead) > 0 {
		first := w.ahead[0]
		w.ahead = w.ahead[1:]
		return first, nil
	}
	cells, line, err := w.source.Next()
	return row{cells, line}, err
}

// isPart reports whether a row may be the start of one with line breaks.
func (w *whole) isPart(cells []string) bool {
	return len(cells) < w.width && slices.ContainsFunc(cells, written.IsDate) &&
		!slices.ContainsFunc(cells, written.IsAmount)
}
