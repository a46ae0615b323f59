package printed

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/coffer-budget/coffer/services/ocr/receipt/vocabulary"
)

// Phrases is a list of phrases, each a list of folded words: lower case, without accents.
type Phrases [][]string

// PhraseList parses phrases separated by commas.
func PhraseList(text string) Phrases { return foldedPhrases(strings.Split(text, ",")) }

// Words returns the vocabulary of a kind in all languages (package vocabulary).
func Words(kind string) Phrases { return foldedPhrases(vocabulary.Words(kind)) }

func foldedPhrases(phrases []string) Phrases {
	var out Phrases
	for _, p := range phrases {
		out = append(out, strings.Fields(Fold(p)))
	}
	return out
}

var (
	totalWords = Words(vocabulary.Total)
	// StrongTotalWords name a total and nothing else.
	StrongTotalWords = Words(vocabulary.TotalOnly)
	subtotalWords    = Words(vocabulary.Subtotal)
	taxWords         = Words(vocabulary.Tax)
	cashWords        = Words(vocabulary.Cash)
	changeWords      = Words(vocabulary.Change)
	tipWords         = Words(vocabulary.Tip)
	discountWords    = Words(vocabulary.Discount)
	roundingWords    = Words(vocabulary.Rounding)
	countWords       = Words(vocabulary.Count)
	exclusiveWords   = Words(vocabulary.Exclusive)
)

// Fold returns lower case without accents.
func Fold(s string) string {
	var b strings.Builder
	for _, r := range norm.NFD.String(s) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r == 'ß':
			b.WriteString("ss")
		case r == 'ø', r == 'Ø':
			b.WriteByte('o')
		case r == 'æ', r == 'Æ':
			b.WriteString("ae")
		case r == 'ı':
			b.WriteByte('i')
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// Tokens returns the folded words of a line. It repairs misread letters, and joins those printed
// with spaces between them. Numbers are omitted.
func Tokens(text string) []string {
	fields := strings.FieldsFunc(Fold(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '|'
	})
	var out []string
	spaced := ""
	flush := func() {
		// Fewer single letters are abbreviations, such as "S A", and not a word printed with
		// spaces.
		if len(spaced) >= 4 {
			out = append(out, spaced)
		} else {
			for _, r := range spaced {
				out = append(out, string(r))
			}
		}
		spaced = ""
	}
	for _, f := range fields {
		if len(f) == 1 && unicode.IsLetter(rune(f[0])) {
			spaced += f
			continue
		}
		flush()
		word := asLetters(f)
		if rest, glued := strings.CutPrefix(word, "total"); glued && len(rest) >= 3 {
			// "TOTAL(INCL" was read as one word, with the bracket as a letter, or "TOTAL GST"
			// without the space.
			out = append(out, "total", strings.TrimPrefix(rest, "c"))
		} else if word != "" {
			out = append(out, word)
		}
	}
	flush()
	return out
}

// gst matches the name of a tax, whose letters resemble digits.
var gst = regexp.MustCompile(`^[g6o0c][s58]t$`)

// letterFor replaces digits that engines read in place of letters, the inverse of lookalike.
var letterFor = strings.NewReplacer("0", "o", "1", "l", "5", "s", "8", "b", "|", "l")

// asLetters repairs misread letters in a word. It returns "" for a number.
func asLetters(field string) string {
	if gst.MatchString(field) {
		return "gst"
	}
	// In "change10", the engine has lost the space before an amount.
	word := strings.TrimRight(field, "0123456789")
	if len(word) >= 4 && len(field)-len(word) >= 2 && !strings.ContainsAny(word, "0123456789") {
		return word
	}
	letters, digits := 0, 0
	for _, r := range field {
		if unicode.IsLetter(r) {
			letters++
		} else {
			digits++
		}
	}
	switch {
	case letters == 0:
		return ""
	case digits == 0:
		return field
	// A word may have one misread letter in four. With more digits, it is a code.
	case letters >= 3 && digits*3 <= letters:
		return letterFor.Replace(field)
	}
	// In "rm12", the letters are a currency code.
	return strings.TrimRightFunc(field, unicode.IsDigit)
}

// Has reports whether the words contain one of the phrases, also misspelled.
func (p Phrases) Has(words []string) bool { return p.Find(words) >= 0 }

// Find returns the index of the first word of the first match, or -1.
func (p Phrases) Find(words []string) int {
	for i := range words {
		for _, phrase := range p {
			n := min(len(phrase), len(words)-i)
			if slices.EqualFunc(phrase, words[i:i+n], similar) {
				return i
			}
		}
	}
	return -1
}

// similar reports whether a recognized word is the word of the vocabulary. One wrong letter is
// allowed from five letters, two from nine. Shorter words must be equal, because too many others
// are one letter away.
func similar(want, got string) bool {
	if want == got {
		return true
	}
	if r, _ := utf8.DecodeRuneInString(want); r >= utf8.RuneSelf {
		// Japanese has no spaces between words. Letters of other scripts must be equal, because the
		// distance below counts bytes.
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) &&
			strings.Contains(got, want)
	}
	// A "nett total" is the amount to pay, and "netto" an amount without tax.
	if want == "netto" && got == "nett" {
		return false
	}
	allowed := 0
	switch n := len(want); {
	case n >= 9:
		allowed = 2
	case n >= 5:
		allowed = 1
	}
	// "charge" is one letter from "change", but is another kind of amount.
	if want == "change" && strings.HasPrefix(got, "charge") {
		return false
	}
	if allowed == 0 || len(got) > len(want)+allowed || len(got) < len(want)-allowed {
		return false
	}
	// A wrong first letter must be the only error, because many words have the same ending.
	if want[0] != got[0] && want[1:] != got[1:] {
		return false
	}
	return Distance(want, got) <= allowed
}

// Distance returns the Levenshtein distance of two strings, in bytes.
func Distance(a, other string) int {
	row := make([]int, len(other)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(other) {
			cost := diagonal
			if a[i] != other[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(other)]
}

// Lettered matches a word of at least three letters.
var Lettered = regexp.MustCompile(`\p{L}{3,}`)

// notNames are units, tax codes, currencies and words of a table.
var notNames = PhraseList(`pcs,pkt,unit,units,each,nos,set,eur,usd,myr,rm,kg,gst,sst,tax,disc,stk,
	btl,ctn,box,bag`)

// CodesOnly reports whether all words are figures or notNames.
func CodesOnly(words []string) bool {
	for _, w := range words {
		if Lettered.MatchString(w) && !notNames.Has(Tokens(w)) {
			return false
		}
	}
	return true
}
