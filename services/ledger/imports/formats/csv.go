package formats

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/coffer-budget/coffer/internal/money"
)

// rows reads the records of a CSV file. Unlike encoding/csv it accepts quotes inside of cells and text after a closing quote, which banks
// write, and it limits the length of a record. It returns records with different numbers of cells, because banks put lines before the
// heading and after the last row.
type rows struct {
	lines     *lines
	delimiter byte
	row       []byte // The cells of the current record without delimiters.
	ends      []int  // The end of each cell in row.
}

// next returns the cells and the first line of the next record that is not blank.
func (r *rows) next() (cells []string, line int, err error) {
	for {
		text, err := r.lines.next()
		if err != nil {
			return nil, 0, err
		}
		if strings.TrimSpace(string(text[:min(len(text), 64)])) == "" && strings.TrimSpace(string(text)) == "" {
			continue
		}
		line = r.lines.line
		r.row, r.ends = r.row[:0], r.ends[:0]
		if err := r.split(text); err != nil {
			return nil, line, err
		}
		all := string(r.row)
		cells = make([]string, len(r.ends))
		start := 0
		for i, end := range r.ends {
			cells[i], start = strings.TrimSpace(all[start:end]), end
		}
		return cells, line, nil
	}
}

// split appends the cells of a record to row and ends. It reads further lines for quoted cells with line breaks.
func (r *rows) split(text []byte) error {
	line := r.lines.line
	for i := 0; ; {
		for i < len(text) && text[i] == ' ' && r.delimiter != ' ' {
			i++
		}
		if i < len(text) && text[i] == '"' {
			rest, err := r.quoted(text[i+1:], line)
			if err != nil {
				return err
			}
			text, i = rest, 0
		}
		for i < len(text) && text[i] != r.delimiter {
			r.row = append(r.row, text[i])
			i++
		}
		if len(r.ends) == MaxColumns {
			return &ParseError{Line: line, Message: fmt.Sprintf("the row has more than %d columns", MaxColumns)}
		}
		r.ends = append(r.ends, len(r.row))
		if i == len(text) {
			return nil
		}
		i++
	}
}

// quoted appends a cell after its opening quote and returns the text after the closing one.
func (r *rows) quoted(text []byte, line int) ([]byte, error) {
	size := len(text)
	for i := 0; ; i++ {
		if i == len(text) {
			more, err := r.lines.next()
			if errors.Is(err, io.EOF) {
				return nil, &ParseError{Line: line, Message: "a quoted cell has no end"}
			}
			if err != nil {
				return nil, err
			}
			if size += len(more) + 1; size > MaxRow {
				return nil, &ParseError{Line: line, Message: fmt.Sprintf("the row has more than %d bytes", MaxRow)}
			}
			r.row = append(r.row, '\n')
			text, i = more, -1
			continue
		}
		if text[i] != '"' {
			r.row = append(r.row, text[i])
			continue
		}
		if i+1 < len(text) && text[i+1] == '"' {
			r.row = append(r.row, '"')
			i++
			continue
		}
		// A single quote in the middle of a cell is part of the text. Only a quote at the end of the cell closes it.
		after := i + 1
		for after < len(text) && text[after] == ' ' {
			after++
		}
		if after == len(text) || text[after] == r.delimiter {
			return text[after:], nil
		}
		r.row = append(r.row, '"')
	}
}

// parseCSV returns a parser of rows of cells that proposes a mapping.
func parseCSV(delimiter byte) func(*input) iter.Seq2[Record, error] {
	return func(in *input) iter.Seq2[Record, error] {
		in.mapped = true
		return func(yield func(Record, error) bool) {
			source := &rows{lines: newLines(in.text), delimiter: delimiter}
			p := newProfile(in.options)
			for {
				cells, line, err := source.next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					yield(Record{}, err)
					return
				}
				p.add(cells)
				if !yield(Record{Line: line, Cells: cells}, nil) {
					return
				}
			}
			p.propose(in, string(delimiter))
		}
	}
}

// cell returns the first non-empty cell of a field's columns.
func (r *Reader) cell(cells []string, field string) string {
	for _, i := range r.columns[field] {
		if i < len(cells) && cells[i] != "" {
			return cells[i]
		}
	}
	return ""
}

// joined returns the non-empty cells of a field's columns, in the order of the columns.
func (r *Reader) joined(cells []string, field, separator string) string {
	var texts []string
	for _, i := range r.columns[field] {
		if i < len(cells) && cells[i] != "" {
			texts = append(texts, cells[i])
		}
	}
	return strings.Join(texts, separator)
}

