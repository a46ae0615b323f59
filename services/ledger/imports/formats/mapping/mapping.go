// Package mapping describes how to read the cells of a file whose columns have no fixed meaning,
// and reads them.
//
// CSV, QIF and YNAB do not define what each value means. Their records only have cells. A Mapping
// assigns the columns to fields, and names the order of day and month, the decimal mark and the
// sign of the amounts. Package proposal proposes one. Users change it, and a commit saves it for
// the next file with the same heading. No value is ever taken from outside the file.
//
// Mapping.Compile checks a mapping and returns a Reader. Reader.Row converts a row of columns;
// packages qif and ynab read the cells of their formats with it. All functions are pure.
//
//   - mapping.go: Mapping and its check. Start reading here
//   - row.go: the conversion of a row. amount.go: its amount. check.go, edges.go: the comparison of
//     balances with amounts
//   - saved.go: a saved mapping for the next file. confirms.go: the guesses that a change confirms
package mapping

import (
	"fmt"
	"slices"
	"strings"
	"time"

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
	FieldFee         = "fee" // Lowers the amount, whatever its sign.
	FieldCurrency    = "currency"
	FieldBalance     = "balance" // Only compared with the amounts.
	FieldPayee       = "payee"
	FieldPayer       = "payer" // The payee of money in.
	FieldDescription = "description"
	FieldNotes       = "notes"
	FieldCategory    = "category"
	FieldTags        = "tags"
	FieldAccount     = "account"
	FieldExternalID  = "externalId"
	FieldStatus      = "status"
	FieldIgnore      = "ignore"
)

// maxSkipRows is the maximum number of rows before the heading. The console has the same.
const maxSkipRows = 1000

// Fields are all fields that a column can have.
var Fields = []string{
	FieldDate, FieldAmount, FieldDebit, FieldCredit, FieldType, FieldFee, FieldCurrency,
	FieldBalance, FieldPayee, FieldPayer, FieldDescription, FieldNotes, FieldCategory, FieldTags,
	FieldAccount, FieldExternalID, FieldStatus, FieldIgnore,
}

// The amount modes: a signed amount, an amount in one of two columns, or an amount whose sign
// stands in another column.
const (
	Signed      = "signed"
	DebitCredit = "debitCredit"
	TypeColumn  = "typeColumn"
)

// Mapping describes how to read the cells of a file. Open proposes one, users change it, and a
// commit saves it for the next file with the same heading.
type Mapping struct {
	Format     string   `json:"format"` // csv, xlsx, qif or ynab; the last two have fixed columns.
	Delimiter  string   `json:"delimiter"`
	Encoding   string   `json:"encoding"`
	SkipRows   int      `json:"skipRows"` // Records before the heading.
	Header     bool     `json:"header"`
	Columns    []Column `json:"columns"`
	DateLayout string   `json:"dateLayout"` // A key of the layouts, such as "DD.MM.YYYY".
	// DatesUntil is the last day that a date can be, as YYYY-MM-DD, if the layout has no year. Each
	// date is the last such day up to it. It is that of one file, and never of the next one.
	DatesUntil  string `json:"datesUntil,omitempty"`
	DecimalMark string `json:"decimalMark"` // "." or ",".
	AmountMode  string `json:"amountMode"`
	// Invert means that positive amounts are money out, as on statements of cards.
	Invert bool `json:"invert"`
	// Negative are the values of the type column that mean money out. If it is empty, the usual
	// values do.
	Negative []string `json:"negative,omitempty"`
	// Booked, Pending and Void are the values of the status column that mean these statuses.
	// written.StatusOf decides about other values. A row whose value is unknown cannot be read.
	Booked  []string `json:"booked,omitempty"`
	Pending []string `json:"pending,omitempty"`
	Void    []string `json:"void,omitempty"`
	// Width is the number of cells of a row. Only YNAB has records of several rows.
	Width int `json:"width,omitempty"`
	// Currency is the currency of all rows if no column has one. It comes from a heading or an
	// amount.
	Currency string `json:"currency,omitempty"`
	// Empty are the columns without a value other than 0 in the file. A saved mapping reads them as
	// soon as a file has values in them. It is nil in mappings that an earlier release saved.
	Empty []int `json:"empty"`
}

// Column assigns a field to the column at an index, from 0. If several columns have the field
// payee, description, notes or tags, their cells are joined. Any other field has one column.
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

// Errors are all invalid parts of a mapping, at least one.
type Errors []*Error

// Error returns the first of the errors.
func (e Errors) Error() string { return e[0].Error() }

func (e *Errors) add(field, message string) { *e = append(*e, &Error{field, message}) }

