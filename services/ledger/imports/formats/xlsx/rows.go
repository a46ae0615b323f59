package xlsx

import (
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/scan"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// rows reads the rows of a sheet, one at a time.
type rows struct {
	book *book
	part *part
	line int // Number of the row in the sheet.

	cells []string
	bytes int
	width int // Cells of the widest row so far.
	// Columns with dates as numbers, and columns with dates as text.
	days, writtenDays [scan.MaxColumns]bool
}

// cell is a cell as stored.
type cell struct {
	column     int
	kind       string // Type: s, str, inlineStr, b, e, d, or n.
	style      string
	value      string
	hasValue   bool
	inline     string // Text in the cell.
	formula    string
	hasFormula bool
}

func (b *book) rows(s sheet) (*rows, error) {
	p, err := b.archive.open(s.part)
	return &rows{book: b, part: p}, err
}

// next returns the cells and the number of the next row that is not blank, or io.EOF. Cells at the
// end of a row are added up to the width of the table, as in CSV.
func (r *rows) next() ([]string, int, error) {
	var next cell
	inRow, guide := false, false
	for {
		element, err := r.part.Next()
		if errors.Is(err, io.EOF) {
			return nil, 0, scan.Errorf(r.line, "the sheet ends early")
		}
		if err != nil {
			return nil, 0, r.located(err)
		}
		switch element.Name {
		case "sheetData":
			if element.Closing || element.Empty {
				if err := r.part.finish(); err != nil {
					return nil, 0, err
				}
				return nil, 0, io.EOF
			}
		case "row":
			if inRow = !element.Closing; inRow {
				r.begin(element)
				next = cell{column: -1}
			} else if len(r.cells) > 0 {
				return r.padded(), r.line, nil
			}
		case "c":
			if !element.Closing {
				next = newCell(element, next.column)
			}
			if inRow && (element.Closing || element.Empty) {
				if err := r.set(next); err != nil {
					return nil, 0, err
				}
			}
		case "rPh":
			guide = !element.Closing && !element.Empty
		default:
			if !element.Closing && !guide {
				next.take(element)
			}
		}
	}
}

// located adds the row to an error of the text.
func (r *rows) located(err error) error {
	var failed *scan.ParseError
	if errors.As(err, &failed) {
		return scan.Errorf(r.line, "%s", failed.Message)
	}
	return err
}

// begin starts a row. Rows without a number follow the previous one.
func (r *rows) begin(e scan.Element) {
	r.line++
	if n, err := strconv.Atoi(attribute(e, "r")); err == nil && n > 0 {
		r.line = n
	}
	r.cells, r.bytes = nil, 0
}

// newCell returns the cell of a tag. Cells without a position follow the previous one.
func newCell(e scan.Element, previous int) cell {
	c := cell{column: previous + 1, kind: attribute(e, "t"), style: attribute(e, "s")}
	if position := attribute(e, "r"); position != "" {
		c.column = columnOf(position)
	}
	return c
}

// columnOf returns the column of a position such as "AB12", from 0. A position without letters is
// beyond all limits.
func columnOf(position string) int {
	n := 0
	for _, letter := range strings.ToUpper(position) {
		if letter < 'A' || letter > 'Z' || n > scan.MaxColumns {
			break
		}
		n = n*26 + int(letter-'A') + 1
	}
	if n == 0 {
		return scan.MaxColumns
	}
	return n - 1
}

// take takes the contents of a tag inside of a cell.
func (c *cell) take(element scan.Element) {
	switch element.Name {
	case "v":
		c.value, c.hasValue = element.Text, true
	case "t":
		// A longer text exceeds the limit of the row.
		if len(c.inline) <= scan.MaxRow {
			c.inline += element.Text
		}
	case "f":
		c.formula, c.hasFormula = element.Text, true
	}
}

// set stores the text of a cell in the row.
func (r *rows) set(next cell) error {
	text, err := r.text(next)
	if err != nil || text == "" {
		return err
	}
	if next.column >= scan.MaxColumns {
		return scan.Errorf(r.line, "the row has more than %d columns", scan.MaxColumns)
	}
	if r.bytes += len(text); r.bytes > scan.MaxRow {
		return scan.Errorf(r.line, "the row has more than %d bytes", scan.MaxRow)
	}
	for len(r.cells) <= next.column {
		r.cells = append(r.cells, "")
	}
	r.cells[next.column] = text
	return nil
}

// text returns the text of a cell, as CSV would have it.
func (r *rows) text(next cell) (string, error) {
	switch {
	case next.kind == "s":
		text, ok := r.book.texts.at(next.value)
		if !ok {
			return "", scan.Errorf(r.line, "a cell refers to a text that the workbook lacks")
		}
		return r.noted(next, plain(text)), nil
	case next.kind == "inlineStr":
		return r.noted(next, plain(next.inline)), nil
	case !next.hasValue && next.hasFormula:
		// The program did not store the result. The formula shows why the cell cannot be read.
		return "=" + statement.Cut(plain(next.formula), statement.MaxName), nil
	case next.kind == "str":
		return r.noted(next, plain(next.value)), nil
	case next.kind == "d":
		return strings.TrimSuffix(strings.TrimSpace(next.value), "T00:00:00"), nil
	case next.kind == "b" && next.value == "1":
		return "TRUE", nil
	case next.kind == "b":
		return "FALSE", nil
	case next.kind == "e" || next.value == "":
		return plain(next.value), nil
	}
	style, _ := strconv.Atoi(next.style) // Without a style, the first one applies.
	if k := r.book.kindOf(style); k != amount {
		if text, ok := date(next.value, k, r.book.from1904); ok {
			if k != timeOfDay && next.column < scan.MaxColumns {
				r.days[next.column] = true
			}
			return text, nil
		}
	}
	return number(next.value), nil
}

// kindOf returns the kind of numbers in cells with a style.
func (b *book) kindOf(style int) kind {
	if style < 0 || style >= len(b.kinds) {
		return amount
	}
	return b.kinds[style]
}

// noted notes that the column of a cell has dates as text.
func (r *rows) noted(c cell, text string) string {
	if c.column < scan.MaxColumns && !r.writtenDays[c.column] {
		d, ok := written.ScanDate(text)
		r.writtenDays[c.column] = ok && d.Orders() != 0
	}
	return text
}

// padded returns the cells of the row.
func (r *rows) padded() []string {
	r.width = max(r.width, len(r.cells))
	return append(r.cells, make([]string, r.width-len(r.cells))...)
}
