package proposal

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// statuses returns the number of cells whose status is known, and how many of them are not booked.
// It returns 0 for a column with many different values.
func (c *column) statuses() (known, unbooked int) {
	for value, n := range c.values {
		status, ok := written.StatusOf(value)
		if ok {
			known += n
		}
		if ok && status != written.Booked {
			unbooked += n
		}
	}
	return known, unbooked
}

// byStatus assigns the column of statuses: the one with the best heading, or otherwise one whose
// values are all statuses, if some of them are not booked, or one whose heading may mean statuses.
// "Hold" and "Open" under the heading of a payee or a description are texts.
func (p *Profile) byStatus(columns Columns, taken map[int]bool) {
	found := p.best(mapping.FieldStatus, taken, columns)
	for i := range p.columns {
		known, unbooked := p.columns[i].statuses()
		isText := p.rank(i, mapping.FieldPayee) == 1 ||
			p.rank(i, mapping.FieldDescription) == 1
		isStatus := p.rank(i, mapping.FieldStatus) > 0
		if found < 0 && unbooked > 0 && (isStatus || known == p.columns[i].filled && !isText) {
			found = i
		}
	}
	for i := range p.columns {
		if found < 0 && p.rank(i, mapping.FieldStatus) == 1 && p.columns[i].hasMarks() {
			found, p.marked = i, true
		}
	}
	if found >= 0 {
		columns[mapping.FieldStatus], taken[found] = found, true
	}
}

// voidMark is the letter for payments that finance applications do not count. bookedMarks are the
// others: reconciled, cleared, unreconciled, new, yes, frozen, for follow-up and duplicate.
const voidMark, bookedMarks = "v", "rcunyfd"

// hasMarks reports whether a column has the letters that finance applications write for what the
// user has compared with the bank.
func (c *column) hasMarks() bool {
	isBooked := false
	return c.all(func(value string) bool {
		mark := strings.ToLower(value)
		isMark := len(mark) == 1 && strings.Contains(bookedMarks, mark)
		isBooked = isBooked || isMark
		return isMark || mark == voidMark
	}) && isBooked
}

// setMarks lists the letters of a column of statuses with their meanings.
func (p *Profile) setMarks(mapped *mapping.Mapping, status int) {
	for _, value := range slices.Sorted(maps.Keys(p.columns[status].values)) {
		if strings.ToLower(value) == voidMark {
			mapped.Void = append(mapped.Void, value)
		} else {
			mapped.Booked = append(mapped.Booked, value)
		}
	}
}

// maxStatuses is the maximum number of values of a column of statuses without a heading.
const maxStatuses = 4

// mayBeStatus reports whether a column may have statuses under a heading that no vocabulary has:
// some of its few values mean that a payment is not booked.
func (p *Profile) mayBeStatus(i int) bool {
	c := &p.columns[i]
	_, unbooked := c.statuses()
	return p.heading >= 0 && unbooked > 0 && !p.isNamed(i) && len(c.values) <= maxStatuses &&
		c.filled >= len(p.transactions)
}

// status returns the column of statuses, or none.
func (p *Profile) status(columns Columns) int {
	if i, ok := columns[mapping.FieldStatus]; ok {
		return i
	}
	return none
}

// warnOfStatus adds the assumption that payments are booked if a heading names a status, but most
// of its values are unknown. A heading such as "State" may also be one of addresses, so one of its
// values must be known.
func (p *Profile) warnOfStatus(in *statement.Input, mapped *mapping.Mapping, columns Columns) {
	assigned, ok := columns[mapping.FieldStatus]
	if ok && p.marked {
		p.setMarks(mapped, assigned)
		return
	}
	for index := range p.columns {
		known, _ := p.columns[index].statuses()
		rank := p.rank(index, mapping.FieldStatus)
		named := rank == 1 || rank > 1 && known > 0 || p.mayBeStatus(index)
		value, rows := p.examples(index, isUnknownStatus)
		switch {
		case !named || len(rows) == 0 || ok &&
			(index != assigned || known*2 >= p.columns[index].filled):
			continue
		case ok:
			mapped.Booked = p.columns[index].unknown()
		}
		in.Assume(statement.StatusAssumed, statement.Shows("STATUSES_UNKNOWN",
			"column", p.name(index), "value", quoted(value)), rows...)
		return
	}
	if title, rows := p.unbookedRows(); title > 0 && !ok {
		in.Assume(statement.StatusAssumed,
			statement.Shows("ROWS_UNBOOKED", "row", strconv.Itoa(title)), rows...)
	}
}

// unbookedRows returns the number of a row that only says that the payments below it are not
// booked, such as "Pending transactions", and the numbers of these payments.
func (p *Profile) unbookedRows() (title int, rows []int) {
	for i, cells := range p.sample {
		isFilled := func(cell string) bool { return cell != "" }
		first := slices.IndexFunc(cells, isFilled)
		switch {
		case written.IsTransaction(cells) && title > 0:
			rows = append(rows, i+1)
		case len(rows) > 0:
			return title, rows
		case first >= 0 && !slices.ContainsFunc(cells[first+1:], isFilled):
			title = 0
			if status, known := written.StatusOf(cells[first]); known && status != written.Booked {
				title = i + 1
			}
		}
	}
	if len(rows) == 0 {
		return 0, nil
	}
	return title, rows
}

// unknown returns the values that are no known statuses, sorted.
func (c *column) unknown() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(c.values)), func(value string) bool {
		return !isUnknownStatus(value)
	})
}

func isUnknownStatus(value string) bool {
	_, known := written.StatusOf(value)
	return !known
}
