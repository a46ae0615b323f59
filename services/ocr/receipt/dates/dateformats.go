package dates

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
	"github.com/coffer-budget/coffer/services/ocr/receipt/vocabulary"
)

const (
	fourDigits = `(?:19|20)\d\d`
	thin       = `[-/.,'’:|\\(~—–_]{1,2}`
)

var (
	yearFirst = regexp.MustCompile(
		`(?:^|\D)(20\d\d)\s?[-/.年]\s?(\d{1,2})\s?[-/.月]\s?(\d{1,2})(?:\D|$)`)
	// numeric matches dates with a trailing year.
	numeric = regexp.MustCompile(`(?:^|[^\d/.]|[a-z:]\.)(\d{1,2})\s?([-/.,])\s?(\d{1,2})` +
		`\s?([-/.,])\s?'?(` + fourDigits + `|0[12]\d|\d\d)(?:[^\d]|$)`)
	// loose matches a date of ten characters with spaces inside, or with any thin character in
	// place of a slash.
	loose = regexp.MustCompile(`(?:^|\D)(\d\s?\d)\s?` + thin + `\s?(\d\s?\d)\s?` + thin +
		`\s?(2\s?0\s?[0-4]\s?\d)(?:\D|$)`)
	// mixed matches a date with a year in two digits, in which a point is read as a comma or colon,
	// before a time of day.
	mixed = regexp.MustCompile(`(?:^|\D)([0-3]\d)(?:[.,]([01]\d)[.,:]|:([01]\d)[.,])([0-4]\d)` +
		`\s+(?:[01]\d|2[0-3]):[0-5]\d`)
	// spaced requires a word for date before the parts, because only spaces separate them.
	spaced = regexp.MustCompile(
		`(?:date|datum|fecha|data|tarikh)\W{0,3}(\d\d) (\d\d) (20\d\d)(?:\D|$)`)
	// lostSlash matches a date in which a slash is missing or read as 1, 7 or a letter:
	// "2405/2022", "24/0512022", "24M05/2022".
	lostSlash = regexp.MustCompile(
		`(?:^|[^\da-z])([0-3o][\do])[-/.17a-z]?([01o][\do])[-/.17a-z]?(20[0-4]\d)(?:\D|$)`)
	// compact matches 20231225.
	compact = regexp.MustCompile(`(?:^|\D)(20[012345]\d)(0[1-9]|1[0-2])([0-3]\d)(?:\D|$)`)
	// gluedTime matches a date and the time after it, if the engine has lost the space between
	// them: "25/12/202318:00". The years 19 and 20 are excluded, because "25/12/2018:12" may be of
	// 2018.
	gluedTime = regexp.MustCompile(`(?:(\d{1,2}[-/.]\d{1,2}[-/.]` + fourDigits + `)|` +
		`(` + fourDigits + `[-/.]\d\d[-/.]\d\d)|` +
		`((?:` + monthNames + `)[-/., ]?` + fourDigits + `)|` +
		`(\d\d[-/.]\d\d[-/.](?:0\d|1[0-8]|2[1-9])))((?:[01]?\d|2[0-3]):[0-5]\d)`)
	// clock matches a time of day. It also matches some prices.
	clock = regexp.MustCompile(`\d{1,2}[:.]\d{2}(?:[:.]\d{2})?\s?(?:am|pm|uhr|h)?`)
	// TimeOfDay matches only times with a colon, so it matches no prices.
	TimeOfDay   = regexp.MustCompile(`(?:^|\D)(?:[01]?\d|2[0-3])\s?:\s?[0-5]\d(?:\D|$)`)
	hourFollows = regexp.MustCompile(`^\s?:\s?\d\d`)
	// timeBefore and halfOfDay match words beside three numbers that are a time, although points
	// separate them.
	timeBefore  = regexp.MustCompile(`(?:time|zeit|uhr|hora|ora|heure|masa)\W{0,3}$`)
	halfOfDay   = regexp.MustCompile(`^\.?\s?[ap]\.?m\b`)
	moreDigits  = regexp.MustCompile(`^\W{0,3}\d`)
	centsFollow = regexp.MustCompile(`^\s?[.,]\s?\d`)
	dateWords   = printed.Words(vocabulary.Date)
	otherDates  = printed.Words(vocabulary.OtherDate)
	usWords     = printed.PhraseList(`sales tax,zip,usa,gratuity`)
)

