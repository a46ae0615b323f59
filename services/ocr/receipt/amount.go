package receipt

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/coffer-budget/coffer/internal/money"
)

// amount is a number on a line, in thousandths.
type amount struct {
	value      int64
	decimals   int
	start, end int
	percent    bool
	// price: its currency is written so, if not with two decimals.
	price     bool
	certainty float64
	// right is the edge of the column it stands in.
	right int
}

// number is a run of digits and separators; a space beside a separator is the engine's.
var number = regexp.MustCompile(`\d(?:\d|[.,]{2}\s?\d|[.,'’]\s?\d|\s[.,]\s?\d)*`)

// maxDigits keeps card numbers and barcodes out, and sums in range.
const maxDigits = 10

func findAmounts(l *line) []amount {
	var out []amount
	for _, at := range number.FindAllStringIndex(l.text, -1) {
		if a, ok := l.parseNumber(at[0], at[1]); ok {
			out = append(out, a)
			continue
		}
		// What looked like one number may be two neighbours.
		for _, sub := range splitRun(l.text, at[0], at[1]) {
			if a, ok := l.parseNumber(sub[0], sub[1]); ok {
				out = append(out, a)
			}
		}
	}
	for i := range out {
		out[i].certainty = l.certainty(out[i].start, out[i].end)
		e := l.evidence("", out[i].start, out[i].end)
		out[i].right = e.Box.X + e.Box.W
		if l.plain {
			out[i].right = out[i].end
		}
	}
	return out
}

func splitRun(text string, start, end int) [][2]int {
	var out [][2]int
	from := start
	for i := start; i < end; i++ {
		if text[i] == ' ' {
			out = append(out, [2]int{from, i})
			from = i + 1
		}
	}
	if from == start {
		return nil
	}
	out = append(out, [2]int{from, end})
	for i := range out {
		for out[i][0] < out[i][1] && (text[out[i][0]] < '0' || text[out[i][0]] > '9') {
			out[i][0]++
		}
	}
	return out
}

func (l *line) parseNumber(start, end int) (amount, bool) {
	text := l.text
	raw := strings.ReplaceAll(strings.ReplaceAll(text[start:end], " ", ""), "’", "'")
	groups := strings.FieldsFunc(raw, func(r rune) bool { return r == '.' || r == ',' || r == '\'' })
	if start >= end || len(groups) == 0 || len(raw) > maxDigits+4 {
		return amount{}, false
	}
	if partOfCode(text, start, end) {
		return amount{}, false
	}
	whole, fraction := raw, ""
	if len(groups) > 1 {
		last := groups[len(groups)-1]
		if len(last) <= 4 && !(len(last) == 4 && len(groups) > 2) && !(len(last) == 3 && len(groups) > 2) {
			fraction, groups = last, groups[:len(groups)-1]
		}
		for _, g := range groups[1:] {
			if len(g) != 3 {
				return amount{}, false
			}
		}
		if len(groups) > 1 && len(groups[0]) > 3 {
			return amount{}, false
		}
		whole = strings.Join(groups, "")
	}
	if len(whole)+len(fraction) > maxDigits {
		return amount{}, false
	}
	n, err := strconv.ParseInt(whole+(fraction + "000")[:3], 10, 64)
	if err != nil {
		return amount{}, false
	}
	a := amount{value: n, decimals: len(fraction), start: start, end: end}
	rest := strings.TrimLeft(text[end:], " ")
	a.percent = strings.HasPrefix(rest, "%") || strings.HasPrefix(text[end:], "g%")
	if negative(text, start, end) || l.exact && signed.MatchString(text[:start]) {
		a.value = -a.value
	}
	return a, true
}

// houseNumber is before a "No.19" of which the o is read as a zero.
var houseNumber = regexp.MustCompile(`(?:^|\s)[Nn]$`)

