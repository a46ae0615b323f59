package receipt

import (
	"slices"
	"strings"
	"unicode"
)

// headLines is how deep a name is looked for; below come address, numbers and goods.
const headLines = 12

// findMerchants lists the lines of the head that read like the name of a business, with a score for confidence.
func findMerchants(lines []*line) []found {
	typical := typicalHeight(lines)
	head := headOf(lines)
	site := findDomain(lines)
	var out []found
	for i, l := range head {
		if i > 0 && neverFirst.MatchString(l.text) && runsOn(head[i-1], l) {
			continue
		}
		s := nameScore(l, i, typical)
		name := merchantName(l.text)
		if s <= 0 || name == "" {
			continue
		}
		if i > 0 && ofOthers.MatchString(head[i-1].text) {
			continue
		}
		if i > 0 && strings.HasSuffix(strings.TrimSpace(head[i-1].text), ",") && !legal.MatchString(head[i-1].text) {
			// An address goes on.
			s -= 1.2
		}
		name = soldBy.ReplaceAllString(name, "")
		last := i
		// A name often runs on into a second line: "SOMEBODY'S RESTAURANTS / SDN BHD".
		for last+1 < len(head) && last < i+2 && runsOn(head[last], head[last+1]) {
			last++
			name += " " + merchantName(head[last].text)
			s += 1
			if legal.MatchString(head[last].text) {
				s += 0.6
			}
		}
		if last+1 < len(head) && numberBelow.MatchString(head[last+1].text) {
			s += 0.5
		}
		if sharesStart(lettersOf(name), lettersOf(site.value)) {
			s += 0.6
		}
		out = append(out, found{value: knownForm(name), confidence: s, at: l})
	}
	out = append(out, findOwner(lines)...)
	if site.value != "" {
		out = append(out, site)
	}
	return out
}

// headOf is what stands above the goods.
func headOf(lines []*line) []*line {
	for i, l := range lines[:min(headLines, len(lines))] {
		if l.page != lines[0].page || l.kind == kindHeader || l.prices() > 0 && (i > 0 || l.kind == kindTotal) {
			return lines[:i]
		}
	}
	return lines[:min(headLines, len(lines))]
}

// runsOn: the next line is only the kind of business and its legal form, or what a bracket or a word asks for.
func runsOn(l, next *line) bool {
	if next.prices() > 0 || sentence.MatchString(l.text) {
		return false
	}
	if opensBracket(l.text) && closesBracket(next.text) {
		return hasName(l) && !contact.MatchString(l.text)
	}
	if legal.MatchString(l.text) && !legal.MatchString(next.text) {
		return false
	}
	if opensBracket(l.text) && legal.MatchString(next.text) || neverFirst.MatchString(next.text) {
		return hasName(l) && !contact.MatchString(l.text)
	}
	if !company.MatchString(next.text) || company.MatchString(l.text) || address.MatchString(next.text) || contact.MatchString(next.text) {
		return false
	}
	rest := 0
	for _, r := range company.ReplaceAllString(next.text, "") {
		if unicode.IsLetter(r) {
			rest++
		}
	}
	return rest <= 4
}

// opensBracket: a bracket with letters behind it is left open.
func opensBracket(text string) bool {
	at := strings.LastIndexAny(text, "({[")
	return at >= 0 && lettered.MatchString(text[at:]) && !strings.ContainsAny(text[at:], ")}]")
}

// closesBracket: a bracket is closed that was not opened here.
func closesBracket(text string) bool {
	at := strings.IndexAny(text, ")}]")
	return at > 0 && lettered.MatchString(text[:at]) && !strings.ContainsAny(text[:at], "({[")
}

func nameScore(l *line, i int, typical int) float64 {
	letters, digits, upper := census(l.text)
	if letters < 3 || digits > letters || codesOnly(strings.Fields(l.text)) || house.MatchString(l.text) {
		return 0
	}
	// The seller's name is at the very top; further down comes the customer's.
	score := 1.6 - 0.2*float64(i) - 0.15*float64(max(0, i-5))
	name := merchantName(l.text)
	place := l.text
	switch {
	case legal.MatchString(l.text), legal.MatchString(name):
		// The number of a firm is no postcode.
		score, place = score+1.6, name
	case company.MatchString(l.text):
		score += 0.6
	}
	if address.MatchString(place) {
		score -= 1.2
	}
	if contact.MatchString(cashAndCarry.ReplaceAllString(name, "")) || misprinted.has(l.tokens) {
		score -= 1.5
	}
	if sentence.MatchString(l.text) && !legal.MatchString(l.text) {
		score -= 0.6
	}
	if upper*10 >= letters*7 {
		score += 0.4
	}
	if typical > 0 {
		// What is large and can hardly be read was written by hand.
		score += min(1, max(0, float64(l.height)/float64(typical)-1.1)) * min(1, l.sureness()/0.7)
	}
	score += 1.2 * (l.sureness() - 0.8)
	if letters < 5 {
		score -= 0.4
	}
	return score
}

func census(text string) (letters, digits, upper int) {
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

func typicalHeight(lines []*line) int {
	var h []int
	for _, l := range lines {
		h = append(h, l.height)
	}
	return median(h)
}

// findDomain takes the name from the shop's web or mail address.
func findDomain(lines []*line) found {
	for _, l := range lines {
		if m := domain.FindStringSubmatch(l.text); m != nil && !slices.Contains(mailers, strings.ToLower(m[1])) {
			return found{value: m[1], confidence: 1.1, at: l}
		}
	}
	return found{}
}

// sharesStart: a name begins as the address of its site does, by half of it and four letters at least.
func sharesStart(name, site string) bool {
	n := 0
	for n < min(len(name), len(site)) && name[n] == site[n] {
		n++
	}
	return n >= 4 && 2*n >= len(site)
}

// findOwner takes the name from a line that says who the shop belongs to, or that thanks for coming to it.
func findOwner(lines []*line) []found {
	var out []found
	for i, l := range lines {
		m := ownedBy.FindStringSubmatch(l.text)
		switch {
		case m == nil:
		case lettered.MatchString(m[1]):
			out = append(out, found{value: merchantName(m[1]), confidence: 2.6, at: l})
		case i+1 < len(lines) && legal.MatchString(merchantName(lines[i+1].text)):
			out = append(out, found{value: merchantName(lines[i+1].text), confidence: 2.6, at: lines[i+1]})
		}
		if m := thanks.FindStringSubmatch(l.text); m != nil {
			out = append(out, found{value: merchantName(m[1]), confidence: 1.1, at: l})
		}
	}
	return out
}
