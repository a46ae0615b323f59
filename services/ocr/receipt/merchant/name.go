package merchant

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

const titles = `(?:tax )?(?:invoice|receipt|rechnung|facture|factura|fattura|factuur)`

var (
	// sdnBhdForm matches "Sdn Bhd", or "Sdn" with a short misread second half at the end of the
	// name.
	sdnBhdForm = regexp.MustCompile(`(?i)\bS[DO0][NM]\.?\s?[B8][HN1I][DO0]\b|` +
		`\bsdn\b\.?\s?[^\s()]{0,6}$`)
	// sdnBhdEnding matches two misread words of three characters. The H must be right: it is rarely
	// misread, and "sun bed" is no legal form.
	sdnBhdEnding = regexp.MustCompile(
		`(?i)(?:^|[\s)])([a-z0-9§$&]{3})[.,]?\s?([a-z0-9]h[a-z0-9])\W*$`)
	// shortForm matches a misread "S/B", the short form of "Sdn Bhd".
	shortForm = regexp.MustCompile(`(?i)([\s)])(?:\$/[b83]|[5s]/[b8])\b`)
	// registration matches a registration number at the end of the name, with or without brackets.
	registration = regexp.MustCompile(`(?i)\s*[(\[{][^()\[\]{}]{0,12}\d{5,}.*$|` +
		`\s*[(\[{]?\s*(?:co(?:mpany)?\.?\s*(?:reg)?\.?\s*(?:no)?\.?\s*:?\s*)?[(\[{]?` +
		`\b[a-z]{0,2}-?\d[\d-]{3,}\s*-?\s*[a-z]?\s*[)\]}]?\.?\s*$`)
	// speck matches dirt at the end of a name: symbols and at most one lower-case letter.
	speck = regexp.MustCompile(`^[^\p{L}\d)&]*\p{Ll}?[^\p{L}\d)&]*$`)
	// title matches the title of a document before or after the name of its issuer.
	title = regexp.MustCompile(`(?i)^\W*` + titles + `\W+([\p{L}\d].*)$|` +
		`^(.*[\p{L}\d])\W+` + titles + `\W*$`)
	// openNumber matches the beginning of a registration number.
	openNumber = regexp.MustCompile(`(?i)^\W*\((?:co\w*|reg\w*|roc|no)?\W*$`)
	soldBy     = regexp.MustCompile(`(?i)^\s*(?:sold by|owned by|operated by|dimiliki oleh|` +
		`betrieben von|verkauft von|vendu par|vendido por|venduto da)\s*:?\s*`)
	// spacedLetter matches a letter of a word that is printed with spaces between its letters.
	spacedLetter = regexp.MustCompile(`^\p{Lu}$`)
	// edgeMarks are characters that dirt at the edges of the paper is read as.
	edgeMarks = `|_-–—~=*"'“”‘’:;,.<>«»!\/{}[]`
)

