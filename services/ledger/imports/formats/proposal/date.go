package proposal

import (
	"slices"
	"strings"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// order returns the order of the column's dates, and whether it was assumed because the dates do
// not decide it. If all dates are valid in two orders, the evidence is, from strong to weak: the
// rows are sorted in one of the orders only, the locale of the request, and the language and the
// numbers of the file.
func (c *column) order(locale string, daysFirst bool) (order written.Orders, assumed bool) {
	most := c.dates()
	var possible []int
	for i := range c.days {
		if c.days[i] == most {
			possible = append(possible, i)
		}
	}
	all := []written.Orders{written.YMD, written.DMY, written.MDY}
	if len(possible) > 1 && possible[0] == 0 {
		possible = possible[1:] // Years of two digits are rarely first.
	}
	if len(possible) == 1 || most == 0 {
		return all[possible[0]], false
	}
	// All dates are valid in both orders. The rows of most files are sorted, in one of the orders
	// only.
	sorted := func(i int) bool { return min(c.up[i], c.down[i]) == 0 && c.up[i]+c.down[i] > 0 }
	if a, b := sorted(possible[0]), sorted(possible[1]); a != b {
		if a {
			return all[possible[0]], true
		}
		return all[possible[1]], true
	}
	if order := localeOrder(locale); order != 0 {
		return order, true
	}
	if daysFirst {
		return written.DMY, true
	}
	return written.MDY, true
}

// localeOrder returns the order of a locale's dates, or 0 for ymd and for no locale.
func localeOrder(locale string) written.Orders {
	language, region, _ := strings.Cut(strings.ReplaceAll(locale, "_", "-"), "-")
	switch region = strings.ToUpper(region); {
	case language == "":
		return 0
	case region == "US" || language == "en" && (region == "" || region == "PH"):
		return written.MDY
	}
	return written.DMY
}

// isTransaction reports whether a row has a date and a number, and does not state a balance. The
// line of a period only has dates.
func isTransaction(cells []string) bool {
	return slices.ContainsFunc(cells, isDate) && slices.ContainsFunc(cells, isAmount) &&
		!slices.ContainsFunc(cells, statesBalance)
}

// isAmount reports whether a cell is a number that is no date. Six or seven digits may be both.
func isAmount(cell string) bool {
	if _, ok := written.ScanNumber(cell); !ok {
		return false
	}
	d, ok := written.ScanDate(cell)
	hasYear := d.Parts[0].Digits == 4 || d.Parts[2].Digits == 4
	return !ok || d.Orders() == 0 || d.Separator == 0 && !hasYear
}

func statesBalance(cell string) bool { return written.StatedBalance(cell) != "" }

// isDate reports whether a cell is a day of the calendar in some order.
func isDate(cell string) bool {
	d, ok := written.ScanDate(cell)
	return ok && d.Orders() != 0
}

// dates returns the number of dates by the order that explains most.
func (c *column) dates() int { return slices.Max(c.days[:]) }
