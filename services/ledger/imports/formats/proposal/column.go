package proposal

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// column counts the kinds of cells of a column, below the heading.
type column struct {
	filled     int
	dashes     int    // Cells that only have a dash.
	unread     int    // Cells with an amount among other characters.
	days       [3]int // Dates by order: ymd, dmy, mdy.
	last       [3]time.Time
	up, down   [3]int // Dates after and before the previous row's.
	spanFrom   [3]time.Time
	spanTo     [3]time.Time
	example    written.DateText // The first date.
	long       int              // Dates with a year of four digits.
	numbers    int
	dots       int // Numbers that only "." explains.
	commas     int
	either     int // Numbers with a separator that both explain.
	points     int // Those of either whose separator is ".".
	negative   int
	positive   int
	decimals   int            // Numbers with a separator.
	currencies int            // Codes of currencies that Coffer knows.
	codes      int            // Three capital letters, such as the code of a former currency.
	values     map[string]int // Up to maxValues different values.
	many       bool           // More than maxValues.
	units      map[string]int
}

// maxValues is the number of different values of a column that a profile counts.
const maxValues = 24

func (c *column) count(cell string) {
	c.filled++
	c.value(cell)
	if isDash(cell) {
		c.dashes++
	}
	if len(cell) > 64 {
		return
	}
	isDate := false
	first, _ := utf8.DecodeRuneInString(cell)
	if first == '\'' || unicode.IsDigit(first) || unicode.IsLetter(first) {
		isDate = c.date(cell)
	}
	// "2024" and "01.02" can be a date's parts and a number, so a date without doubt is no number.
	if !isDate {
		c.number(cell)
		if isUnread(cell) {
			c.unread++
		}
	}
	if len(cell) == 3 {
		if _, ok := money.ParseCurrency(cell); ok {
			c.currencies++
		}
		if !strings.ContainsFunc(cell, func(r rune) bool { return r < 'A' || r > 'Z' }) {
			c.codes++
		}
	}
}

// maxAmount is the maximum length of an amount among other characters.
const maxAmount = 32

// isUnread reports whether a cell seems to have an amount that cannot be read: two decimals at the
// start or the end of a short text that is no number, such as "12.50 Eurodollars".
func isUnread(cell string) bool {
	if _, ok := written.ScanNumber(cell); ok || len(cell) > maxAmount {
		return false
	}
	inside := strings.TrimFunc(cell, func(r rune) bool { return r < '0' || r > '9' })
	at := strings.LastIndexAny(inside, ".,")
	isDecimal := at > 0 && at == len(inside)-3 && written.IsDigitsOnly(inside[at+1:])
	return isDecimal && !strings.ContainsFunc(inside, unicode.IsLetter) &&
		!strings.ContainsAny(inside, ":/")
}

// isDash reports whether a cell has a dash in place of a number.
func isDash(cell string) bool { return strings.Trim(cell, "-–—−") == "" }

// amounts returns the number of cells that are no dash. A column of amounts may have dashes in most
// rows.
func (c *column) amounts() int { return c.filled - c.dashes }

// value counts the different values of a column as long as they are few and short. Columns of
// types, currencies and accounts have few.
func (c *column) value(cell string) {
	if c.many {
		return
	}
	if c.values == nil {
		c.values = make(map[string]int)
	}
	if _, ok := c.values[cell]; !ok && (len(c.values) == maxValues || len(cell) > 64) {
		c.many, c.values = true, nil
		return
	}
	c.values[cell]++
}

// date counts a cell that is a date in each order in which it is one, and whether the dates rise or
// fall in that order. It returns false for digits without separators that may as well be a number,
// such as 240131.
func (c *column) date(cell string) bool {
	dateText, ok := written.ScanDate(cell)
	if !ok {
		return false
	}
	any := false
	for index, order := range allOrders {
		parsed, ok := dateText.Date(order)
		if !ok {
			continue
		}
		any = true
		if c.days[index]++; !c.last[index].IsZero() {
			if parsed.After(c.last[index]) {
				c.up[index]++
			} else if parsed.Before(c.last[index]) {
				c.down[index]++
			}
		}
		c.last[index] = parsed
		if c.spanFrom[index].IsZero() || parsed.Before(c.spanFrom[index]) {
			c.spanFrom[index] = parsed
		}
		if parsed.After(c.spanTo[index]) {
			c.spanTo[index] = parsed
		}
	}
	if any {
		if c.example.Parts[2].Digits == 0 {
			c.example = dateText
		}
		if dateText.Parts[0].Digits == 4 || dateText.Parts[2].Digits == 4 {
			c.long++
		}
	}
	return any &&
		(dateText.Separator != 0 || dateText.Parts[0].Digits != 2 && dateText.Parts[0].Digits != 3)
}

func (c *column) number(cell string) {
	number, ok := written.ScanNumber(cell)
	if !ok {
		return
	}
	marks := number.Marks()
	if marks == 0 {
		return
	}
	c.numbers++
	switch {
	case number.Negative:
		c.negative++
	case strings.Trim(number.Digits, "0.,") != "":
		c.positive++
	}
	if number.Unit != "" {
		if c.units == nil {
			c.units = make(map[string]int)
		}
		if len(c.units) < maxValues {
			c.units[number.Unit]++
		}
	}
	if !strings.ContainsAny(number.Digits, ".,") {
		return
	}
	c.decimals++
	switch marks {
	case written.Dot:
		c.dots++
	case written.Comma:
		c.commas++
	default:
		if c.either++; strings.Contains(number.Digits, ".") {
			c.points++
		}
	}
}