// merchantName cleans a line to the name on it: it repairs the legal form and removes registration
// numbers, document titles and dirt.
func merchantName(text string) string {
	text = fixLegalForm(sdnBhdForm.ReplaceAllString(registration.ReplaceAllString(text, ""),
		"SDN BHD"))
	// Text with digits after the legal form is a registration number.
	if at := legal.FindAllStringIndex(text, -1); at != nil {
		name, rest := text[:at[len(at)-1][1]], text[at[len(at)-1][1]:]
		if strings.ContainsAny(rest, "0123456789") || openNumber.MatchString(rest) {
			text = name
		}
	}
	if m := title.FindStringSubmatch(text); m != nil && printed.Lettered.MatchString(m[1]+m[2]) {
		text = m[1] + m[2]
	}
	words := joinSpaced(strings.Fields(text))
	// Dirt at the edges of the paper is read as single characters.
	for len(words) > 1 && words[1] != "&" && !printed.Lettered.MatchString(words[0]) &&
		utf8.RuneCountInString(strings.Trim(words[0], edgeMarks)) <= 1 {
		words = words[1:]
	}
	for len(words) > 1 && speck.MatchString(words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	name := strings.Trim(strings.Join(words, " "), `|_-–—~=*"“”:;,<> `)
	return strings.TrimSpace(strings.TrimLeft(name, ".'‘’"))
}

// joinSpaced joins three and more capital letters that were printed with spaces between them, as in
// "A L D I".
func joinSpaced(words []string) []string {
	var out []string
	for index := 0; index < len(words); {
		n := index
		for n < len(words) && spacedLetter.MatchString(words[n]) {
			n++
		}
		if n-index >= 3 {
			out = append(out, strings.Join(words[index:n], ""))
			index = n
			continue
		}
		out = append(out, words[index])
		index++
	}
	return out
}

// fixLegalForm repairs "SON 3HD" at the end of a name. Two letters of "SDN BHD" may be wrong, or
// three after a bracket, where other words are rare.
func fixLegalForm(name string) string {
	name = shortForm.ReplaceAllString(name, "${1}S/B")
	m := sdnBhdEnding.FindStringSubmatchIndex(name)
	if m == nil {
		return name
	}
	first, second := strings.ToLower(name[m[2]:m[3]]), strings.ToLower(name[m[4]:m[5]])
	wrong := printed.Distance("sdn", first) + printed.Distance("bhd", second)
	before := strings.TrimRight(name[:m[2]], " ")
	if wrong > 3 || wrong == 3 && !strings.HasSuffix(before, ")") {
		return name
	}
	return before + " SDN BHD"
}

// Reading holds the possible names of one reading, and rows recognized again for the spelling.
type Reading struct {
	Names []printed.Field
	Rows  []*printed.Line
}

// Pick returns the name with the highest score, to which every other reading with the same name
// adds. Its spelling is chosen among all readings.
func Pick(readings []Reading) printed.Field {
	var best printed.Field
	for i, r := range readings {
		for _, field := range r.Names {
			score := field.Confidence
			same := func(o printed.Field) bool { return sameName(o.Value, field.Value) }
			for j, other := range readings {
				if i != j && slices.ContainsFunc(other.Names, same) {
					score += 0.5
				}
			}
			if score > best.Confidence {
				best = printed.Field{Value: field.Value, Confidence: score, At: field.At}
			}
		}
	}
	best.Confidence = max(0, min(0.95, 0.2+0.18*best.Confidence))
	best = bestSpelling(best, readings)
	if best.At != nil && doubtfulSpelling(best) {
		best.Confidence = min(best.Confidence, maxDoubtful)
	}
	return best
}

// maxDoubtful is the highest confidence of a name with a doubtful spelling. In measurements, one in
// five of them had a wrong letter.
const maxDoubtful = 0.8

var oddCharacter = regexp.MustCompile(`[^\p{L}\p{M}\d\s&'’‘´.,:()/+@!*#"°-]`)

// doubtfulSpelling reports whether the letters were read with low confidence, or the name has odd
// characters, or brackets without their counterpart.
func doubtfulSpelling(name printed.Field) bool {
	return name.At.MeanConfidence() < 0.75 || oddCharacter.MatchString(name.Value) ||
		strings.Count(name.Value, "(") != strings.Count(name.Value, ")")
}

type spelling struct {
	text, letters  string
	meanConfidence float64
}

// bestSpelling returns the name in the spelling that is most similar to all its recognitions,
// weighted by their confidence.
func bestSpelling(name printed.Field, readings []Reading) printed.Field {
	if name.At == nil {
		return name
	}
	var all []spelling
	chosen := lettersOf(name.Value)
	add := func(text string, at *printed.Line) {
		letters := lettersOf(text)
		// A name in the same row that differs in more than two letters of five is another text.
		if printed.SameRow(at, name.At) &&
			printed.Distance(letters, chosen)*5 <= 2*max(len(letters), len(chosen)) {
			all = append(all, spelling{text, letters, at.MeanConfidence()})
		}
	}
	row := merchantName(name.At.Text)
	for _, r := range readings {
		for _, m := range r.Names {
			add(m.Value, m.At)
		}
		for _, l := range r.Rows {
			// A row recognized again replaces that row in a name of several rows.
			add(fixLegalForm(strings.Replace(name.Value, row, merchantName(l.Text), 1)), l)
		}
	}
	best := 0.0
	for _, s := range all {
		near := 0.0
		for _, o := range all {
			wrong := float64(printed.Distance(s.letters, o.letters))
			near += o.meanConfidence * (1 - wrong/float64(max(len(s.letters), len(o.letters), 1)))
		}
		if near > best {
			best, name.Value = near, s.text
		}
	}
	return name
}

func lettersOf(name string) string { return strings.Join(printed.Tokens(name), "") }

// sameName reports whether two names differ in at most one of eight letters.
func sameName(a, b string) bool {
	x, y := lettersOf(a), lettersOf(b)
	return x != "" && printed.Distance(x, y)*8 <= max(len(x), len(y))
}
