package receipt

import (
	"regexp"
	"slices"
	"strings"
)

const titles = `(?:tax )?(?:invoice|receipt|rechnung|facture|factura|fattura|factuur)`

var (
	// sendirian is "Sdn Bhd", or its first half with whatever is left of the second.
	sendirian = regexp.MustCompile(`(?i)\bS[DO0][NM]\.?\s?[B8][HN1I][DO0]\b|\bsdn\b\.?\s?[^\s()]{0,6}$`)
	// lastPair keeps the H, which is hardly misread: a sun bed is no company.
	lastPair = regexp.MustCompile(`(?i)(?:^|[\s)])([a-z0-9§$&]{3})[.,]?\s?([a-z0-9]h[a-z0-9])\W*$`)
	// shortForm is the same as two letters.
	shortForm    = regexp.MustCompile(`(?i)([\s)])(?:\$/[b83]|[5s]/[b8])\b`)
	registration = regexp.MustCompile(`(?i)\s*[(\[{][^()\[\]{}]{0,12}\d{5,}.*$|` +
		`\s*[(\[{]?\s*(?:co(?:mpany)?\.?\s*(?:reg)?\.?\s*(?:no)?\.?\s*:?\s*)?[(\[{]?\b[a-z]{0,2}-?\d[\d-]{3,}\s*-?\s*[a-z]?\s*[)\]}]?\.?\s*$`)
	// speck is dirt at the end: a small letter at most.
	speck = regexp.MustCompile(`^[^\p{L}\d)&]*\p{Ll}?[^\p{L}\d)&]*$`)
	// title is what a document calls itself, before or behind the name of who wrote it.
	title = regexp.MustCompile(`(?i)^\W*` + titles + `\W+([\p{L}\d].*)$|^(.*[\p{L}\d])\W+` + titles + `\W*$`)
	// openNumber begins the number in a register.
	openNumber = regexp.MustCompile(`(?i)^\W*\((?:co\w*|reg\w*|roc|no)?\W*$`)
	soldBy     = regexp.MustCompile(`(?i)^\s*(?:sold by|owned by|operated by|dimiliki oleh|betrieben von|verkauft von|vendu par|vendido por|venduto da)\s*:?\s*`)
	edges      = `|_-–—~=*"'“”‘’:;,.<>«»!\/{}[]`
)

func merchantName(s string) string {
	// Legal forms are few and known, so that a misread one can be put right.
	s = knownForm(sendirian.ReplaceAllString(registration.ReplaceAllString(s, ""), "SDN BHD"))
	// What follows the legal form is its number in some register, the more so when it has digits.
	if at := legal.FindAllStringIndex(s, -1); at != nil {
		end := at[len(at)-1][1]
		if rest := s[end:]; strings.ContainsAny(rest, "0123456789") || openNumber.MatchString(rest) {
			s = s[:end]
		}
	}
	if m := title.FindStringSubmatch(s); m != nil && lettered.MatchString(m[1]+m[2]) {
		s = m[1] + m[2]
	}
	words := strings.Fields(s)
	// Specks at the edges of the paper become single characters.
	for len(words) > 1 && words[1] != "&" && !lettered.MatchString(words[0]) && len([]rune(strings.Trim(words[0], edges))) <= 1 {
		words = words[1:]
	}
	for len(words) > 1 && speck.MatchString(words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	return strings.TrimSpace(strings.TrimLeft(strings.Trim(strings.Join(words, " "), `|_-–—~=*"“”:;,<> `), ".'‘’"))
}

// knownForm puts "SON 3HD" at the end of a name right: two letters of "SDN BHD" may be wrong, or three behind a bracket,
// where hardly anything else stands.
func knownForm(name string) string {
	name = shortForm.ReplaceAllString(name, "${1}S/B")
	m := lastPair.FindStringSubmatchIndex(name)
	if m == nil {
		return name
	}
	wrong := distance("sdn", strings.ToLower(name[m[2]:m[3]])) + distance("bhd", strings.ToLower(name[m[4]:m[5]]))
	if wrong > 3 || wrong == 3 && !strings.HasSuffix(strings.TrimRight(name[:m[2]], " "), ")") {
		return name
	}
	return strings.TrimRight(name[:m[2]], " ") + " SDN BHD"
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

// spelling is one way in which a name was read.
type spelling struct {
	text, letters string
	sureness      float64
}

// respelled takes the spelling of a name that is nearest to all that were read of it, the surer ones counting more.
func respelled(name found, readings []Reading) found {
	if name.at == nil {
		return name
	}
	var all []spelling
	add := func(text string, at *line) {
		letters := lettersOf(text)
		if samePlace(at, name.at) && distance(letters, lettersOf(name.value))*5 <= 2*max(len(letters), len(lettersOf(name.value))) {
			all = append(all, spelling{text, letters, at.sureness()})
		}
	}
	row := merchantName(name.at.text)
	for _, r := range readings {
		for _, m := range r.merchants {
			add(m.value, m.at)
		}
		for _, l := range r.names {
			// A second look is at one row, of a name that may have several.
			add(knownForm(strings.Replace(name.value, row, merchantName(l.text), 1)), l)
		}
	}
	best := 0.0
	for _, s := range all {
		near := 0.0
		for _, o := range all {
			near += o.sureness * (1 - float64(distance(s.letters, o.letters))/float64(max(len(s.letters), len(o.letters), 1)))
		}
		if near > best {
			best, name.value = near, s.text
		}
	}
	return name
}

// samePlace: two readings of one row.
func samePlace(a, b *line) bool {
	return a.page == b.page && abs(int64(rowMiddle(a.words)-rowMiddle(b.words))) < int64(max(a.height, b.height))
}

func lettersOf(name string) string { return strings.Join(tokens(name), "") }

// sameName lets a letter in eight be misread.
func sameName(a, b string) bool {
	x, y := lettersOf(a), lettersOf(b)
	return x != "" && distance(x, y)*8 <= max(len(x), len(y))
}
