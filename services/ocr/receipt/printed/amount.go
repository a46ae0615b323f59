package printed

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/coffer-budget/coffer/internal/money"
)

// Amount is a number on a line, in thousandths. start and end delimit it in the line's text.
type Amount struct {
	Value      int64
	Decimals   int
	Start, End int
	Percent    bool
	// measure is set for a volume, a weight or a distance.
	measure bool
	// markedPrice is set for a price without two decimals; see markPrices.
	markedPrice bool
	// MinConfidence is the lowest confidence of the words that contain the number, from 0 to 1.
	MinConfidence float64
}

// number matches a run of digits and separators. Engines insert spaces beside separators, and read
// one as two: "4,.60" or "4. .60".
var number = regexp.MustCompile(`\d(?:\d|[.,]\s?[.,]\s?\d|[.,'’]\s?\d|\s[.,]\s?\d)*`)

// MaxDigits excludes card numbers and barcodes, and keeps sums within the range of int64.
const MaxDigits = 10

// FindAmounts returns the numbers on a line from left to right.
func FindAmounts(line *Line) []Amount {
	var out []Amount
	for _, at := range number.FindAllStringIndex(line.Text, -1) {
		if a, ok := line.parseNumber(at[0], at[1]); ok {
			out = append(out, a)
			continue
		}
		// The run may be two numbers side by side.
		for _, sub := range splitNumbers(line.Text, at[0], at[1]) {
			if a, ok := line.parseNumber(sub[0], sub[1]); ok {
				out = append(out, a)
			}
		}
	}
	for i := range out {
		out[i].MinConfidence = line.MinConfidence(out[i].Start, out[i].End)
	}
	return out
}

