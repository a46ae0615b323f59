// Package mapping describes how to read the cells of a file whose columns have no fixed meaning, and reads them.
//
// CSV, QIF and YNAB do not define what each value means. Their records only have cells. A Mapping assigns the columns to fields, and names
// the order of day and month, the decimal mark and the sign of the amounts. Package proposal proposes one. Users change it, and a commit
// saves it for the next file with the same heading. No value is ever taken from outside the file.
//
// Mapping.Compile checks a mapping and returns a Reader. Reader.Row converts a row of columns; packages qif and ynab read the cells
// of their formats with it. All functions are pure.
//
//   - mapping.go: Mapping and its check. Start reading here
//   - row.go: the conversion of a row
package mapping

import (
	"fmt"
	"slices"
	"strings"

	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/scan"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// The fields that a column can have.
const (
	FieldDate        = "date"
	FieldAmount      = "amount"
	FieldDebit       = "debit"
	FieldCredit      = "credit"
	FieldType        = "type"
	FieldCurrency    = "currency"
	FieldPayee       = "payee"
	FieldDescription = "description"
	FieldNotes       = "notes"
	FieldCategory    = "category"
	FieldTags        = "tags"
	FieldAccount     = "account"
	FieldExternalID  = "externalId"
	FieldIgnore      = "ignore"
)

// Fields are all fields that a column can have.
var Fields = []string{
	FieldDate, FieldAmount, FieldDebit, FieldCredit, FieldType, FieldCurrency, FieldPayee, FieldDescription,
	FieldNotes, FieldCategory, FieldTags, FieldAccount, FieldExternalID, FieldIgnore,
}

// The amount modes: a signed amount, an amount in one of two columns, or an amount whose sign stands in another column.
const (
	Signed      = "signed"
	DebitCredit = "debitCredit"
	TypeColumn  = "typeColumn"
)

// Mapping describes how to read the cells of a file. Open proposes one, users change it, and a commit saves it for the next file with the
// same heading.
type Mapping struct {
	Format      string   `json:"format"` // csv, qif or ynab. The columns of the latter two are fixed.
	Delimiter   string   `json:"delimiter"`
	Encoding    string   `json:"encoding"`
	SkipRows    int      `json:"skipRows"` // Records before the heading.
	Header      bool     `json:"header"`
	Columns     []Column `json:"columns"`
	DateLayout  string   `json:"dateLayout"`  // A key of the layouts, such as "DD.MM.YYYY".
	DecimalMark string   `json:"decimalMark"` // "." or ",".
	AmountMode  string   `json:"amountMode"`
	Invert      bool     `json:"invert"`             // Positive amounts are money out, as on statements of cards.
	Negative    []string `json:"negative,omitempty"` // Values of the type column that mean money out; empty: the usual ones.
	Width       int      `json:"width,omitempty"`    // Cells of a row; only YNAB has records of several rows.
	Currency    string   `json:"currency,omitempty"` // Of all rows without a currency column, from a heading or an amount.
}

// Column assigns a field to the column at an index, from 0. If several columns have the field payee, description, notes or tags, their
// cells are joined. Any other field has one column.
type Column struct {
	Index int    `json:"index"`
	Field string `json:"field"`
}

// Error is an invalid part of a mapping.
type Error struct {
	Field   string // Such as "columns[2].field".
	Message string
}

// Error returns the field and the message.
func (e *Error) Error() string { return e.Field + " " + e.Message }

// DateLayouts returns the names of all date layouts, sorted.
func DateLayouts() []string {
	names := make([]string, 0, len(written.Layouts))
	for name := range written.Layouts {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Reader reads cells by a mapping. It is safe for concurrent use.
type Reader struct {
	Mapping Mapping
	order   written.Orders
	mark    written.Marks
	// columns holds the indexes of the columns by field.
	columns map[string][]int
	// negative holds the folded values of the type column that mean money out. If it is empty, written.SignOf decides.
	negative map[string]bool
}

// Compile checks a mapping and returns its reader. The error is an *Error. A mapping that only lacks columns has a reader, too.
func (m *Mapping) Compile() (*Reader, error) {
	r := &Reader{Mapping: *m, columns: make(map[string][]int), mark: written.Dot}
	var ok bool
	if r.order, ok = written.Layouts[m.DateLayout]; !ok {
		return nil, &Error{"dateLayout", "must be one of " + strings.Join(DateLayouts(), ", ")}
	}
	switch m.DecimalMark {
	case ".":
	case ",":
		r.mark = written.Comma
	default:
		return nil, &Error{"decimalMark", `must be "." or ","`}
	}
	switch {
	case m.Format != statement.CSV && m.Format != statement.QIF && m.Format != statement.YNAB:
		return nil, &Error{"format", "must be csv, qif or ynab"}
	case m.SkipRows < 0 || m.SkipRows > statement.MaxRows:
		return nil, &Error{"skipRows", fmt.Sprintf("must be between 0 and %d", statement.MaxRows)}
	case m.Currency != "":
		if _, ok := money.ParseCurrency(m.Currency); !ok {
			return nil, &Error{"currency", "must be an ISO 4217 code"}
		}
	}
	if m.Format == statement.QIF {
		return r, nil
	}
	if m.Width < 0 || m.Width > scan.MaxColumns {
		return nil, &Error{"width", fmt.Sprintf("must be between 0 and %d", scan.MaxColumns)}
	}
	if err := r.assign(m); err != nil {
		return nil, err
	}
	return r, r.complete()
}

// assign checks the columns and stores their indexes by field. An index may be beyond the cells of a row, which are then empty.
func (r *Reader) assign(m *Mapping) error {
	if len(m.Columns) > scan.MaxColumns {
		return &Error{"columns", fmt.Sprintf("must be at most %d", scan.MaxColumns)}
	}
	for i, c := range m.Columns {
		name := fmt.Sprintf("columns[%d].", i)
		switch {
		case c.Index < 0 || c.Index >= scan.MaxColumns:
			return &Error{name + "index", fmt.Sprintf("must be between 0 and %d", scan.MaxColumns-1)}
		case !slices.Contains(Fields, c.Field):
			return &Error{name + "field", "must be one of " + strings.Join(Fields, ", ")}
		case c.Field == FieldIgnore:
			continue
		case len(r.columns[c.Field]) > 0 && c.Field != FieldPayee && c.Field != FieldDescription && c.Field != FieldNotes && c.Field != FieldTags:
			return &Error{name + "field", "must not be assigned to two columns"}
		}
		r.columns[c.Field] = append(r.columns[c.Field], c.Index)
	}
	if len(m.Negative) > 0 {
		r.negative = make(map[string]bool)
		for _, value := range m.Negative {
			r.negative[written.Fold(value)] = true
		}
	}
	return nil
}

// complete reports an error if the columns that the amount mode needs are not assigned.
func (r *Reader) complete() error {
	need := []string{FieldDate}
	switch r.Mapping.AmountMode {
	case Signed:
		need = append(need, FieldAmount)
	case TypeColumn:
		need = append(need, FieldAmount, FieldType)
	case DebitCredit:
		if len(r.columns[FieldDebit]) == 0 {
			need = append(need, FieldCredit)
		}
	default:
		return &Error{"amountMode", "must be signed, debitCredit or typeColumn"}
	}
	for _, field := range need {
		if len(r.columns[field]) == 0 {
			return &Error{"columns", "must assign " + field}
		}
	}
	return nil
}
