package receipt

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// headLines is the number of lines from the top in which a name is searched. Below them are address, numbers and goods.
const headLines = 12

// maxNameLetters is the number of letters above which a line is a sentence or an address.
const maxNameLetters = 60

// findMerchants returns possible names of the merchant, with a score as confidence: lines of the head that look like the name
// of a business, the brand, owner or shop named elsewhere, and the domain of a web address.
func findMerchants(lines []*line) []textField {
	typical := typicalHeight(lines)
	head := headOf(lines)
	site := findDomain(lines)
	var out []textField
	// below is set for the lines below the first line of an address.
	below := false
	for i, l := range head {
		// The line is the second part of a name that was added below.
		if i > 0 && (continuation.MatchString(l.text) || continuationWords.find(l.tokens) == 0) && continues(head[i-1], l) {
			continue
		}
		s := nameScore(l, i, typical)
		name := merchantName(l.text)
		if s <= 0 || name == "" {
			continue
		}
		if i > 0 && otherParty.MatchString(head[i-1].text) || ownerOf(head, i, typical) {
			continue
		}
		below = below || i > 0 && (streetNumber.MatchString(head[i-1].text) || address.MatchString(head[i-1].text) && !legal.MatchString(head[i-1].text))
		if below && !legal.MatchString(l.text) {
			// The name is above the address.
			s -= 0.6
		}
		if strings.HasSuffix(strings.TrimSpace(l.text), ",") && !legal.MatchString(l.text) {
			// The address continues on the next line.
			s -= 0.6
		}
		if i > 0 && strings.HasSuffix(strings.TrimSpace(head[i-1].text), ",") && !legal.MatchString(head[i-1].text) {
			// The line continues an address.
			s -= 1.2
		}
		name = soldBy.ReplaceAllString(name, "")
		last := i
		// A name often has a second line: "GREEN RESTAURANTS / SDN BHD".
		for last+1 < len(head) && last < i+2 && continues(head[last], head[last+1]) {
			last++
			name += " " + merchantName(head[last].text)
			s += 1
			if legal.MatchString(head[last].text) {
				s += 0.6
			}
		}
		if last+1 < len(head) && registrationLine.MatchString(head[last+1].text) {
			s += 0.5
		}
		// A shop's domain usually begins with its name.
		if sharesStart(lettersOf(name), lettersOf(site.value)) {
			s += 0.6
		}
		out = append(out, textField{value: fixLegalForm(name), confidence: s, at: l})
	}
	out = append(out, findOwner(lines)...)
	if site.value != "" {
		out = append(out, site)
	}
	return out
}

// headOf returns the lines above the goods, at most headLines. A price on the very first line does not end the head, unless it
// is a total, because names may contain figures.
func headOf(lines []*line) []*line {
	for i, l := range lines[:min(headLines, len(lines))] {
		if l.page != lines[0].page || l.kind == kindHeader || l.priceCount() > 0 && (i > 0 || l.kind == kindTotal) {
			return lines[:i]
		}
	}
	return lines[:min(headLines, len(lines))]
}

// continues reports whether next belongs to the name on line l: it consists of the kind of business and the legal form, or it
// closes a bracket, or it begins with a word that begins no name.
func continues(l, next *line) bool {
	if next.priceCount() > 0 || slogan.MatchString(l.text) || tradingAs.MatchString(next.text) {
		return false
	}
	// The opening bracket may be misread as a letter.
	if closesBracket(next.text) && (opensBracket(l.text) || legal.MatchString(next.text)) {
		return hasName(l) && !contact.MatchString(l.text)
	}
	// A name ends with its legal form.
	if legal.MatchString(l.text) && !legal.MatchString(next.text) {
		return false
	}
	if opensBracket(l.text) && legal.MatchString(next.text) || continuation.MatchString(next.text) || continuationWords.find(next.tokens) == 0 {
		return hasName(l) && !contact.MatchString(l.text)
	}
	if !company.MatchString(next.text) || company.MatchString(l.text) || address.MatchString(next.text) || contact.MatchString(next.text) {
		return false
	}
	// Up to four other letters on the next line may be misread or part of a form.
	rest := 0
	for _, r := range company.ReplaceAllString(next.text, "") {
		if unicode.IsLetter(r) {
			rest++
		}
	}
	return rest <= 4
}

// opensBracket reports whether the text ends in an open bracket with letters inside.
func opensBracket(text string) bool {
	at := strings.LastIndexAny(text, "({[")
	return at >= 0 && lettered.MatchString(text[at:]) && !strings.ContainsAny(text[at:], ")}]")
}