// readCSV fills a record from its cells. A row that the mapping cannot read gets a Problem, except a row that is evidently not a
// transaction, such as a heading, a total or a line that states a balance: it gets Skip, and the user does not see it.
func (r *Reader) readCSV(record *Record) {
	m, cells := &r.mapping, record.Cells
	if record.N <= m.SkipRows || m.Header && record.N == m.SkipRows+1 {
		record.Skip = true
		return
	}
	record.Currency = m.Currency
	var unit, problem string
	record.Amount, unit, problem = r.amount(cells)
	if code, ok := money.ParseCurrency(r.cell(cells, FieldCurrency)); ok {
		record.Currency = code.Code()
	} else if code := currencyOf(unit); code != "" {
		record.Currency = code
	} else if other := r.cell(cells, FieldCurrency); other != "" {
		if record.Currency = currencyOf(other); record.Currency == "" {
			record.Currency = strings.ToUpper(cut(other, 3))
		}
	}
	day := r.cell(cells, FieldDate)
	var ok bool
	if record.Date, ok = parseDate(day, r.order); !ok {
		record.Skip = noTransaction(cells, day, record.Amount)
		record.Problem = "the date cannot be read"
		if day == "" {
			record.Problem = "the date is missing"
		}
	} else if problem != "" {
		record.Problem = problem
	}
	if !record.Skip && (record.Amount == "" || filled(cells)*2 <= len(cells)) {
		record.Skip = slices.ContainsFunc(cells, statesBalance)
	}
	if record.Problem != "" || record.Skip {
		return
	}
	record.Payee = r.joined(cells, FieldPayee, " ")
	record.Description = r.joined(cells, FieldDescription, " ")
	record.Notes = r.joined(cells, FieldNotes, "\n")
	record.Category = r.cell(cells, FieldCategory)
	record.Account = r.cell(cells, FieldAccount)
	for tag := range strings.SplitSeq(r.joined(cells, FieldTags, ","), ",") {
		if tag = cut(spaces(tag), maxName); tag != "" {
			record.Tags = append(record.Tags, tag)
		}
	}
	if id := r.cell(cells, FieldExternalID); id != "" {
		record.ExternalID = "csv:" + id
	}
}

// noTransaction reports whether a row without a date is a total, a heading or a remark.
func noTransaction(cells []string, day, amount string) bool {
	if amount == "" || filled(cells) <= 2 {
		return true
	}
	return !strings.ContainsAny(day, "0123456789") && filled(cells)*2 <= len(cells)
}

// filled returns the number of cells that are not empty.
func filled(cells []string) int {
	n := 0
	for _, c := range cells {
		if c != "" {
			n++
		}
	}
	return n
}

// amount returns the signed amount of a row, the unit written with it, and a problem.
func (r *Reader) amount(cells []string) (amount, unit, problem string) {
	switch r.mapping.AmountMode {
	case DebitCredit:
		amount, unit, problem = r.debitCredit(cells)
	default:
		cell := r.cell(cells, FieldAmount)
		var ok bool
		if amount, unit, ok = parseAmount(cell, r.mark); !ok {
			if cell == "" {
				return "", "", "the amount is missing"
			}
			return "", "", "the amount cannot be read"
		}
		if r.mapping.AmountMode == TypeColumn {
			negative, known := r.isNegative(r.cell(cells, FieldType))
			switch {
			case !known:
				return amount, unit, "the value of the type column is unknown"
			case negative:
				// Some banks write the sign as well as the type. A reversal then has a sign against its type.
				amount = negate(absolute(amount))
			default:
				amount = absolute(amount)
			}
		}
	}
	if r.mapping.Invert {
		amount = negate(amount)
	}
	return amount, unit, problem
}

// debitCredit returns the amount of a row with two columns. A debit lowers the balance whatever its sign: some banks write debits as
// negative numbers. A zero in one column is ignored if the other one has an amount.
func (r *Reader) debitCredit(cells []string) (amount, unit, problem string) {
	total, found := "", false
	for _, field := range []string{FieldDebit, FieldCredit} {
		cell := r.cell(cells, field)
		if cell == "" {
			continue
		}
		value, u, ok := parseAmount(cell, r.mark)
		if !ok {
			if strings.ContainsAny(cell, "0123456789") {
				return "", "", "the amount cannot be read"
			}
			continue
		}
		isZero := strings.Trim(value, "-0.") == ""
		if found && !isZero && strings.Trim(total, "-0.") != "" {
			return "", "", "the row has a debit and a credit"
		}
		if !found || !isZero {
			unit = u
			if total = absolute(value); field == FieldDebit {
				total = negate(total)
			}
		}
		found = true
	}
	if !found {
		return "", "", "the amount is missing"
	}
	return total, unit, ""
}

// isNegative reports whether a value of the type column means money out.
func (r *Reader) isNegative(value string) (negative, known bool) {
	if len(r.negative) > 0 {
		return r.negative[fold(value)], true
	}
	return signOf(value)
}
