// Package ynab parses the register of YNAB, a CSV file, and reads its records. Both generations of
// YNAB are read.
//
// The columns have fixed names, but the order of day and month, the decimal mark and the currency
// depend on the budget. So Parse yields records with cells and a mapping, and Read converts the
// cells.
//
// The parts of a split are consecutive rows with a number in their memo. They become one record,
// whose cells are those of all its rows. A transfer has a row in each of its two accounts. The
// archive of YNAB also has the budget, which package scan skips.
//
//   - ynab.go: the file. Start reading at Parse
//   - read.go: the conversion of a record, with its transfer and the parts of its split
package ynab

import (
	"errors"
	"io"
	"iter"
	"regexp"
	"strings"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/proposal"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/scan"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// fields maps the folded headings of YNAB's register to fields. Both of its generations are read.
var fields = map[string]string{
	"account": mapping.FieldAccount, "flag": mapping.FieldTags, "date": mapping.FieldDate,
	"payee": mapping.FieldPayee, "category group category": mapping.FieldCategory,
	"memo": mapping.FieldDescription, "outflow": mapping.FieldDebit, "inflow": mapping.FieldCredit,
}

// DetectHeading reports whether a row is the heading of YNAB's register.
func DetectHeading(cells []string) bool {
	found := 0
	for _, c := range cells {
		switch written.Fold(c) {
		case "account", "flag", "date", "payee", "outflow", "inflow":
			found++
		}
	}
	return found == 6
}

// DetectPlan reports whether a row is the heading of YNAB's plan, which has no transactions.
func DetectPlan(cells []string) bool {
	found := 0
	for _, c := range cells {
		switch written.Fold(c) {
		case "month", "category group", "category", "activity", "available", "assigned", "budgeted",
			"category group category", "category balance", "outflows", "master category",
			"sub category":
			found++
		}
	}
	return found >= 5 && found == len(cells)
}

// splitMemo is the memo of a split's part.
var splitMemo = regexp.MustCompile(`^\(?Split \(?(\d+)/(\d+)\)\)?\s*`)

// Parse parses YNAB's register. The parts of a split are consecutive rows. They become one record
// whose cells are those of all rows. The mapping is complete after the last record.
func Parse(
	in *statement.Input, delimiter byte,
) (iter.Seq2[statement.Record, error], *mapping.Mapping) {
	proposed := &mapping.Mapping{}
	return func(yield func(statement.Record, error) bool) {
		source := &scan.Rows{Lines: scan.NewLines(in.Text), Delimiter: delimiter}
		heading, _, err := source.Next()
		if err != nil {
			yield(statement.Record{}, err)
			return
		}
		mapped, columns := mappingFor(heading, delimiter)
		profile := proposal.NewFixedProfile(in.Options, heading)
		if !yield(statement.Record{Line: 1, Cells: heading}, nil) {
			return
		}
		more, err := yieldRows(source, mapped, profile, yield)
		switch {
		case err != nil:
			yield(statement.Record{}, err)
		case more:
			profile.ProposeForms(in, mapped, columns)
			if mapped.Currency = profile.Currency(columns); mapped.Currency == "" {
				in.Warn(statement.CurrencyAssumed)
			}
			*proposed = *mapped
		}
	}, proposed
}

// mappingFor returns the mapping for a heading, and its columns by field.
func mappingFor(heading []string, delimiter byte) (*mapping.Mapping, proposal.Columns) {
	mapped := &mapping.Mapping{
		Format: statement.YNAB, Delimiter: string(delimiter), Encoding: "utf-8", Header: true,
		AmountMode: mapping.DebitCredit, DateLayout: "MM/DD/YYYY", DecimalMark: ".",
		Width: len(heading),
	}
	columns := make(proposal.Columns)
	for i, title := range heading {
		field, ok := fields[written.Fold(title)]
		if !ok && written.Fold(title) == "category" {
			// YNAB 4 has "Category" for the category with its group.
			field, ok = mapping.FieldCategory, true
		}
		if _, taken := columns[field]; ok && !taken {
			columns[field] = i
			mapped.Columns = append(mapped.Columns, mapping.Column{Index: i, Field: field})
		}
	}
	return mapped, columns
}

// yieldRows yields the rows below the heading. It reports whether the caller wants more.
func yieldRows(
	source *scan.Rows, columns *mapping.Mapping, profile *proposal.Profile,
	yield func(statement.Record, error) bool,
) (bool, error) {
	var record *statement.Record
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
		profile.Add(cells)
		cells = append(cells, make([]string, max(0, columns.Width-len(cells)))...)[:columns.Width]
		part, total := splitOf(cell(columns, cells, mapping.FieldDescription))
		if record != nil && parts > 0 && part > 1 && sameSplit(columns, record.Cells, cells) {
			record.Cells = append(record.Cells, cells...)
			parts--
			continue
		}
		if !flush() {
			return false, nil
		}
		record, parts = &statement.Record{Line: line, Cells: cells}, 0
		if part >= 1 && total <= statement.MaxParts {
			// The parts before this one may be transfers, which are no parts of it.
			parts = total - part
		}
	}
}

// splitOf returns the number of a split's part and the number of all parts from a memo, or zeros.
func splitOf(memo string) (part, total int) {
	found := splitMemo.FindStringSubmatch(memo)
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

func cell(m *mapping.Mapping, cells []string, field string) string {
	for _, c := range m.Columns {
		if c.Field == field && c.Index < len(cells) {
			return cells[c.Index]
		}
	}
	return ""
}

// sameSplit reports whether two rows are parts of one split. A part that is a transfer is a
// transaction of its own, because a split in Coffer has no such parts.
func sameSplit(columns *mapping.Mapping, a, b []string) bool {
	if strings.HasPrefix(cell(columns, a, mapping.FieldPayee), transferPayee) {
		return false
	}
	for _, field := range []string{mapping.FieldAccount, mapping.FieldDate, mapping.FieldPayee} {
		if cell(columns, a, field) != cell(columns, b, field) {
			return false
		}
	}
	return true
}
