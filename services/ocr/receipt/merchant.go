package receipt

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

var (
	legal   = regexp.MustCompile(`(?i)\b(?:s[do0][nm]\.?\s*\.?[b8][hni1][do0]|s/b|berhad|bhd|gmbh|ohg|e\.?\s?k|ltd|limited|llc|inc|corp|plc|pte|pvt|pty|s\.?a\.?r\.?l|sarl|sas|s\.?p\.?a|s\.?r\.?l|s\.l|b\.?v|n\.?v|enterprises?|trading)\b`)
	company = regexp.MustCompile(`(?i)\b(?:cash\s*(?:&|and|n)\s*carry|s[do0][nm]\.?\s*\.?[b8][hni1][do0]|s/b|berhad|bhd|gmbh|ag|kg|ohg|e\.?\s?k|ug|ltd|limited|llc|inc|corp|co|plc|pte|pvt|pty|s\.?a\.?r\.?l|sarl|sas|s\.?p\.?a|s\.?r\.?l|` +
		`s\.l|b\.?v|n\.?v|oy|ab|enterprises?|trading|restaurants?|restoran|cafe|café|coffee|kopitiam|bakery|bakeries|boulangerie|store|stores|mart|market|supermarket|supermarkt|supermercado|hypermarket|` +
		`shop|pharmacy|pharmacie|apotheke|farmacia|hardware|hotel|bistro|pizzeria|trattoria|ristorante|restaurante|baumarkt|tankstelle|petrol|station|holdings?|industries|services?|book|stationery)\b`)
	address = regexp.MustCompile(`(?i)\b(?:jalan|jln|lot|no\.?\s*\d|lorong|taman|jl|street|road|avenue|ave|floor|level|str\.?|straße|strasse|stra[sß]e|platz|rue|calle|via|piazza|plaza|p\.?o\.?\s?box|` +
		`kuala lumpur|selangor|johor|bandar|kawasan|seksyen|batu)\b|\b\d{5}\b|stra(?:ss|ß|B)e\s*\d`)
	contact = regexp.MustCompile(`(?i)\b(?:tel|fax|phone|telefon|hp|www|http|e-?mail|gst|vat|reg|co\.?\s*no|company no|roc|ust|steuer|siret|invoice|receipt|rechnung|tax invoice|bill|quittung|cash|date|datum|fecha|time|` +
		`table|cashier|kasse|order|doc|document|page|customer|welcome|willkommen|bienvenue|thank|copy|goods|sold|returnable|refund|exchange|please|ticket|facture|factura|fattura|scontrino|beleg|bon|member|ship to|bill to|sold to|document no|pos|terminal|vouchers?|points?|redeem|expiry|survey|promotions?)\b|@`)
	// sendirian is "Sdn Bhd", or its first half with whatever is left of the second.
	sendirian = regexp.MustCompile(`(?i)\bS[DO0][NM]\.?\s?[B8][HN1I][DO0]\b|\bsdn\b\.?\s?[^\s()]{0,6}$`)
	// neverFirst are words that follow a name and begin none.
	neverFirst = regexp.MustCompile(`(?i)^\W*(?:enterprises?|trading|holdings|industries|sdn|gmbh|s\.?a\.?r\.?l|s\.?r\.?l|s\.?p\.?a|ltd|limited)\b`)
	// sentence is what slogans end like.
	sentence = regexp.MustCompile(`\p{Ll}{2,}\s?[.!?]\W*$`)
	// cashAndCarry is a kind of shop, not a way to pay.
	cashAndCarry = regexp.MustCompile(`(?i)\bcash\s*(?:&|and|n)\s*carry\b`)
	domain       = regexp.MustCompile(`(?i)(?:www\.|https?://|@)\s?([a-z0-9-]{3,40})\.(?:com|de|fr|es|it|net|org|eu|nl|co\.uk|my|com\.my|at|ch|be|in|sg|co)\b`)
	mailers      = []string{"gmail", "hotmail", "yahoo", "outlook", "facebook", "web", "gmx"}
)

// headLines is how deep a name is looked for; below come address, numbers and goods.
const headLines = 12

// findMerchants lists the lines of the head that read like the name of a business, with a score for confidence.
func findMerchants(lines []*line) []found {
	typical := typicalHeight(lines)
	var out []found
	limit := min(headLines, len(lines))
	for i := range limit {
		l := lines[i]
		if l.page != lines[0].page || l.kind == kindHeader || l.prices() > 0 && (i > 0 || l.kind == kindTotal) {
			break
		}
		if i > 0 && neverFirst.MatchString(l.text) && runsOn(lines[i-1], l) {
			continue
		}
		s := nameScore(l, i, typical)
		name := merchantName(l.text)
		if s <= 0 || name == "" {
			continue
		}
		name = soldBy.ReplaceAllString(name, "")
		// A name often runs on into a second line: "SOMEBODY'S RESTAURANTS / SDN BHD".
		for j := i + 1; j < limit && j <= i+2 && runsOn(lines[j-1], lines[j]); j++ {
			name += " " + merchantName(lines[j].text)
			s += 1
			if legal.MatchString(lines[j].text) {
				s += 0.6
			}
		}
		out = append(out, found{value: name, confidence: s, at: l})
	}
	if site := findDomain(lines); site.value != "" {
		out = append(out, site)
	}
	return out
}

