package written

import "slices"

// IsDate reports whether a cell is a day of the calendar in some order.
func IsDate(cell string) bool {
	d, ok := ScanDate(cell)
	return ok && d.Orders() != 0
}

// IsAmount reports whether a cell is a number that is no date. Six or seven digits may be both.
func IsAmount(cell string) bool {
	if _, ok := ScanNumber(cell); !ok {
		return false
	}
	d, ok := ScanDate(cell)
	hasYear := d.Parts[0].Digits == 4 || d.Parts[2].Digits == 4
	return !ok || d.Orders() == 0 || d.Separator == 0 && !hasYear
}

// IsTransaction reports whether a row has a date and a number, and does not state a balance. The
// line of a period only has dates.
func IsTransaction(cells []string) bool {
	statesBalance := func(cell string) bool { return StatedBalance(cell) != "" }
	return slices.ContainsFunc(cells, IsDate) && slices.ContainsFunc(cells, IsAmount) &&
		!slices.ContainsFunc(cells, statesBalance)
}
