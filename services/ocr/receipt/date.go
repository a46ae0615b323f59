package receipt

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const monthNames = `jan(?:uary|uar|vier|v)?|januar|ene(?:ro)?|gen(?:naio)?|feb(?:ruary|ruar|rero|braio)?|fev(?:r(?:ier)?)?|mar(?:ch|s|zo)?|maart|mrt|maerz|mrz|apr(?:il|ile)?|avr(?:il)?|abr(?:il)?|` +
	`may|mai|mayo|mag(?:gio)?|mei|jun(?:e|i|io)?|juin|giu(?:gno)?|jul(?:y|i|io)?|juil(?:let)?|lug(?:lio)?|aug(?:ust)?|aout|ago(?:sto)?|ogos|` +
	`sept?(?:ember|embre|iembre)?|set(?:tembre)?|oct(?:ober|obre|ubre)?|okt(?:ober)?|ott(?:obre)?|nov(?:ember|embre|iembre)?|dec(?:ember|embre)?|dez(?:ember)?|dic(?:embre|iembre)?|dis`

// monthOf goes by the first three letters, which is enough in all the languages.
var monthOf = map[string]int{
	"jan": 1, "ene": 1, "gen": 1, "feb": 2, "fev": 2, "mar": 3, "mae": 3, "mrz": 3, "maa": 3, "mrt": 3, "apr": 4, "avr": 4, "abr": 4, "may": 5, "mai": 5, "mag": 5, "mei": 5,
	"jun": 6, "giu": 6, "jul": 7, "lug": 7, "aug": 8, "aou": 8, "ago": 8, "ogo": 8, "sep": 9, "set": 9, "oct": 10, "okt": 10, "ott": 10,
	"nov": 11, "dec": 12, "dez": 12, "dic": 12, "dis": 12,
}

var (
	yearFirst = regexp.MustCompile(`(?:^|\D)(20\d\d)\s?[-/.年]\s?(\d{1,2})\s?[-/.月]\s?(\d{1,2})(?:\D|$)`)
	numeric   = regexp.MustCompile(`(?:^|[^\d/.]|[a-z:]\.)(\d{1,2})\s?([-/.,])\s?(\d{1,2})\s?([-/.,])\s?((?:19|20)\d\d|\d\d)(?:[^\d]|$)`)
	// A slash is lost, or read as a one or a seven: "2405/2022", "24/0512022".
	lostSlash  = regexp.MustCompile(`(?:^|\D)([0-3]\d)[/17]?([01]\d)[/17]?(20[0-4]\d)(?:\D|$)`)
	dayMonth   = regexp.MustCompile(`(?:^|\D)(\d{1,2})(?:st|nd|rd|th)?[-/.,' ]{0,3}(?:de |di )?(` + monthNames + `)[-/.,' ]{0,3}(?:de |del )?((?:19|20)\d\d|\d\d)(?:\D|$)`)
	monthDay   = regexp.MustCompile(`(?:^|[^a-z])(` + monthNames + `)[-/.,' ]{0,3}(\d{1,2})(?:st|nd|rd|th)?[-/.,' ]{1,3}((?:19|20)\d\d|\d\d)(?:\D|$)`)
	yearMonth  = regexp.MustCompile(`(?:^|\D)((?:19|20)\d\d)[-/. ]{0,2}(` + monthNames + `)[-/. ]{0,2}(\d{1,2})(?:\D|$)`)
	compact    = regexp.MustCompile(`(?:^|\D)(20[012345]\d)(0[1-9]|1[0-2])([0-3]\d)(?:\D|$)`)
	clock      = regexp.MustCompile(`\d{1,2}[:.]\d{2}(?:[:.]\d{2})?\s?(?:am|pm|uhr|h)?`)
	dateWords  = phraseList(`date,dat,datum,fecha,data,tarikh,dated,date time,invoice date,bill date,rechnungsdatum,lieferdatum,beleg,zeit,time,tgl,dt,day`)
	otherDates = phraseList(`expiry,expires,exp,valid,until,due,gultig,bis,best before,since,birth,effective,fallig,echeance,vencimiento,scadenza,valable,valido,
		return by,start,starting,from,von,print,printed,gst no,period,order date,bestelldatum,orderdatum,delivery date`)
	usWords = phraseList(`sales tax,zip,usa,gratuity`)
	usZip   = regexp.MustCompile(`\b(?:A[LKZR]|C[AOT]|D[CE]|FL|GA|HI|I[DLNA]|K[SY]|LA|M[EDAINSOT]|N[EVHJMYCD]|O[HKR]|PA|RI|S[CD]|T[NX]|UT|V[TA]|W[AVIY])\.?,?\s+\d{5}(?:-\d{4})?\b`)
)