// runsOn: the next line is only the kind of business and its legal form, or what a bracket or a word asks for.
func runsOn(l, next *line) bool {
	if legal.MatchString(l.text) && !legal.MatchString(next.text) || next.prices() > 0 {
		return false
	}
	if strings.ContainsAny(l.text, "({[") && !strings.ContainsAny(l.text, ")}]") && (strings.ContainsAny(next.text, ")}]") || legal.MatchString(next.text)) || neverFirst.MatchString(next.text) {
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

// pickMerchant prefers the name that several readings agree on, and of its spellings the one recognised most surely.
func pickMerchant(readings []Reading) found {
	var best found
	for i, r := range readings {
		for _, m := range r.merchants {
			score := m.confidence
			for j, other := range readings {
				if i != j && slices.ContainsFunc(other.merchants, func(o found) bool { return sameName(o.value, m.value) }) {
					score += 0.5
				}
			}
			if score > best.confidence {
				best = found{value: m.value, confidence: score, at: m.at}
			}
		}
	}
	best.confidence = max(0, min(0.95, 0.2+0.18*best.confidence))
	return respelled(best, readings)
}

// respelled takes the spelling of a second look where that was surer.
func respelled(name found, readings []Reading) found {
	if name.at == nil {
		return name
	}
	surest := name.at.sureness() + 0.03
	for _, r := range readings {
		for _, l := range r.names {
			again := merchantName(l.text)
			a, b := strings.Join(tokens(again), ""), strings.Join(tokens(merchantName(name.at.text)), "")
			if l.sureness() > surest && distance(a, b)*5 <= 2*max(len(a), len(b)) {
				surest = l.sureness()
				name.value = strings.Replace(name.value, merchantName(name.at.text), again, 1)
			}
		}
	}
	return name
}

// sameName lets a letter in eight be misread.
func sameName(a, b string) bool {
	x, y := strings.Join(tokens(a), ""), strings.Join(tokens(b), "")
	return x != "" && distance(x, y)*8 <= max(len(x), len(y))
}

func nameScore(l *line, i int, typical int) float64 {
	letters, digits, upper := census(l.text)
	if letters < 3 || digits > letters || codesOnly(strings.Fields(l.text)) {
		return 0
	}
	// The seller's name is at the very top; further down comes the customer's.
	score := 1.6 - 0.2*float64(i) - 0.15*float64(max(0, i-5))
	switch {
	case legal.MatchString(l.text):
		score += 1.6
	case company.MatchString(l.text):
		score += 0.6
	}
	if address.MatchString(l.text) {
		score -= 1.2
	}
	if contact.MatchString(cashAndCarry.ReplaceAllString(l.text, "")) {
		score -= 1.5
	}
	if sentence.MatchString(l.text) && !legal.MatchString(l.text) {
		score -= 0.6
	}
	if upper*10 >= letters*7 {
		score += 0.4
	}
	if typical > 0 {
		score += min(1, max(0, float64(l.height)/float64(typical)-1.1))
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

var (
	registration = regexp.MustCompile(`(?i)\s*[(\[{]?\s*(?:co(?:mpany)?\.?\s*(?:reg)?\.?\s*(?:no)?\.?\s*:?\s*)?[(\[{]?\b[a-z]{0,2}\d[\d-]{3,}\s*-?\s*[a-z]?\s*[)\]}]?\.?\s*$`)
	soldBy       = regexp.MustCompile(`(?i)^\s*(?:sold by|verkauft von|vendu par|vendido por|venduto da)\s*:?\s*`)
	edges        = `|_-–—~=*"'“”‘’:;,.<>«»!\/{}[]`
)

func merchantName(s string) string {
	// Legal forms are few and known, so that a misread one can be put right.
	s = sendirian.ReplaceAllString(registration.ReplaceAllString(s, ""), "SDN BHD")
	// What follows the legal form is its number in some register, the more so when it has digits.
	if at := legal.FindAllStringIndex(s, -1); at != nil {
		if end := at[len(at)-1][1]; strings.ContainsAny(s[end:], "0123456789") {
			s = s[:end]
		}
	}
	words := strings.Fields(s)
	// Specks at the edges of the paper become single characters.
	for len(words) > 1 && !lettered.MatchString(words[0]) && len([]rune(strings.Trim(words[0], edges))) <= 1 {
		words = words[1:]
	}
	for len(words) > 1 && len([]rune(strings.Trim(words[len(words)-1], edges))) == 0 {
		words = words[:len(words)-1]
	}
	return strings.TrimSpace(strings.TrimLeft(strings.Trim(strings.Join(words, " "), `|_-–—~=*"“”:;,<> `), ".'‘’"))
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
