// Package merchant finds the name of the shop on a receipt. All functions are pure.
//
// Find returns the possible names of one reading with their scores. Pick chooses the name that most
// readings have, in the spelling that is most similar to all of them.
package merchant

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

// headLines is the number of lines from the top in which a name is searched. Below them are
// address, numbers and goods.
const headLines = 12

// maxNameLetters is the number of letters above which a line is a sentence or an address.
const maxNameLetters = 60

// Find returns possible names of the merchant, with a score as confidence.
func Find(lines []*printed.Line) []printed.Field {
	typical := typicalHeight(lines)
	head := headOf(lines)
	site := findDomain(lines)
	var out []printed.Field
	// below is set for the lines below the first line of an address.
	below := false
	for index, line := range head {
		above := ""
		if index > 0 {
			above = head[index-1].Text
			// The line is the second part of a name that was added below.
			if (beginsContinued(line) || endsName(head[index-1], line) ||
				endsThirdRow(head[index-1], line)) && continues(head[index-1], line) {
				continue
			}
		}
		score := nameScore(line, index, typical)
		name := merchantName(line.Text)
		switch {
		case score <= 0 || name == "":
			continue
		case otherParty.MatchString(above) || ownerOf(head, index, typical):
			continue
		}
		inAddress := address.MatchString(above) && !legal.MatchString(above)
		below = below || streetNumber.MatchString(above) || inAddress
		score = lessAddress(score, line.Text, above, below)
		name = soldBy.ReplaceAllString(name, "")
		last := index
		// A name often has a second line: "GREEN RESTAURANTS / SDN BHD".
		for last+1 < len(head) && last < index+2 && continues(head[last], head[last+1]) {
			last++
			name += " " + merchantName(head[last].Text)
			score += 1
			if legal.MatchString(head[last].Text) {
				score += 0.6
			}
		}
		if last+1 < len(head) && registrationLine.MatchString(head[last+1].Text) {
			score += 0.5
		}
		// A shop's domain usually begins with its name.
		if sharesStart(lettersOf(name), lettersOf(site.Value)) {
			score += 0.6
		}
		out = append(out, printed.Field{Value: fixLegalForm(name), Confidence: score, At: line})
	}
	out = append(out, findOwner(lines)...)
	if site.Value != "" {
		out = append(out, site)
	}
	return out
}

// lessAddress returns the score less points for signs of an address. above is the line before the
// text, and below reports that an address began before it.
func lessAddress(score float64, text, above string, below bool) float64 {
	if below && !legal.MatchString(text) {
		score -= 0.6
	}
	if endsInComma(text) {
		score -= 0.6
	}
	if endsInComma(above) {
		score -= 1.2
	}
	return score
}

func endsInComma(text string) bool {
	return strings.HasSuffix(strings.TrimSpace(text), ",") && !legal.MatchString(text)
}

// headOf returns the lines above the goods, at most headLines. A price on the very first line does
// not end the head, unless it is a total, because names may contain figures.
func headOf(lines []*printed.Line) []*printed.Line {
	head := lines[:min(headLines, len(lines))]
	for i, l := range head {
		priced := l.PriceCount() > 0 && (i > 0 || l.Kind == printed.KindTotal)
		if l.Page != lines[0].Page || l.Kind == printed.KindHeader || priced {
			return lines[:i]
		}
	}
	return head
}

// continues reports whether next belongs to the name on line: it consists of the kind of business
// and the legal form, or it closes a bracket, or it begins with a word that begins no name.
func continues(line, next *printed.Line) bool {
	if next.PriceCount() > 0 || slogan.MatchString(line.Text) || tradingAs.MatchString(next.Text) {
		return false
	}
	// The opening bracket may be misread as a letter.
	if closesBracket(next.Text) && (opensBracket(line.Text) || legal.MatchString(next.Text)) {
		return printed.HasName(line) && !contact.MatchString(line.Text)
	}
	if endsThirdRow(line, next) {
		return true
	}
	// A name ends with its legal form.
	if legal.MatchString(line.Text) && !legal.MatchString(next.Text) {
		return false
	}
	if opensBracket(line.Text) && legal.MatchString(next.Text) || beginsContinued(next) ||
		endsName(line, next) {
		return printed.HasName(line) && !contact.MatchString(line.Text)
	}
	if !company.MatchString(next.Text) || company.MatchString(line.Text) ||
		address.MatchString(next.Text) || contact.MatchString(next.Text) {
		return false
	}
	// Up to four other letters on the next line may be misread or part of a form.
	rest := 0
	for _, r := range company.ReplaceAllString(next.Text, "") {
		if unicode.IsLetter(r) {
			rest++
		}
	}
	return rest <= 4
}