// printedDate is a date as it stands on the receipt: a and b are day and month in an order that may be open.
type printedDate struct {
	year, a, b int
	// ordered: a is the day and b the month, beyond doubt.
	ordered bool
	score   float64
	at      *line
}

// findDates reads the dates of one reading and weighs them by what stands around them.
func findDates(lines []*line) []printedDate {
	var all []printedDate
	for i, l := range lines {
		for _, d := range datesOn(l) {
			d.at = l
			d.score += dateScore(l, lines, i)
			all = append(all, d)
		}
	}
	return all
}

// dated is a day with all that speaks for it.
type dated struct {
	day   time.Time
	score float64
	from  printedDate
	open  bool
}

// pickDate chooses among the dates of all readings. The flag tells that day and month could be the other way round.
func pickDate(readings []Reading, currency string, now time.Time) (found, bool) {
	var all []printedDate
	var lines []*line
	for _, r := range readings {
		all = append(all, r.dates...)
		lines = append(lines, r.lines...)
	}
	monthFirst, known := order(all, lines, currency)
	out := gather(all, monthFirst, now)
	if len(out) == 0 {
		return found{}, false
	}
	slices.SortStableFunc(out, func(a, b dated) int { return cmp.Compare(b.score, a.score) })
	best := out[0]
	confidence := 0.45 + 0.1*best.score
	if len(out) > 1 {
		confidence -= max(0, 0.2-0.15*(best.score-out[1].score))
	}
	open := best.open && !known
	if open {
		confidence = min(confidence, 0.6)
	}
	return found{value: best.day.Format(time.DateOnly), confidence: max(0.1, min(confidence, 0.98)), at: best.from.at}, open
}

// gather puts what was read of the same day together: the best place counts, every other adds a little.
func gather(all []printedDate, monthFirst bool, now time.Time) []dated {
	var out []dated
	for _, d := range all {
		day, open, ok := d.resolve(monthFirst, now)
		if !ok {
			continue
		}
		score := d.score
		if now.Year()-day.Year() > 15 {
			score -= 1
		}
		i := slices.IndexFunc(out, func(o dated) bool { return o.day.Equal(day) })
		if i < 0 {
			out = append(out, dated{day, score, d, open})
			continue
		}
		o := &out[i]
		if score > o.score {
			o.from = d
		}
		o.score = max(score, o.score) + 0.5
		o.open = o.open && open
	}
	return out
}

// datesOn reads every date on a line, in every order that receipts print.
func datesOn(l *line) []printedDate {
	text := fold(dateDigits(l.text))
	var out []printedDate
	for _, m := range yearFirst.FindAllStringSubmatch(text, -1) {
		out = append(out, printedDate{year: atoi(m[1]), a: atoi(m[3]), b: atoi(m[2]), ordered: true, score: 0.7})
	}
	out = append(out, numericDates(text)...)
	for _, m := range dayMonth.FindAllStringSubmatch(text, -1) {
		out = append(out, printedDate{year: century(m[3]), a: atoi(m[1]), b: monthOf[m[2][:3]], ordered: true, score: 0.8})
	}
	for _, m := range monthDay.FindAllStringSubmatch(text, -1) {
		out = append(out, printedDate{year: century(m[3]), a: atoi(m[2]), b: monthOf[m[1][:3]], ordered: true, score: 0.8})
	}
	for _, m := range yearMonth.FindAllStringSubmatch(text, -1) {
		out = append(out, printedDate{year: century(m[1]), a: atoi(m[3]), b: monthOf[m[2][:3]], ordered: true, score: 0.7})
	}
	if len(out) == 0 {
		out = append(out, compactDates(text)...)
	}
	return out
}

// numericDates looks from every place on: of "07- 24/05/2022" the first three numbers are no date.
func numericDates(text string) []printedDate {
	var out []printedDate
	for from := 0; from < len(text); {
		at := numeric.FindStringSubmatchIndex(text[from:])
		if at == nil {
			break
		}
		m := make([]string, 6)
		for i := range m {
			m[i] = text[from+at[2*i] : from+at[2*i+1]]
		}
		from += at[3]
		if m[2] != m[4] || m[2] == "," {
			continue
		}
		d := printedDate{year: century(m[5]), a: atoi(m[1]), b: atoi(m[3])}
		if len(m[5]) == 4 {
			d.score = 0.5
		}
		if m[2] == "." && len(m[1])+len(m[3]) < 4 && len(m[5]) == 2 {
			// More likely a number of chapters, or a price with a speck.
			d.score = -1.5
		}
		// A point makes a German or French date, never an American one.
		d.ordered = m[2] == "." && len(m[5]) == 4
		out = append(out, d)
		if len(m[5]) == 2 && atoi(m[1]) >= 13 && atoi(m[5]) <= 31 && atoi(m[5]) >= 1 {
			out = append(out, printedDate{year: century(m[1]), a: atoi(m[5]), b: atoi(m[3]), ordered: true, score: -0.4})
		}
	}
	return out
}

