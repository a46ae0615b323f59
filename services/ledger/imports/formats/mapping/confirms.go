package mapping

import (
	"slices"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
)

// Confirms returns the warnings about guesses that a change to m confirms: those about the parts
// that it changes. A mapping that is sent unchanged confirms all of them.
func (m *Mapping) Confirms(before *Mapping) []string {
	same := func(fields ...string) bool {
		return slices.Equal(m.columnsOf(fields), before.columnsOf(fields))
	}
	dates := same(FieldDate) && m.DateLayout == before.DateLayout &&
		m.DatesUntil == before.DatesUntil
	amounts := same(FieldAmount, FieldDebit, FieldCredit)
	unchanged := map[string]bool{
		statement.SignAssumed: amounts && same(FieldType) && m.Invert == before.Invert &&
			m.AmountMode == before.AmountMode && slices.Equal(m.Negative, before.Negative),
		statement.AmountAssumed: amounts && same(FieldFee),
		statement.StatusAssumed: same(FieldStatus) && slices.Equal(m.Booked, before.Booked) &&
			slices.Equal(m.Pending, before.Pending) && slices.Equal(m.Void, before.Void),
		statement.ColumnsUnread:     same(Fields...),
		statement.DateOrderAssumed:  dates,
		statement.DateOrderInferred: dates,
		statement.DecimalsAssumed:   m.DecimalMark == before.DecimalMark,
	}
	var confirmed []string
	for _, code := range statement.Confirmed {
		if !unchanged[code] {
			confirmed = append(confirmed, code)
		}
	}
	if len(confirmed) == 0 && m.Header == before.Header && m.SkipRows == before.SkipRows &&
		m.Currency == before.Currency {
		return statement.Confirmed
	}
	return confirmed
}

// columnsOf returns the columns with one of the fields, sorted by index.
func (m *Mapping) columnsOf(fields []string) []Column {
	var columns []Column
	for _, c := range m.Columns {
		if c.Field != FieldIgnore && slices.Contains(fields, c.Field) {
			columns = append(columns, c)
		}
	}
	slices.SortFunc(columns, func(a, b Column) int { return a.Index - b.Index })
	return columns
}
