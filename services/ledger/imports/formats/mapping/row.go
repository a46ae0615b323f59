package mapping

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// Date reads a date in the order of the mapping.
func (r *Reader) Date(cell string) (time.Time, bool) {
	if r.until.IsZero() {
		return written.ParseDate(cell, r.order)
	}
	return written.ParseDay(cell, r.order, r.until)
}

// Amount reads a signed amount with the decimal mark of the mapping, and the unit that is written
// with it.
func (r *Reader) Amount(cell string) (amount, unit string, ok bool) {
	return written.ParseAmount(cell, r.mark)
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

// joined returns the non-empty cells of a field's columns, in the order of the columns. It removes
// the apostrophe that an application such as Actual writes before a text that begins like a
// formula.
func (r *Reader) joined(cells []string, field, separator string) string {
	var texts []string
	for _, i := range r.columns[field] {
		if i < len(cells) && cells[i] != "" {
			texts = append(texts, written.Unguard(cells[i]))
		}
	}
	return strings.Join(texts, separator)
}

// Row fills a record from its cells. A row that the mapping cannot read gets a Problem, except a
// row that is evidently not a transaction, such as a heading, a total or a line that states a
// balance: it gets Skip, and the user does not see it. The opening balance gets Opening.
func (r *Reader) Row(record *statement.Record) {
	columns, cells := &r.Mapping, record.Cells
	if record.N <= columns.SkipRows || columns.Header && record.N == columns.SkipRows+1 {
		record.Skip = true
		return
	}
	record.Currency = columns.Currency
	var unit, problem string
	record.Amount, unit, problem = r.signedAmount(cells)
	if code := written.CurrencyOf(unit); code != "" && !written.IsShared(unit) {
		// A column beside it may have the currencies of the shops.
		record.Currency = code
	} else if code, ok := money.ParseCurrency(r.cell(cells, FieldCurrency)); ok {
		record.Currency = code.Code()
	} else if other := r.cell(cells, FieldCurrency); other != "" {
		if record.Currency = r.currencyOf(other); record.Currency == "" {
			record.Currency = strings.ToUpper(statement.Cut(other, 3))
		}
	} else if unit != "" {
		record.Currency = cmp.Or(r.currencyOf(unit), record.Currency)
	}
	if balance, _, ok := r.Amount(r.cell(cells, FieldBalance)); ok {
		record.Balance = balance
	}
	day := r.cell(cells, FieldDate)
	var ok bool
	switch record.Date, ok = r.Date(day); {
	case ok, day == "" && r.isPending(cells), saysPending(day):
		// Many banks leave out the day of a pending payment, or write "pending" in its place.
		record.Problem = problem
	default:
		record.Skip = noTransaction(cells, day, record.Amount)
		record.Problem = "the date cannot be read"
		if day == "" {
			record.Problem = "the date is missing"
		}
	}
	// A row with a day may be a payment whose amount is in another column than the mapping says.
	hasAmount := r.hasAmount(cells)
	if !record.Skip && (!hasAmount || filled(cells)*2 <= len(cells)) {
		record.Skip = slices.ContainsFunc(cells, func(cell string) bool {
			return written.StatesBalance(cell, hasAmount, hasAmount || ok)
		})
	}
	for _, cell := range cells {
		switch written.StatedBalance(cell) {
		case written.Opening:
			record.Opening = record.Problem == ""
			record.Skip = record.Skip || !record.Opening
		case written.Closing:
			record.Skip = true
		}
	}
	if record.Skip {
		return
	}
	r.setStatus(record)
	if !ok && record.Problem == "" && saysPending(day) {
		record.Status = written.Pending
	}
	if record.Problem == "" || record.Status == written.Void {
		r.setTexts(record)
	}
}

// currencyOf returns the currency of a unit, or "". Of a unit that several currencies have, it is
// the one of the mapping.
func (r *Reader) currencyOf(unit string) string {
	if written.IsShared(unit) && r.Mapping.Currency != "" {
		return r.Mapping.Currency
	}
	return written.CurrencyOf(unit)
}

// status returns what a value of the status column means.
func (r *Reader) status(value string) (status string, known bool) {
	if status, known = r.statuses[written.Fold(value)]; known {
		return status, known
	}
	return written.StatusOf(value)
}

func (r *Reader) isPending(cells []string) bool {
	status, _ := r.status(r.cell(cells, FieldStatus))
	return status == written.Pending
}

// saysPending reports whether a cell in place of a day says that the payment is pending.
func saysPending(day string) bool {
	status, known := written.StatusOf(day)
	return known && status == written.Pending
}

// setStatus sets the status of a record. A void record has a Problem that names its value; that it
// cannot be read does not matter.
func (r *Reader) setStatus(record *statement.Record) {
	value := r.cell(record.Cells, FieldStatus)
	status, known := r.status(value)
	shown := statement.Text(value, statement.MaxName)
	switch {
	case status == written.Void:
		record.Status = status
		record.Problem = fmt.Sprintf("no money has moved: the status is %q", shown)
	case !known && record.Problem == "":
		record.Problem = fmt.Sprintf("the status %q is unknown", shown)
	case status == written.Pending:
		record.Status = status
	}
}

// setTexts sets the texts, the tags and the external id of a record.
func (r *Reader) setTexts(record *statement.Record) {
	cells := record.Cells
	record.Payee = r.joined(cells, FieldPayee, " ")
	payer := written.Unguard(r.cell(cells, FieldPayer))
	if payer != "" && (record.Payee == "" || !strings.HasPrefix(record.Amount, "-")) {
		record.Payee = payer
	}
	record.Description = r.joined(cells, FieldDescription, " ")
	record.Notes = r.joined(cells, FieldNotes, "\n")
	record.Category = written.Unguard(r.cell(cells, FieldCategory))
	record.Account = written.Unguard(r.cell(cells, FieldAccount))
	for tag := range strings.SplitSeq(r.joined(cells, FieldTags, ","), ",") {
		if tag = statement.Text(tag, statement.MaxName); tag != "" {
			record.Tags = append(record.Tags, tag)
		}
	}
	if id := r.cell(cells, FieldExternalID); id != "" {
		record.ExternalID = "csv:" + id
	}
}

// hasAmount reports whether a row has a number in a column of amounts, perhaps one that cannot be
// read, or a fee.
func (r *Reader) hasAmount(cells []string) bool {
	for _, field := range []string{FieldAmount, FieldDebit, FieldCredit} {
		if strings.ContainsAny(r.cell(cells, field), "0123456789") {
			return true
		}
	}
	return written.HasNonzero(r.cell(cells, FieldFee))
}

// dateOfNumbers is a date in any order, perhaps of a day that does not exist.
var dateOfNumbers = regexp.MustCompile(`^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}(\D|$)`)

// noTransaction reports whether a row whose date cannot be read is a total, a heading or a remark.
// A row with an amount and a date of another layout is none of them, also without texts.
func noTransaction(cells []string, day, amount string) bool {
	if amount != "" && dateOfNumbers.MatchString(day) {
		return false
	}
	if amount == "" || filled(cells) <= 2 {
		return true
	}
	return !strings.ContainsAny(day, "0123456789") && filled(cells)*2 <= len(cells)
}

func filled(cells []string) int {
	n := 0
	for _, c := range cells {
		if c != "" {
			n++
		}
	}
	return n
}