// splitNumbers splits a run at its spaces. It returns nil if there are none.
func splitNumbers(text string, start, end int) [][2]int {
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

// parseNumber parses the number between two offsets of the text. Point, comma and apostrophe may
// separate thousands or decimals.
func (l *Line) parseNumber(start, end int) (Amount, bool) {
	text := l.Text
	raw := strings.ReplaceAll(strings.ReplaceAll(text[start:end], " ", ""), "’", "'")
	groups := strings.FieldsFunc(raw, func(r rune) bool { return strings.ContainsRune(".,'", r) })
	// Four separators are enough for MaxDigits digits.
	if start >= end || len(groups) == 0 || len(raw) > MaxDigits+4 || partOfCode(text, start, end) {
		return Amount{}, false
	}
	whole, fraction := raw, ""
	if len(groups) > 1 {
		last := groups[len(groups)-1]
		// Three or four digits are a fraction only after a single separator: 0.532, not 1.234.567.
		if len(last) <= 2 || len(last) <= 4 && len(groups) == 2 {
			fraction, groups = last, groups[:len(groups)-1]
		}
		for _, g := range groups[1:] {
			if len(g) != 3 {
				return Amount{}, false
			}
		}
		if len(groups) > 1 && len(groups[0]) > 3 {
			return Amount{}, false
		}
		whole = strings.Join(groups, "")
	}
	if len(whole)+len(fraction) > MaxDigits {
		return Amount{}, false
	}
	n, err := strconv.ParseInt(whole+(fraction + "000")[:3], 10, 64)
	if err != nil {
		return Amount{}, false
	}
	a := Amount{Value: n, Decimals: len(fraction), Start: start, End: end}
	head, tail := text[:start], text[end:]
	a.Percent = strings.HasPrefix(strings.TrimLeft(tail, " "), "%") ||
		strings.HasPrefix(tail, "g%") || percentBefore.MatchString(head)
	a.measure = unitAfter.MatchString(tail)
	if negative(head, tail) || (l.Exact || l.Refund) && AttachedMinus.MatchString(head) {
		a.Value = -a.Value
	}
	return a, true
}

var (
	// percentBefore matches the sign before a number, as Turkish receipts print it. Behind a digit,
	// it belongs to the number before it.
	percentBefore = regexp.MustCompile(`(?:^|[^\d\s]|\D\s)%$`)
	// unitAfter matches a unit after a number that is no price. A capital letter may be the code of
	// a tax.
	unitAfter = regexp.MustCompile(`^\s?(?:l|ltr|Ltr|Liter|LITER|litres?|liters?|kg|km|kWh|gal)\b`)
	// houseNumber matches before the "0." of a misread "No.19".
	houseNumber = regexp.MustCompile(`(?:^|\s)[Nn]$`)
	// codeBefore and codeAfter match a slash, colon or dash beside a number. Dates and times have
	// digits on both sides of a slash or colon, telephone and article numbers of a dash.
	codeBefore = regexp.MustCompile(`/$|[0-9][:-]$`)
	codeAfter  = regexp.MustCompile(`^[/:-][0-9]`)
)

// partOfCode reports whether a number belongs to a date, a time, a telephone number or an article
// number, by the characters beside it.
func partOfCode(text string, start, end int) bool {
	if strings.HasPrefix(text[start:], "0.") && houseNumber.MatchString(text[:start]) {
		return true
	}
	return codeBefore.MatchString(text[:start]) || codeAfter.MatchString(text[end:])
}

// IsDigit reports whether b is an ASCII digit.
func IsDigit(b byte) bool { return b >= '0' && b <= '9' }

// Currencies that may stand between a minus and its number.
const (
	minusCode     = `(?i:rm|myr|eur|usd|gbp|chf)`
	minusCurrency = `(?:` + minusCode + `|[€$£¥])`
)

var (
	// minusBefore and minusAfter match a minus or an opening bracket beside a number, with or
	// without a currency.
	minusBefore = regexp.MustCompile(`(?:[-−–~]|\()\s?` + minusCurrency + `?\s?$|` +
		minusCurrency + `\s?[-−–]\s?$`)
	minusAfter = regexp.MustCompile(`^(?:[-−–](?:\s|$|[A-Za-z*])|\s[-−]\s*$)`)
	// AttachedMinus matches a minus directly before the number and separated from the text before
	// it. On an image it may be dirt, so it only counts in text and on refunds.
	AttachedMinus = regexp.MustCompile(
		`(?:^|\s)[-−](?:` + minusCurrency + `?|` + minusCode + `\s)$`)
	// dashBefore matches a dash that separates a name from its price.
	dashBefore = regexp.MustCompile(`[\p{L}\d)]\s?[-−–~]\s?$|\s[-−–~]\s+$`)
)

// negative reports whether a number between head and tail is printed as -1.00, 1.00-, -RM 1.00 or
// (1.00). A dash between words is no minus.
func negative(head, tail string) bool {
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

// IsPrice reports whether the number is printed like a price.
func (a Amount) IsPrice() bool {
	return (a.Decimals == 2 || a.markedPrice) && !a.Percent && !a.measure
}

// withoutCoins are currencies that ISO 4217 gives two decimals, and receipts print without.
var withoutCoins = []string{"HUF", "IDR", "COP"}

// MarkPrices sets markedPrice on prices without two decimals. There are two cases: currencies with
// no or three decimals, if no number on the page has two; and text, where a currency before the
// number or its place at the end of the line marks a price.
func MarkPrices(lines []*Line, currency string) {
	c, known := money.ParseCurrency(currency)
	hasPrice := func(l *Line) bool { return l.PriceCount() > 0 }
	decimals := c.Decimals()
	if slices.Contains(withoutCoins, currency) {
		decimals = 0
	}
	other := known && (decimals == 0 || decimals == 3) && !slices.ContainsFunc(lines, hasPrice)
	for _, line := range lines {
		n := len(line.Amounts)
		if n == 0 {
			continue
		}
		switch last := &line.Amounts[n-1]; {
		case !other:
			last.markedPrice = line.Exact && !hasPrice(line) && last.marked(line.Text, currency)
			if last.markedPrice && last.Decimals == 3 && (!known || decimals < 3) {
				// "$1,250" is 1250 dollars without cents.
				last.Value *= 1000
				last.Decimals = 0
			}
		case decimals == 3:
			last.markedPrice = last.Decimals == 3
		case last.Decimals == 0:
			last.markedPrice = true
		case last.Decimals == 3:
			// In a currency without decimals, "1,500" is 1500.
			last.Value, last.Decimals, last.markedPrice = last.Value*1000, 0, true
		}
	}
}

var (
	currencySign = regexp.MustCompile(`(?:[€$£¥₩₹]|(?:^|\s)R[ps]\.?)\s?$`)
	// perGallon matches a fuel price with three decimals. Dollars and pounds separate thousands by
	// commas, so this is not a price in thousands.
	perGallon = regexp.MustCompile(`[$£]\s?\d+\.\d{3}$`)
)

func (a Amount) marked(text, currency string) bool {
	before := text[:a.Start]
	hasSign := currencySign.MatchString(before) || endsWithCode(before, currency)
	return hasSign && !perGallon.MatchString(text[:a.End]) || a.Decimals == 1 && a.End == len(text)
}

// endsWithCode reports whether the text ends with the currency's code as a separate word.
func endsWithCode(text, currency string) bool {
	before, found := strings.CutSuffix(strings.TrimRight(text, " "), currency)
	return found && currency != "" && (before == "" || strings.HasSuffix(before, " "))
}

// lookalike replaces letters that engines read in place of digits.
var lookalike = strings.NewReplacer("O", "0", "o", "0", "Q", "0", "D", "0", "@", "0",
	"l", "1", "I", "1", "|", "1", "S", "5", "s", "5", "B", "8", "Z", "2")

// afterCode matches a word of a currency and a number with misread digits, such as "RMO.05".
var afterCode = regexp.MustCompile(
	`^(RM|EUR|CHF|[€$£])([OoQDlI|SsBZ0-9]{1,4})([.,][0-9OoQDlI|SsBZ]{1,2})?$`)

// almostPrice matches a price with misread digits. Up to three characters may precede it, and a tax
// code may follow.
var almostPrice = regexp.MustCompile(
	`^(\D{0,3}?)([0-9OoQDlI|SsBZ@]{1,6}[.,][0-9OoQDlI|SsBZ@]{2})([A-Za-z*]{0,2})$`)

// fixDigits repairs misread digits in a word that is otherwise a price. The result has the same
// length, so offsets stay valid.
func fixDigits(word string) string {
	if m := afterCode.FindStringSubmatch(word); m != nil {
		return m[1] + lookalike.Replace(m[2]+m[3])
	}
	match := almostPrice.FindStringSubmatch(word)
	if match == nil {
		return word
	}
	digits := 0
	for i := range len(match[2]) {
		if IsDigit(match[2][i]) {
			digits++
		}
	}
	// With more letters than digits, the word is a name.
	if digits*2 < len(match[2])-1 {
		return word
	}
	return match[1] + lookalike.Replace(match[2]) + match[3]
}

// Format formats thousandths as a decimal string with two decimals, or three if needed.
func Format(milli int64) string {
	minus := ""
	if milli < 0 {
		minus, milli = "-", -milli
	}
	if milli%10 != 0 {
		return fmt.Sprintf("%s%d.%03d", minus, milli/1000, milli%1000)
	}
	return fmt.Sprintf("%s%d.%02d", minus, milli/1000, milli%1000/10)
}