// partOfCode tells numbers inside dates, times, telephone and article numbers by what touches them.
func partOfCode(text string, start, end int) bool {
	before, after := byte(' '), byte(' ')
	if start > 0 {
		before = text[start-1]
	}
	if end < len(text) {
		after = text[end]
	}
	if strings.HasPrefix(text[start:], "0.") && houseNumber.MatchString(text[:start]) {
		return true
	}
	if before == '/' || before == ':' && start > 1 && isDigit(text[start-2]) || after == '/' && end+1 < len(text) && isDigit(text[end+1]) {
		return true
	}
	if after == ':' && end+1 < len(text) && isDigit(text[end+1]) {
		return true
	}
	if before == '-' && start > 1 && isDigit(text[start-2]) {
		return true
	}
	return after == '-' && end+1 < len(text) && isDigit(text[end+1])
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

var (
	minusBefore = regexp.MustCompile(`(?:[-−–~]|\()\s?(?i:rm|myr|eur|usd|gbp|chf|[€$£¥])?\s?$|(?i:rm|myr|eur|usd|gbp|chf|[€$£¥])\s?[-−–]\s?$`)
	minusAfter  = regexp.MustCompile(`^(?:[-−–](?:\s|$|[A-Za-z*])|\s[-−]\s*$)`)
	// signed is a minus that stands close to its figure and apart from what is before it. On a picture it may be a speck.
	signed     = regexp.MustCompile(`(?:^|\s)(?:[-−](?i:rm|myr|eur|usd|gbp|chf|[€$£¥])?|[-−](?i:rm|myr|eur|usd|gbp|chf)\s)$`)
	dashBefore = regexp.MustCompile(`[\p{L}\d)]\s?[-−–~]\s?$|\s[-−–~]\s+$`)
)

// negative reads -1.00, 1.00-, -RM 1.00 and (1.00); a dash between words is none.
func negative(text string, start, end int) bool {
	head, tail := text[:start], text[end:]
	if minusAfter.MatchString(tail) {
		return true
	}
	if !minusBefore.MatchString(head) {
		return false
	}
	if strings.HasSuffix(strings.TrimRight(head, " "), "(") {
		return strings.HasPrefix(strings.TrimLeft(tail, " "), ")")
	}
	return !dashBefore.MatchString(head)
}

// money reports whether the number is written like a price.
func (a amount) money() bool { return (a.decimals == 2 || a.price) && !a.percent }

// readPrices finds the prices that are not written with two decimals: in a currency that has none, or three, where nothing on
// the page has two; and in a text that says so by the currency's sign, or by standing last.
func readPrices(lines []*line, currency string) {
	c, known := money.ParseCurrency(currency)
	other := known && (c.Decimals() == 0 || c.Decimals() == 3) && !slices.ContainsFunc(lines, func(l *line) bool { return l.prices() > 0 })
	for _, l := range lines {
		n := len(l.amounts)
		if n == 0 {
			continue
		}
		switch last := &l.amounts[n-1]; {
		case !other:
			signed := sign.MatchString(l.text[:last.start]) || endsWithCode(l.text[:last.start], currency)
			last.price = l.exact && l.prices() == 0 && (signed && !perGallon.MatchString(l.text[:last.end]) || last.decimals == 1 && last.end == len(l.text))
			if last.price && last.decimals == 3 && (!known || c.Decimals() < 3) {
				// $1,250 has no cents.
				last.value, last.decimals = last.value*1000, 0
			}
		case c.Decimals() == 3:
			last.price = last.decimals == 3
		case last.decimals == 0:
			last.price = true
		case last.decimals == 3:
			// 1,500 is fifteen hundred.
			last.value, last.decimals, last.price = last.value*1000, 0, true
		}
	}
}

var (
	// sign is a currency's, before a figure.
	sign = regexp.MustCompile(`(?:[€$£¥₩₹]|(?:^|\s)R[ps]\.?)\s?$`)
	// perGallon is a price of fuel, where thousands are parted by commas.
	perGallon = regexp.MustCompile(`[$£]\s?\d+\.\d{3}$`)
)

func endsWithCode(text, currency string) bool {
	before, found := strings.CutSuffix(strings.TrimRight(text, " "), currency)
	return found && currency != "" && (before == "" || strings.HasSuffix(before, " "))
}

// lookalike maps what engines read for digits; it is applied only inside what is a number otherwise.
var lookalike = strings.NewReplacer("O", "0", "o", "0", "Q", "0", "D", "0", "l", "1", "I", "1", "|", "1", "S", "5", "s", "5", "B", "8", "Z", "2", "@", "0")

// afterCode finds letters for digits in a whole word that a currency begins: "RMO.05".
var afterCode = regexp.MustCompile(`^(RM|EUR|CHF|[€$£])([OoQDlI|SsBZ0-9]{1,4})([.,][0-9OoQDlI|SsBZ]{1,2})?$`)

var almostPrice = regexp.MustCompile(`^(\D{0,3}?)([0-9OoQDlI|SsBZ@]{1,6}[.,][0-9OoQDlI|SsBZ@]{2})([A-Za-z*]{0,2})$`)

// fixDigits repairs a word that is a price but for letters in the place of digits, keeping its length.
func fixDigits(word string) string {
	if m := afterCode.FindStringSubmatch(word); m != nil {
		return m[1] + lookalike.Replace(m[2]+m[3])
	}
	m := almostPrice.FindStringSubmatch(word)
	if m == nil {
		return word
	}
	digits := 0
	for i := range len(m[2]) {
		if isDigit(m[2][i]) {
			digits++
		}
	}
	if digits*2 < len(m[2])-1 {
		return word
	}
	return m[1] + lookalike.Replace(m[2]) + m[3]
}

// format writes thousandths as a decimal string with at least two places.
func format(milli int64) string {
	sign := ""
	if milli < 0 {
		sign, milli = "-", -milli
	}
	if milli%10 != 0 {
		return fmt.Sprintf("%s%d.%03d", sign, milli/1000, milli%1000)
	}
	return fmt.Sprintf("%s%d.%02d", sign, milli/1000, milli%1000/10)
}