// closesBracket reports whether the text closes a bracket that it did not open.
func closesBracket(text string) bool {
	at := strings.IndexAny(text, ")}]")
	return at > 0 && lettered.MatchString(text[:at]) && !strings.ContainsAny(text[:at], "({[")
}

// nameScore returns the points for line i of the head as a name, or 0 if it cannot be one. typical is the median height of all
// lines.
func nameScore(l *line, i int, typical int) float64 {
	letters, digits, upper := countLetters(l.text)
	if letters < 3 || letters > maxNameLetters || digits > letters || postalCode.MatchString(l.text) || codesOnly(joinSpaced(strings.Fields(l.text))) || streetNumber.MatchString(l.text) {
		return 0
	}
	// The merchant's name is at the top; the customer's is below it.
	score := 1.6 - 0.2*float64(i) - 0.15*float64(max(0, i-5))
	name := merchantName(l.text)
	place := l.text
	switch {
	case legal.MatchString(l.text), legal.MatchString(name):
		// The registration number of a company looks like a postcode, so only the name is compared with addresses.
		score, place = score+1.6, name
	case company.MatchString(l.text):
		score += 0.6
	}
	if address.MatchString(place) {
		score -= 1.2
	}
	if contact.MatchString(cashAndCarry.ReplaceAllString(name, "")) || fuzzyContact.has(l.tokens) {
		score -= 1.5
	}
	if (slogan.MatchString(l.text) || sentence.MatchString(l.text) || lowerCase(l.text)) && !legal.MatchString(l.text) {
		score -= 0.6
	}
	if openingHours.MatchString(l.text) {
		score -= 1.5
	}
	// Names are often in capital letters, addresses and slogans rarely.
	if upper*10 >= letters*7 {
		score += 0.4
	}
	if typical > 0 {
		// Large letters indicate a name. Large but barely legible text is handwriting.
		score += min(1, max(0, float64(l.height)/float64(typical)-1.1)) * min(1, l.meanConfidence()/0.7)
	}
	score += 1.2 * (l.meanConfidence() - 0.8)
	if letters < 5 {
		score -= 0.4
	}
	return score
}

// lowerCase reports whether most of at least three words begin in lower case, as in a slogan.
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

// countLetters counts the letters, digits and upper-case letters of a text.
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

// typicalHeight returns the median height of the lines in pixels.
func typicalHeight(lines []*line) int {
	var h []int
	for _, l := range lines {
		h = append(h, l.height)
	}
	return median(h)
}

// findDomain returns the name in the first web or mail address of the shop.
func findDomain(lines []*line) textField {
	for _, l := range lines {
		if m := domain.FindStringSubmatch(l.text); m != nil && !slices.Contains(otherDomains, strings.ToLower(m[1])) {
			return textField{value: m[1], confidence: 1.1, at: l}
		}
	}
	return textField{}
}

// sharesStart reports whether a name begins like its domain: with at least four letters and half of the domain.
func sharesStart(name, site string) bool {
	n := 0
	for n < min(len(name), len(site)) && name[n] == site[n] {
		n++
	}
	return n >= 4 && 2*n >= len(site)
}

// ownerOf reports whether line i names the owner of the shop whose name is directly above. The shop is then the merchant.
func ownerOf(lines []*line, i, typical int) bool {
	return i > 0 && i < headLines && ownedBy.MatchString(lines[i].text) && lines[i-1].priceCount() == 0 && nameScore(lines[i-1], i-1, typical) > 0
}

// brandConfidence exceeds the score of any legal name.
const brandConfidence = 5

// findOwner returns the names on lines that name the brand of a company, the owner of a shop without a name above, or thank the customer
// for a visit.
func findOwner(lines []*line) []textField {
	var out []textField
	typical := typicalHeight(lines)
	for i, l := range lines {
		if m := tradingAs.FindStringSubmatch(l.text); m != nil && i < headLines {
			out = append(out, textField{value: merchantName(m[1]), confidence: brandConfidence, at: l})
		}
		m := ownedBy.FindStringSubmatch(l.text)
		switch {
		case m == nil || ownerOf(lines, i, typical):
		case lettered.MatchString(m[1]):
			out = append(out, textField{value: merchantName(m[1]), confidence: 2.6, at: l})
		case i+1 < len(lines) && legal.MatchString(merchantName(lines[i+1].text)):
			out = append(out, textField{value: merchantName(lines[i+1].text), confidence: 2.6, at: lines[i+1]})
		}
		if m := thanks.FindStringSubmatch(l.text); m != nil {
			out = append(out, textField{value: merchantName(m[1]), confidence: 1.1, at: l})
		}
	}
	return out
}
