package mapping

import (
	"slices"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// changesAmount reports whether a column changes the amounts of rows, or their currency.
func (c Column) changesAmount() bool {
	switch c.Field {
	case FieldAmount, FieldDebit, FieldCredit, FieldType, FieldFee, FieldCurrency:
		return true
	}
	return false
}

// Unread are the columns with values that a saved mapping does not read.
type Unread struct {
	// Amounts and Texts are the columns that the proposal reads: those that change the amounts of
	// rows, and the others.
	Amounts, Texts []int
	// New reports whether a column has values for the first time since the mapping was saved.
	New bool
	// Dates reports whether only one of the files has dates without a year, so that the layout of
	// the proposal replaces that of the saved mapping.
	Dates bool
	// Order reports whether dates without a year have another order in the proposal.
	Order bool
}

// Adopt completes a saved mapping for another file with the same heading, whose proposal is given.
// Columns that were empty when it was saved get the field of the proposal, unless another column
// has it. Columns that had values, and that the user has left out, stay out. Balances are always
// compared, and a proposal has a fee only if balances prove it. The years of dates without one are
// those of the other file.
func (m *Mapping) Adopt(proposed *Mapping) Unread {
	earlier := m.Empty
	m.Empty, m.DatesUntil = proposed.Empty, proposed.DatesUntil
	var unread Unread
	if m.hasYears() != proposed.hasYears() {
		m.DateLayout, unread.Dates = proposed.DateLayout, true
	}
	unread.Order = written.DayLayouts[m.DateLayout] != written.DayLayouts[proposed.DateLayout]
	for _, column := range proposed.Columns {
		wasEmpty := slices.Contains(earlier, column.Index)
		proven := column.Field == FieldBalance || column.Field == FieldFee && earlier != nil
		switch {
		case m.reads(column.Index) || slices.Contains(proposed.Empty, column.Index):
		case (wasEmpty || proven) && m.accepts(column.Field):
			m.Columns = append(m.Columns, column)
		case earlier != nil && !wasEmpty || column.Field == FieldBalance:
		case column.changesAmount():
			unread.Amounts = append(unread.Amounts, column.Index)
		default:
			unread.Texts = append(unread.Texts, column.Index)
		}
	}
	slices.SortFunc(m.Columns, func(a, b Column) int { return a.Index - b.Index })
	for _, i := range earlier {
		unread.New = unread.New || !m.reads(i) && !slices.Contains(proposed.Empty, i)
	}
	return unread
}

// hasYears reports whether dates have a year.
func (m *Mapping) hasYears() bool { return written.Layouts[m.DateLayout] != 0 }

// reads reports whether a column has a field.
func (m *Mapping) reads(index int) bool {
	return slices.ContainsFunc(m.Columns, func(c Column) bool { return c.Index == index })
}

// accepts reports whether another column can have a field without a change of the amount mode.
func (m *Mapping) accepts(field string) bool {
	switch field {
	case FieldPayee, FieldDescription, FieldNotes, FieldTags:
		return true
	case FieldAmount, FieldType:
		return false
	case FieldDebit, FieldCredit:
		if m.AmountMode != DebitCredit {
			return false
		}
	}
	return !slices.ContainsFunc(m.Columns, func(c Column) bool { return c.Field == field })
}