// weekdayNames are the unambiguous names of weekdays, Sunday first.
var weekdayNames = func() (out [7]printed.Phrases) {
	for day, names := range vocabulary.Named(vocabulary.Weekdays, 7) {
		out[day] = printed.PhraseList(strings.Join(names, ","))
	}
	return out
}()

func weekdayOn(l *printed.Line) *time.Weekday {
	var out *time.Weekday
	for day, names := range weekdayNames {
		if !names.Has(l.Tokens) {
			continue
		}
		if out != nil {
			return nil
		}
		out = new(time.Weekday(day))
	}
	return out
}

// ordered returns a date whose format shows the order of day and month.
func ordered(year string, month int, day string, score float64) Date {
	return Date{year: fullYear(year), a: atoi(day), b: month, ordered: true, score: score}
}

// On returns every date on a line, in all formats. Formats that often match other numbers are tried
// only if no other format matches. Scores are relative to a typical date.
func On(l *printed.Line) []Date {
	text := gluedTime.ReplaceAllString(printed.Fold(dateDigits(l.Text)), "$1$2$3$4 $5")
	var out []Date
	for _, m := range yearFirst.FindAllStringSubmatch(text, -1) {
		out = append(out, ordered(m[1], atoi(m[2]), m[3], 0.7))
	}
	out = append(out, numericDates(text)...)
	out = append(out, namedMonths(text)...)
	for _, m := range yearMonth.FindAllStringSubmatch(text, -1) {
		out = append(out, ordered(m[1], monthOf[m[2]], m[3], 0.7))
	}
	if len(out) == 0 {
		out = append(out, compactDates(text)...)
	}
	if len(out) == 0 {
		out = append(out, misreadMonths(text)...)
	}
	return out
}

// numericDates reads dates made of digits. Matches may overlap: in "07- 24/05/2022" the first three
// numbers are no date.
func numericDates(text string) []Date {
	var out []Date
	for from := 0; from < len(text); {
		at := numeric.FindStringSubmatchIndex(text[from:])
		if at == nil {
			break
		}
		m := make([]string, 6)
		for i := range m {
			m[i] = text[from+at[2*i] : from+at[2*i+1]]
		}
		before, after := text[:from+at[2]], text[from+at[11]:]
		// In "15.04. 16:14", the last two digits are the hour.
		isTime := len(m[5]) == 2 && (hourFollows.MatchString(after) ||
			timeBefore.MatchString(before) || halfOfDay.MatchString(after))
		from += at[3]
		if !isTime {
			out = append(out, numericDate(m, TimeOfDay.MatchString(after))...)
		}
	}
	return out
}

// numericDate converts the groups of numeric: day and month in either order, and the year. Points
// may be misread as commas if a time of day follows. It returns a second date if a two-digit year
// may also come first.
func numericDate(match []string, timed bool) []Date {
	short, same := len(match[5]) == 2, match[2] == match[4]
	day := Date{year: fullYear(match[5]), a: atoi(match[1]), b: atoi(match[3])}
	switch twoDigits := len(match[1])+len(match[3]) == 4; {
	case same && match[2] == "," && (!timed || !twoDigits):
		return nil
	case !same && (!pointOrComma(match[2]) || !pointOrComma(match[4]) || !twoDigits):
		return nil
	case !same, match[2] == ",":
		// Mixed separators, or commas, are points with dirt.
		day.score = -0.6
	case len(match[5]) == 3:
		day.score = -0.5
	case !short:
		day.score = 0.5
	case match[2] == "." && !twoDigits:
		// More likely a section number, or a price with dirt.
		day.score = -1.5
	}
	day.fixRoundDigits()
	// Points occur in European dates only, where the day comes first.
	day.ordered = match[2] == "." && !short
	out := []Date{day}
	if same && short && atoi(match[1]) >= 13 && atoi(match[5]) <= 31 && atoi(match[5]) >= 1 {
		out = append(out, ordered(match[1], atoi(match[3]), match[5], day.score-0.4))
	}
	return out
}