// compactDates are the last resort: eight digits are more often a number of something.
func compactDates(text string) []printedDate {
	var out []printedDate
	for _, m := range compact.FindAllStringSubmatch(text, -1) {
		out = append(out, printedDate{year: atoi(m[1]), a: atoi(m[3]), b: atoi(m[2]), ordered: true, score: -1.5})
	}
	for _, m := range lostSlash.FindAllStringSubmatch(text, -1) {
		out = append(out, printedDate{year: atoi(m[3]), a: atoi(m[1]), b: atoi(m[2]), ordered: true, score: -0.8})
	}
	return out
}

// saysDate forgives more than elsewhere, for there is a date on the line.
func saysDate(words []string) bool {
	return dateWords.has(words) || slices.ContainsFunc(words, func(w string) bool {
		return strings.HasSuffix(w, "datum") || strings.HasSuffix(w, "date") || len(w) >= 3 && len(w) <= 5 && distance(w, "date") <= 1
	})
}

func dateScore(l *line, lines []*line, i int) float64 {
	score := 1.0
	if saysDate(l.tokens) {
		score += 1.5
	} else if i > 0 && dateWords.has(lines[i-1].tokens) {
		score += 0.7
	}
	if clock.MatchString(fold(l.text)) {
		score += 1
	}
	if otherDates.has(l.tokens) {
		score -= 1.5
	}
	if l.kind == kindCash || l.kind == kindTotal {
		score -= 0.5
	}
	return score + 0.6*(l.certainty(0, len(l.text))-0.6)
}

// order decides which of day and month comes first, by the receipt's currency, its other dates and its country.
func order(all []printedDate, lines []*line, currency string) (monthFirst, known bool) {
	// Dollars are also Canadian, Australian or Singaporean; every other currency's country puts the day first.
	if currency != "" && currency != "USD" && currency != "CAD" {
		return false, true
	}
	first, second := 0, 0
	for _, d := range all {
		switch {
		case d.ordered || d.a == d.b:
		case d.a > 12 && d.b <= 12:
			first++
		case d.b > 12 && d.a <= 12 && d.b <= 31:
			second++
		}
	}
	if first != second {
		return second > first, true
	}
	for _, l := range lines {
		if usZip.MatchString(l.text) || usWords.has(l.tokens) {
			return true, true
		}
	}
	return currency == "USD", false
}

// resolve gives the day, or false when there is no such day or it lies in the future. A receipt is not older than 1995:
// before that, no till printed the words that are looked for here.
func (d printedDate) resolve(monthFirst bool, now time.Time) (day time.Time, open, ok bool) {
	a, b := d.a, d.b
	if !d.ordered {
		open = a <= 12 && b <= 12 && a != b
		if b > 12 || monthFirst && a <= 12 {
			a, b = b, a
		}
	}
	if d.year > now.Year() && d.year < 2100 && d.year/10%10 == 4 {
		// A one with a long foot.
		d.year -= 30
	}
	day = time.Date(d.year, time.Month(b), a, 0, 0, 0, 0, time.UTC)
	if b < 1 || b > 12 || a < 1 || day.Day() != a || d.year < 1995 || day.After(now.AddDate(0, 0, 2)) {
		if open {
			swapped := printedDate{year: d.year, a: b, b: a, ordered: true}
			day, _, ok = swapped.resolve(false, now)
			return day, false, ok
		}
		return time.Time{}, false, false
	}
	return day, open, true
}

func century(s string) int {
	n := atoi(s)
	if len(s) == 2 {
		return 2000 + n
	}
	return n
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

var (
	datelike = regexp.MustCompile(`[0-9OoQDlIi|SsBZTz]{1,2}[-/.]?[0-9OoQDlIi|SsBZTz]{1,2}[-/.][0-9OoQDlIi|SsBZTz]{2,4}`)
	// dateDigit also maps what is read for digits only between slashes.
	dateDigit = strings.NewReplacer("O", "0", "o", "0", "Q", "0", "D", "0", "l", "1", "I", "1", "i", "1", "|", "1", "S", "5", "s", "5", "B", "8", "Z", "2", "z", "2", "T", "7")
)

// dateDigits repairs letters in the place of digits inside what is a date otherwise.
func dateDigits(text string) string {
	return datelike.ReplaceAllStringFunc(text, func(s string) string {
		digits, others := 0, 0
		for i := range len(s) {
			switch {
			case isDigit(s[i]):
				digits++
			case s[i] != '-' && s[i] != '/' && s[i] != '.':
				others++
			}
		}
		if digits < others*2 {
			return s
		}
		return dateDigit.Replace(s)
	})
}
