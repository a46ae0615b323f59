package scan

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
)

// Rows reads the records of a CSV file. Unlike encoding/csv it accepts quotes inside of cells and
// text after a closing quote, which banks write, and it limits the length of a record. It returns
// records with different numbers of cells, because banks put lines before the heading and after the
// last row.
type Rows struct {
	Lines     *Lines
	Delimiter byte
	Separator string // Of several characters, which Delimiter replaces, or "".
	Wrapped   bool   // Each record is one quoted cell, which contains the row.
	row       []byte // The cells of the current record without delimiters.
	ends      []int  // The end of each cell in row.
}

// Next returns the cells and the first line of the next record that is not blank.
func (r *Rows) Next() (cells []string, line int, err error) {
	for {
		text, err := r.next()
		if err != nil {
			return nil, 0, err
		}
		if strings.TrimSpace(string(text[:min(len(text), 64)])) == "" &&
			strings.TrimSpace(string(text)) == "" {
			continue
		}
		line = r.Lines.Line
		r.row, r.ends = r.row[:0], r.ends[:0]
		if err := r.split(text); err != nil {
			return nil, line, err
		}
		if r.Wrapped && len(r.ends) == 1 {
			inner := slices.Clone(r.row)
			r.row, r.ends = r.row[:0], r.ends[:0]
			if err := r.split(inner); err != nil {
				return nil, line, err
			}
		}
		all := string(r.row)
		cells = make([]string, len(r.ends))
		start := 0
		for i, end := range r.ends {
			cells[i], start = literal(strings.TrimSpace(all[start:end])), end
		}
		return cells, line, nil
	}
}

// next returns the next line, in which Delimiter replaces the separator.
func (r *Rows) next() ([]byte, error) {
	text, err := r.Lines.Next()
	if r.Separator != "" {
		text = bytes.ReplaceAll(text, []byte(r.Separator), []byte{r.Delimiter})
	}
	return text, err
}

// literal returns the text of a cell that is a formula with a text only, such as ="0123".
// Spreadsheets keep the zeros of such a cell.
func literal(cell string) string {
	text, isFormula := strings.CutPrefix(cell, `="`)
	text, closed := strings.CutSuffix(text, `"`)
	if isFormula && closed && !strings.Contains(text, `"`) {
		return strings.TrimSpace(text)
	}
	return cell
}

// split appends the cells of a record to row and ends. It reads further lines for quoted cells with
// line breaks.
func (r *Rows) split(text []byte) error {
	line := r.Lines.Line
	for index := 0; ; {
		for index < len(text) && text[index] == ' ' && r.Delimiter != ' ' {
			index++
		}
		if index+1 < len(text) && text[index] == '=' && text[index+1] == '"' {
			index++
		}
		if index < len(text) && text[index] == '"' {
			rest, err := r.quoted(text[index+1:], line)
			if err != nil {
				return err
			}
			text, index = rest, 0
		}
		for index < len(text) && text[index] != r.Delimiter {
			r.row = append(r.row, text[index])
			index++
		}
		if len(r.ends) == MaxColumns {
			return Errorf(line, "the row has more than %d columns", MaxColumns)
		}
		r.ends = append(r.ends, len(r.row))
		if index == len(text) {
			return nil
		}
		index++
	}
}

// quoted appends a cell after its opening quote and returns the text after the closing one.
func (r *Rows) quoted(text []byte, line int) ([]byte, error) {
	size := len(text)
	for index := 0; ; index++ {
		if index == len(text) {
			more, err := r.next()
			if errors.Is(err, io.EOF) {
				return nil, Errorf(line, "a quoted cell has no end")
			}
			if err != nil {
				return nil, err
			}
			if size += len(more) + 1; size > MaxRow {
				return nil, Errorf(line, "the row has more than %d bytes", MaxRow)
			}
			r.row = append(r.row, '\n')
			text, index = more, -1
			continue
		}
		if text[index] != '"' {
			r.row = append(r.row, text[index])
			continue
		}
		if index+1 < len(text) && text[index+1] == '"' {
			r.row = append(r.row, '"')
			index++
			continue
		}
		// A single quote in the middle of a cell is part of the text. Only a quote at the end of
		// the cell closes it.
		after := index + 1
		for after < len(text) && text[after] != r.Delimiter &&
			(text[after] == ' ' || text[after] == '\t') {
			after++
		}
		if after == len(text) || text[after] == r.Delimiter {
			return text[after:], nil
		}
		r.row = append(r.row, '"')
	}
}