// fixRoundDigits repairs a day or month above 31 whose leading zero was read as 6, 8 or 9.
func (d *Date) fixRoundDigits() {
	for _, n := range []*int{&d.a, &d.b} {
		if *n > 31 && (*n/10 == 6 || *n/10 == 8 || *n/10 == 9) {
			*n %= 10
			d.score -= 0.8
		}
	}
}

func pointOrComma(s string) bool { return s == "." || s == "," }

// compactDates reads the formats of last resort. Their scores are low, because eight digits are
// more often an article or invoice number.
func compactDates(text string) []Date {
	var out []Date
	for _, m := range compact.FindAllStringSubmatch(text, -1) {
		out = append(out, ordered(m[1], atoi(m[2]), m[3], -1.5))
	}
	for _, m := range lostSlash.FindAllStringSubmatch(text, -1) {
		day, month := strings.ReplaceAll(m[1], "o", "0"), strings.ReplaceAll(m[2], "o", "0")
		out = append(out, ordered(m[3], atoi(month), day, -0.8))
	}
	for _, m := range mixed.FindAllStringSubmatch(text, -1) {
		d := Date{year: fullYear(m[4]), a: atoi(m[1]), b: atoi(m[2] + m[3]), score: -0.7}
		out = append(out, d)
	}
	for _, pattern := range []*regexp.Regexp{loose, spaced} {
		for _, at := range pattern.FindAllStringSubmatchIndex(text, -1) {
			part := func(i int) string { return text[at[2*i]:at[2*i+1]] }
			number := func(i int) int { return atoi(strings.ReplaceAll(part(i), " ", "")) }
			// In "11,04,20 09:51", the last two digits are the hour.
			if strings.Contains(part(3), " ") && moreDigits.MatchString(text[at[7]:]) {
				continue
			}
			out = append(out, Date{year: number(3), a: number(1), b: number(2), score: -0.7})
		}
	}
	return out
}

// fullYear parses a year. Years of two or three digits belong to this century.
func fullYear(s string) int {
	n := atoi(s)
	if len(s) < 4 {
		return 2000 + n
	}
	return n
}

// atoi parses digits that a pattern has matched. It returns 0 for numbers out of range.
func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

const (
	misreadDay  = `[0-9OoQDlIi|SsBZTz]{1,2}`
	misreadYear = `[0-9OoQDlIi|SsBZTtz]{2,4}`
)

var (
	// threeParts is tried before datelike: in "Dates2i/05/17", the s does not belong to the date.
	threeParts = regexp.MustCompile(
		`(?:^|\D)(` + misreadDay + `[-/.]` + misreadDay + `[-/.]` + misreadYear + `)`)
	datelike = regexp.MustCompile(misreadDay + `[-/.]?` + misreadDay + `[-/.]` + misreadYear)
	// dateDigit also replaces letters that are misread digits only between slashes.
	dateDigit = strings.NewReplacer("O", "0", "o", "0", "Q", "0", "D", "0", "l", "1", "I", "1",
		"i", "1", "|", "1", "S", "5", "s", "5", "B", "8", "Z", "2", "z", "2", "T", "7", "t", "1")
)

// dateDigits repairs misread digits inside a text that is otherwise a date.
func dateDigits(text string) string {
	if !threeParts.MatchString(text) {
		return datelike.ReplaceAllStringFunc(text, mostlyDigits)
	}
	return threeParts.ReplaceAllStringFunc(text, func(s string) string {
		at := threeParts.FindStringSubmatchIndex(s)[2]
		return s[:at] + mostlyDigits(s[at:])
	})
}

// mostlyDigits replaces misread digits if at least two thirds of the characters are digits.
// Otherwise the text is a word.
func mostlyDigits(text string) string {
	digits, others := 0, 0
	for i := range len(text) {
		switch {
		case printed.IsDigit(text[i]):
			digits++
		case text[i] != '-' && text[i] != '/' && text[i] != '.':
			others++
		}
	}
	if digits < others*2 {
		return text
	}
	return dateDigit.Replace(text)
}