// DateLayouts returns the names of all date layouts, sorted.
func DateLayouts() []string {
	names := make([]string, 0, len(written.Layouts)+len(written.DayLayouts))
	for name := range written.Layouts {
		names = append(names, name)
	}
	for name := range written.DayLayouts {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Reader reads cells by a mapping. It is safe for concurrent use.
type Reader struct {
	Mapping Mapping
	order   written.Orders
	until   time.Time // The last day of dates without a year, or zero.
	mark    written.Marks
	// columns holds the indexes of the columns by field.
	columns map[string][]int
	// negative holds the folded values of the type column that mean money out. If it is empty,
	// written.SignOf decides.
	negative map[string]bool
	// statuses holds the statuses of the folded values that the mapping lists.
	statuses map[string]string
}

// Compile checks a mapping and returns its reader. The error is Errors. A mapping that only lacks
// columns has a reader, too.
func (m *Mapping) Compile() (*Reader, error) {
	reader := &Reader{Mapping: *m, columns: make(map[string][]int), mark: written.Dot}
	invalid := append(reader.setFormats(m), reader.setStatuses(m)...)
	var incomplete Errors
	if m.Format != statement.QIF {
		invalid = append(invalid, reader.assign(m)...)
		incomplete = reader.complete()
	}
	switch {
	case len(invalid) > 0:
		return nil, append(invalid, incomplete...)
	case len(incomplete) > 0:
		return reader, incomplete
	}
	return reader, nil
}

// setFormats checks the parts of a mapping that do not concern columns, and stores the formats of
// dates and amounts.
func (r *Reader) setFormats(columns *Mapping) (invalid Errors) {
	invalid = r.setDates(columns)
	switch columns.DecimalMark {
	case ".":
	case ",":
		r.mark = written.Comma
	default:
		invalid.add("decimalMark", `must be "." or ","`)
	}
	known := []string{statement.CSV, statement.XLSX, statement.QIF, statement.YNAB}
	if !slices.Contains(known, columns.Format) {
		invalid.add("format", "must be csv, xlsx, qif or ynab")
	}
	if columns.SkipRows < 0 || columns.SkipRows > maxSkipRows {
		invalid.add("skipRows", fmt.Sprintf("must be between 0 and %d", maxSkipRows))
	}
	if columns.Currency != "" {
		if _, ok := money.ParseCurrency(columns.Currency); !ok {
			invalid.add("currency", "must be an ISO 4217 code")
		}
	}
	return invalid
}

// setDates checks and stores the layout of the dates.
func (r *Reader) setDates(columns *Mapping) (invalid Errors) {
	var ok bool
	if r.order, ok = written.Layouts[columns.DateLayout]; ok {
		return nil
	}
	if r.order, ok = written.DayLayouts[columns.DateLayout]; !ok {
		invalid.add("dateLayout", "must be one of "+strings.Join(DateLayouts(), ", "))
		return invalid
	}
	var err error
	if r.until, err = time.Parse(time.DateOnly, columns.DatesUntil); err != nil {
		invalid.add("datesUntil", "must be a day (YYYY-MM-DD) if the layout of dates has no year")
	}
	return invalid
}

// setStatuses stores the statuses of the values that the mapping lists. A value has one status.
func (r *Reader) setStatuses(columns *Mapping) (invalid Errors) {
	r.statuses = make(map[string]string)
	for _, list := range []struct {
		status string
		values []string
	}{
		{written.Booked, columns.Booked},
		{written.Pending, columns.Pending},
		{written.Void, columns.Void},
	} {
		for i, value := range list.values {
			key := written.Fold(value)
			if other := r.statuses[key]; other != "" && other != list.status {
				invalid.add(fmt.Sprintf("%s[%d]", list.status, i), "must not be in "+other+", too")
			}
			r.statuses[key] = list.status
		}
	}
	return invalid
}

// assign checks the columns and stores their indexes by field. The cells at indexes beyond the
// end of a row are empty.
func (r *Reader) assign(columns *Mapping) (invalid Errors) {
	if columns.Width < 0 || columns.Width > scan.MaxColumns {
		invalid.add("width", fmt.Sprintf("must be between 0 and %d", scan.MaxColumns))
	}
	if len(columns.Columns) > scan.MaxColumns {
		invalid.add("columns", fmt.Sprintf("must be at most %d", scan.MaxColumns))
		return invalid
	}
	for i, column := range columns.Columns {
		name := fmt.Sprintf("columns[%d].", i)
		if column.Index < 0 || column.Index >= scan.MaxColumns {
			invalid.add(name+"index", fmt.Sprintf("must be between 0 and %d", scan.MaxColumns-1))
		}
		switch {
		case !slices.Contains(Fields, column.Field):
			invalid.add(name+"field", "must be one of "+strings.Join(Fields, ", "))
			continue
		case column.Field == FieldIgnore:
			continue
		case len(r.columns[column.Field]) > 0 && column.Field != FieldPayee &&
			column.Field != FieldDescription &&
			column.Field != FieldNotes && column.Field != FieldTags:
			invalid.add(name+"field", "must not be assigned to two columns")
		}
		r.columns[column.Field] = append(r.columns[column.Field], column.Index)
	}
	if len(columns.Negative) > 0 {
		r.negative = make(map[string]bool)
		for _, value := range columns.Negative {
			r.negative[written.Fold(value)] = true
		}
	}
	return invalid
}

// complete reports the columns that the amount mode needs and that are not assigned.
func (r *Reader) complete() (incomplete Errors) {
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
		incomplete.add("amountMode", "must be signed, debitCredit or typeColumn")
	}
	assigned := func(field string) bool { return len(r.columns[field]) > 0 }
	if need = slices.DeleteFunc(need, assigned); len(need) > 0 {
		incomplete.add("columns", "must assign "+strings.Join(need, " and "))
	}
	return incomplete
}