// endsName reports whether next has only the end of the name of a company on line: it begins like
// no name, as in "CO. (M) SDN BHD", or line ends in the middle of one.
func endsName(line, next *printed.Line) bool {
	return legal.MatchString(next.Text) && !legal.MatchString(merchantName(line.Text)) &&
		(nameEnd.MatchString(next.Text) || openName.MatchString(line.Text))
}

// endsThirdRow reports whether next has the last word of a name and its legal form, and line the
// part before them: "ENTERPRISE (NORTH / QUAY) SDN BHD". The brackets may be misread.
func endsThirdRow(line, next *printed.Line) bool {
	end := merchantName(next.Text)
	return beginsContinued(line) && len(line.Tokens) == 2 && legal.MatchString(end) &&
		!legal.MatchString(line.Tokens[1]) && len(strings.Fields(end)) <= 3
}

func beginsContinued(l *printed.Line) bool {
	return continuation.MatchString(l.Text) || continuationWords.Find(l.Tokens) == 0
}

func opensBracket(text string) bool {
	at := strings.LastIndexAny(text, "({[")
	return at >= 0 && inBracket(text[at:], ")}]")
}

// closesBracket reports whether the text closes a bracket that it did not open.
func closesBracket(text string) bool {
	at := strings.IndexAny(text, ")}]")
	return at > 0 && inBracket(text[:at], "({[")
}

func inBracket(text, others string) bool {
	return printed.Lettered.MatchString(text) && !strings.ContainsAny(text, others)
}

// nameScore returns the points for line i of the head as a name, or 0 if it cannot be one. typical
// is the median height of all lines.
func nameScore(line *printed.Line, i, typical int) float64 {
	letters, digits, upper := countLetters(line.Text)
	if letters < 3 || letters > maxNameLetters || digits > letters {
		return 0
	}
	if postalCode.MatchString(line.Text) || streetNumber.MatchString(line.Text) ||
		printed.CodesOnly(joinSpaced(strings.Fields(line.Text))) {
		return 0
	}
	// The merchant's name is at the top; the customer's is below it.
	score := 1.6 - 0.2*float64(i) - 0.15*float64(max(0, i-5))
	name := merchantName(line.Text)
	place := line.Text
	switch {
	case legal.MatchString(line.Text), legal.MatchString(name):
		// The registration number of a company looks like a postcode, so only the name is compared
		// with addresses.
		score, place = score+1.6, name
	case company.MatchString(line.Text):
		score += 0.6
	}
	if address.MatchString(place) {
		score -= 1.2
	}
	if contact.MatchString(cashAndCarry.ReplaceAllString(name, "")) ||
		fuzzyContact.Has(line.Tokens) {
		score -= 1.5
	}
	inSentence := slogan.MatchString(line.Text) || sentence.MatchString(line.Text) ||
		lowerCase(line.Text)
	if inSentence && !legal.MatchString(line.Text) {
		score -= 0.6
	}
	if openingHours.MatchString(line.Text) {
		score -= 1.5
	}
	// Names are often in capital letters, addresses and slogans rarely.
	if upper*10 >= letters*7 {
		score += 0.4
	}
	if typical > 0 {
		// Large letters indicate a name. Large but barely legible text is handwriting.
		large := min(1, max(0, float64(line.Height)/float64(typical)-1.1))
		score += large * min(1, line.MeanConfidence()/0.7)
	}
	score += 1.2 * (line.MeanConfidence() - 0.8)
	if letters < 5 {
		score -= 0.4
	}
	return score
}

func lowerCase(text string) bool {
	words, lower := 0, 0
	for _, w := range strings.Fields(text) {
		r, _ := utf8.DecodeRuneInString(w)
		if unicode.IsLetter(r) {
			words++
		}
		if unicode.IsLower(r) {
			lower++
		}
	}
	return words >= 3 && 2*lower > words
}

func countLetters(text string) (letters, digits, upper int) {
	for _, r := range text {
		switch {
		case unicode.IsLetter(r):
			letters++
			if unicode.IsUpper(r) {
				upper++
			}
		case unicode.IsDigit(r):
			digits++
		}
	}
	return letters, digits, upper
}

func typicalHeight(lines []*printed.Line) int {
	var h []int
	for _, l := range lines {
		h = append(h, l.Height)
	}
	return printed.Median(h)
}

// findDomain returns the name in the first web or mail address of the shop.
func findDomain(lines []*printed.Line) printed.Field {
	for _, l := range lines {
		m := domain.FindStringSubmatch(l.Text)
		if m != nil && !slices.Contains(otherDomains, strings.ToLower(m[1])) {
			return printed.Field{Value: m[1], Confidence: 1.1, At: l}
		}
	}
	return printed.Field{}
}

// sharesStart reports whether a name begins like its domain: with at least four letters and half of
// the domain.
func sharesStart(name, site string) bool {
	n := 0
	for n < min(len(name), len(site)) && name[n] == site[n] {
		n++
	}
	return n >= 4 && 2*n >= len(site)
}
