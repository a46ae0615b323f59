package receipt

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

var (
	legal   = regexp.MustCompile(`(?i)\b(?:s[do0][nm]\.?\s*\.?[b8][hni1][do0]|s/b|berhad|bhd|gmbh|mbh|ohg|gbr|e\.?\s?k|ltd|limited|llc|inc|corp|plc|pte|pvt|pty|s\.?a\.?r\.?l|sarl|eurl|sasu?|s\.?p\.?a|s\.?r\.?l|s\.?n\.?c|s\.l|b\.?v|n\.?v|enterprises?|trading)\b|[\s,]s\.\s?a\.`)
	company = regexp.MustCompile(`(?i)\b(?:cash\s*(?:&|and|n)\s*carry|s[do0][nm]\.?\s*\.?[b8][hni1][do0]|s/b|berhad|bhd|gmbh|ag|kg|ohg|e\.?\s?k|ug|ltd|limited|llc|inc|corp|co|plc|pte|pvt|pty|s\.?a\.?r\.?l|sarl|sas|s\.?p\.?a|s\.?r\.?l|` +
		`s\.l|b\.?v|n\.?v|oy|ab|enterprises?|trading|restaurants?|restoran|cafe|café|coffee|kopitiam|bakery|bakeries|boulangerie|store|stores|mart|market|supermarket|supermarkt|supermercado|hypermarket|` +
		`shop|pharmacy|pharmacie|apotheke|farmacia|hardware|hotel|bistro|pizzeria|trattoria|ristorante|restaurante|baumarkt|tankstelle|petrol|station|holdings?|industries|services?|book|stationery|` +
		`kedai|pasaraya|syarikat|perniagaan|klinik|farmasi|drogerie|drogeriemarkt|bäckerei|metzgerei|warenhaus|kaufhaus|gasthaus|brasserie|boucherie|librairie|supermarché|panader[ií]a|ferreter[ií]a|librer[ií]a|panificio|pasticceria|osteria|gelateria|alimentari)\b`)
	address = regexp.MustCompile(`(?i)\b(?:jalan|jln|lot|no\.?\s*\d|lorong|taman|jl|street|road|avenue|ave|floor|level|str\.?|straße|strasse|stra[sß]e|platz|rue|calle|via|piazza|plaza|p\.?o\.?\s?box|` +
		`kuala lumpur|selangor|johor|bandar|kawasan|seksyen|batu)\b|\b\d{5}\b|stra(?:ss|ß|B)e\s*\d`)
	// house is a street with a number, which is nobody's name.
	house = regexp.MustCompile(`(?i)(?:stra(?:ss|ß|b)e|str\.?|weg|allee|platz|gasse|ring|damm|ufer)\s*\d{1,4}\s?[a-z]?\W*$|^\W*(?:\d+\s?[a-z]?,?\s+)?(?:rue|avenue|av\.|boulevard|bd|calle|avda|via|viale|piazza|corso)\s.*\d|` +
		`^\W*\d+[a-z]?,?\s.*\s(?:street|st|road|rd|avenue|ave|lane|drive|blvd)\b|^\W*(?:rue|calle|via|viale|piazza|corso|jalan|jln)\s.*\d`)
	contact = regexp.MustCompile(`(?i)\b(?:tel|fax|phone|telefon|hp|www|http|e-?mail|gst|vat|reg|co\.?\s*no|company no|roc|ust|steuer|siret|invoice|receipt|rechnung|tax invoice|bill|quittung|cash|date|datum|fecha|time|` +
		`table|cashier|kasse|order|doc|document|page|customer|welcome|willkommen|bienvenue|thank|copy|goods|sold|returnable|refund|exchange|please|ticket|facture|factura|fattura|factuur|scontrino|beleg|bon|member|ship to|bill to|sold to|document no|pos|terminal|vouchers?|points?|redeem|expiry|survey|promotions?|formerly|licen[sc]ee of|inh(?:aber)?|es bediente|bedienung|served by|serveur|operator[ei]?|kellner|tisch|documento commerciale|kassenbon|kassenbeleg|kundenbeleg|kopie|copie|copia|adress?e?|factuuradres|afleveradres)\b|@`)
	// ofOthers comes before the name of somebody else: the customer, or what the shop was called once.
	ofOthers = regexp.MustCompile(`(?i)(?:\b(?:bill(?:ed)?|ship(?:ped)?|sold|invoiced?|deliver(?:ed)?) to|customer|client|\bkunde|adresse|address|rechnung an|lieferung an|factur[ée]e? (?:à|a)|cliente|destinatari[oa]|factuuradres|afleveradres|formerly(?: known as)?|licen[sc]ee of)\W*$|\(\s?formerly[^)]*$`)
	// misprinted are words of a head that are told even where a letter is wrong.
	misprinted = phraseList(`invoice,simplified,receipt,cashier,telephone,telefon,rechnung,quittung,company no,company reg,steuernummer,uid nr,ust id`)
	// neverFirst are words that follow a name and begin none.
	neverFirst = regexp.MustCompile(`(?i)^\W*(?:enterprises?|trading|holdings|industries|sdn|gmbh|mbh|vertriebs?|handels(?:gesellschaft)?|betriebs(?:gesellschaft)?|s\.?a\.?r\.?l|s\.?r\.?l|s\.?p\.?a|ltd|limited)\b`)
	// sentence is what slogans end like.
	sentence = regexp.MustCompile(`\p{Ll}{2,}\s?[.!?]\W*$`)
	// cashAndCarry is a kind of shop, not a way to pay.
	cashAndCarry = regexp.MustCompile(`(?i)\bcash\s*(?:&|and|n)\s*carry\b`)
	// numberBelow is a line with the number under which the name above it is registered: nothing else, or it first.
	numberBelow = regexp.MustCompile(`(?i)^\W*(?:co(?:mp(?:any)?)?\W{0,2}\s?)?(?:(?:reg(?:istration)?|roc|ssm|no)\W{0,3}\s?){0,2}(?:\(\s?\d[\d\s-]{4,}|\d[\d-]{4,}\s?-\s?[A-Z])\s?[A-Z]?\W*$|^\W*(?:co|comp|company|roc|business)\W{0,3}(?:reg(?:istration)?\W{0,3})?(?:no|number)\b`)
	domain      = regexp.MustCompile(`(?i)(?:www\.|https?://|@)\s?([a-z0-9-]{3,40})\.(?:com|de|fr|es|it|net|org|eu|nl|co\.uk|my|com\.my|at|ch|be|in|sg|co)\b`)
	// ownedBy comes before the name of who runs the shop, and thanks before that of the shop.
	ownedBy = regexp.MustCompile(`(?i)\b(?:(?:owned|operated|managed)(?: and operated)? by|dimiliki oleh|betrieben von|exploité par|gestito da|explotado por)\b\W*(.*)`)
	thanks  = regexp.MustCompile(`(?i)\b(?:(?:thank you|thanks) for (?:shopping|dining|eating|buying|coming|visiting|your visit|your purchase)(?: (?:at|with|to|in))?|(?:einkauf|besuch) (?:bei|im|in der)|(?:visite|achat) chez|(?:compra|visita) en|(?:acquistato|visita) (?:da|presso))\s+(\p{Lu}[\p{L}'’&. -]{2,30})`)
	// mailers are the addresses of others than shops: of mail, and of who makes card terminals.
	mailers = []string{"gmail", "hotmail", "yahoo", "outlook", "facebook", "web", "gmx", "ingenico", "verifone", "payone", "sumup", "adyen"}
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
