package formats

import (
	"errors"
	"io"
	"iter"
	"regexp"
	"strings"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/scan"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// ynabColumns maps the folded headings of YNAB's register to fields. Both of its generations are read.
var ynabColumns = map[string]string{
	"account": FieldAccount, "flag": FieldTags, "date": FieldDate, "payee": FieldPayee, "category group category": FieldCategory,
	"memo": FieldDescription, "outflow": FieldDebit, "inflow": FieldCredit,
}

// isYNAB reports whether a row is the heading of YNAB's register.
func isYNAB(cells []string) bool {
	found := 0
	for _, c := range cells {
		switch written.Fold(c) {
		case "account", "flag", "date", "payee", "outflow", "inflow":
			found++
		}
	}
	return found == 6
}

// ynabSplit is the memo of a split's part.
var ynabSplit = regexp.MustCompile(`^\(?Split \(?(\d+)/(\d+)\)\)?\s*`)

// parseYNAB returns a parser of YNAB's register. The parts of a split are consecutive rows. They become one record whose
// cells are those of all rows.
func parseYNAB(delimiter byte) func(*input) iter.Seq2[Record, error] {
	return func(in *input) iter.Seq2[Record, error] {
		in.mapped = true
		return func(yield func(Record, error) bool) {
			source := &scan.Rows{Lines: scan.NewLines(in.text), Delimiter: delimiter}
			p := &profile{options: in.options, heading: 0, decided: true}
			heading, _, err := source.Next()
			if err != nil {
				yield(Record{}, err)
				return
			}
			m, columns := ynabMapping(heading, delimiter)
			p.columns = make([]column, len(heading)) // Rows may have fewer cells than the heading.
			p.sample = [][]string{heading}
			if !yield(Record{Line: 1, Cells: heading}, nil) {
				return
			}
			more, err := ynabRows(source, m, p, yield)
			switch {
			case err != nil:
				yield(Record{}, err)
			case more:
				p.finishYNAB(in, m, columns)
			}
		}
	}
}

// ynabMapping returns the mapping for a heading, and its columns by field.
func ynabMapping(heading []string, delimiter byte) (*Mapping, chosen) {
	m := &Mapping{
		Format: YNAB, Delimiter: string(delimiter), Encoding: "utf-8", Header: true, AmountMode: DebitCredit,
		DateLayout: "MM/DD/YYYY", DecimalMark: ".", Width: len(heading),
	}
	columns := make(chosen)
	for i, title := range heading {
		field, ok := ynabColumns[written.Fold(title)]
		if !ok && written.Fold(title) == "category" {
			// YNAB 4 has "Category" for the category with its group.
			field, ok = FieldCategory, true
		}
		if _, taken := columns[field]; ok && !taken {
			columns[field] = i
			m.Columns = append(m.Columns, Column{Index: i, Field: field})
		}
	}
	return m, columns
}

// ynabRows yields the rows below the heading. It reports whether the caller wants more.
func ynabRows(source *scan.Rows, m *Mapping, p *profile, yield func(Record, error) bool) (bool, error) {
	var record *Record
	parts := 0 // Further parts of the current split.
	flush := func() bool {
		if record == nil {
			return true
		}
		r := *record
		record = nil
		return yield(r, nil)
	}
	for {
		cells, line, err := source.Next()
		if errors.Is(err, io.EOF) {
			return flush(), nil
		}
		if err != nil {
			return false, err
		}
		p.rows++
		p.count(cells)
		cells = append(cells, make([]string, max(0, m.Width-len(cells)))...)[:m.Width]
		part, total := splitOf(m.cell(cells, FieldDescription))
		if record != nil && parts > 0 && part > 1 && m.sameSplit(record.Cells, cells) {
			record.Cells = append(record.Cells, cells...)
			parts--
			continue
		}
		if !flush() {
			return false, nil
		}
		record, parts = &Record{Line: line, Cells: cells}, 0
		if part == 1 && total <= maxParts {
			parts = total - 1
		}
	}
}

// splitOf returns the number of a split's part and the number of all parts from a memo, or zeros.
func splitOf(memo string) (part, total int) {
	found := ynabSplit.FindStringSubmatch(memo)
	if found == nil || len(found[1]) > 3 || len(found[2]) > 3 {
		return 0, 0
	}
	p, _ := written.ScanNumber(found[1])
	t, _ := written.ScanNumber(found[2])
	return atoi(p.Digits), atoi(t.Digits)
}

// atoi converts at most three digits.
func atoi(digits string) int {
	n := 0
	for _, d := range digits {
		n = n*10 + int(d-'0')
	}
	return n
}

// cell returns the cell of a field, or "".
func (m *Mapping) cell(cells []string, field string) string {
	for _, c := range m.Columns {
		if c.Field == field && c.Index < len(cells) {
			return cells[c.Index]
		}
	}
	return ""
}

// sameSplit reports whether two rows are parts of one split.
func (m *Mapping) sameSplit(a, b []string) bool {
	for _, field := range []string{FieldAccount, FieldDate, FieldPayee} {
		if m.cell(a, field) != m.cell(b, field) {
			return false
		}
	}
	return true
}

// finishYNAB sets the facts of YNAB's register.
func (p *profile) finishYNAB(in *input, m *Mapping, columns chosen) {
	if i := columns[FieldDate]; i < len(p.columns) && p.columns[i].dates() > 0 {
		order, assumed := p.columns[i].order(in.options.Locale, p.prefersDays())
		if m.DateLayout = p.columns[i].example.Layout(order); assumed {
			in.warn(DateOrderAssumed)
		}
	}
	var assumed bool
	if m.DecimalMark, assumed = p.mark(columns, m); assumed {
		in.warn(DecimalsAssumed)
	}
	if m.Currency = p.currency(columns); m.Currency == "" {
		in.warn(CurrencyAssumed)
	}
	in.facts.Mapping = m
}

// readYNAB fills a record from its cells. The cells of a split are the rows of its parts one after the other, each of the mapping's width.
func (r *Reader) readYNAB(record *Record) {
	cells, width := record.Cells, r.mapping.Width
	if width <= 0 || len(cells) <= width {
		r.readCSV(record)
		r.meaningYNAB(record)
		return
	}
	// A split: each row is a part.
	var total written.Sum
	var parts []Split
	for start := 0; start+width <= len(cells); start += width {
		row := Record{N: record.N, Cells: cells[start : start+width]}
		r.readCSV(&row)
		if row.Problem != "" {
			record.Problem = row.Problem
			return
		}
		r.meaningYNAB(&row)
		part := Split{Amount: row.Amount, Category: cut(spaces(row.Category), maxName), Description: cut(spaces(row.Description), maxText)}
		if row.Transfer != nil {
			part.Account = row.Transfer.Account
		}
		if start == 0 {
			n, line := record.N, record.Line
			*record = row
			record.N, record.Line, record.Cells, record.Transfer, record.Category = n, line, cells, nil, ""
		}
		total.Add(row.Amount)
		parts = append(parts, part)
	}
	var ok bool
	if record.Amount, ok = total.Text(); !ok {
		record.Problem = "the parts of the split cannot be added up"
		return
	}
	record.Splits = parts
	record.Description = ""
}

// meaningYNAB reads transfers, opening balances and parts of splits from the texts of a row.
func (r *Reader) meaningYNAB(record *Record) {
	if record.Skip || record.Problem != "" {
		return
	}
	record.Description = ynabSplit.ReplaceAllString(record.Description, "")
	if name, ok := strings.CutPrefix(record.Payee, "Transfer : "); ok {
		record.Transfer, record.Payee, record.Category = &Transfer{Account: cut(spaces(name), maxName), Paired: true}, "", ""
	}
	if record.Payee == "Starting Balance" {
		record.Opening, record.Category = true, ""
	}
}
