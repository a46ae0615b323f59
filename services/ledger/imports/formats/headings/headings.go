// Package headings knows the words in the headings of columns, in about 40 languages.
//
// headings.txt is the vocabulary: sections of a field and a rank, with the headings that mean this
// field. A heading can mean several fields, and the contents of its column decide between them.
// Fields are those of package mapping, and Other, which no mapping has.
//
// Meanings returns the fields of a heading. Known counts the headings of a row, which decides the
// delimiter of a file. Plausible scores a decoded word, which decides the encoding of a file. All
// functions are pure.
//
//   - headings.go: the vocabulary and its lookup. Start reading here. plausible.go: encodings
package headings

import (
	_ "embed" // For headings.txt.
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// Other is the field of a heading whose column must not be taken for another field. No mapping
// assigns it.
const Other = "other"

// Loose is added to the ranks of headings of which only a word is known.
const Loose = 5

// Meaning is a field that a heading can mean. Lower ranks are better.
type Meaning struct {
	Field string
	Rank  int
}

// vocabulary is the list of headings. A heading in several sections has the meaning of the first
// one whose contents fit.
//
//go:embed headings.txt
var vocabulary string

// table maps folded headings to their meanings.
var table = newTable()

// newTable converts the vocabulary to a table.
func newTable() map[string][]Meaning {
	t := make(map[string][]Meaning)
	for section, phrase := range written.Phrases(vocabulary) {
		field, rank, _ := strings.Cut(section, " ")
		key := written.Fold(phrase)
		if lower := accented(phrase); lower != "" {
			key = lower
		}
		if key != "" {
			t[key] = append(t[key], Meaning{field, int(rank[0] - '0')})
		}
	}
	return t
}

// maxShort is the maximum length of a folded heading that its accents distinguish from others: "Nợ"
// is a debit, and "No" is a number.
const maxShort = 3

// accented returns a short heading with accents in lower case, or "" for any other heading.
func accented(text string) string {
	folded := written.Fold(text)
	if len(folded) > maxShort || len(text) == len(folded) {
		return ""
	}
	for i := range len(folded) {
		if folded[i] >= utf8.RuneSelf {
			return "" // Another script, without ASCII letters.
		}
	}
	return strings.ToLower(norm.NFC.String(strings.TrimSpace(text)))
}

// Meanings returns the fields that a heading can mean, the best one first. It ignores text in
// brackets and currencies: "Amount (EUR)" is an amount. A heading can mean several fields, such as
// "Reference"; the contents of the column decide between them.
func Meanings(text string) []Meaning {
	if m := table[accented(text)]; len(m) > 0 {
		return m
	}
	key := written.Fold(text)
	if m := table[key]; len(m) > 0 {
		return m
	}
	// "Amount (Foreign Currency)" is not the amount of the account.
	for word := range strings.FieldsSeq(key) {
		if word == "foreign" || word == "original" || word == "fremdwahrung" {
			return []Meaning{{Other, 1}}
		}
	}
	// "Amount (EUR)", "Betrag in EUR", "Credit Amount GBP", "amount_eur"
	bare := text
	if open := strings.IndexAny(text, "([（"); open > 0 {
		bare = text[:open]
		if m := sided(bare, text[open:]); len(m) > 0 {
			return m
		}
	}
	words := strings.Fields(written.Fold(SplitCamel(bare)))
	for {
		if m := table[strings.Join(words, " ")]; len(m) > 0 {
			return m
		}
		if len(words) < 2 || !isUnit(words[len(words)-1]) {
			break
		}
		words = words[:len(words)-1]
	}
	if len(words) == 0 || len(words) > 6 {
		return nil
	}
	if namesSides(words) {
		return []Meaning{{"type", 1}, {"amount", 2}}
	}
	return looseMeanings(words)
}

// namesSides reports whether a heading consists of a word for debits and one for credits. Its
// column has signed amounts, or says which of them an amount is.
func namesSides(words []string) bool {
	var debit, credit bool
	for _, word := range words {
		for _, m := range table[word] {
			debit, credit = debit || m.Field == "debit", credit || m.Field == "credit"
		}
	}
	return len(words) == 2 && debit && credit
}

// isUnit reports whether the last word of a heading names a currency, or leads to one: "Betrag in
// EUR".
func isUnit(word string) bool {
	return word == "in" || word == "en" || written.CurrencyOf(word) != ""
}

// sided returns the meaning of an amount whose side stands in brackets: "Amount (Debit)".
func sided(amount, inside string) (found []Meaning) {
	for _, side := range table[written.Fold(inside)] {
		if side.Field != "debit" && side.Field != "credit" {
			continue
		}
		for _, m := range Meanings(amount) {
			if m.Field == "amount" {
				found = append(found, Meaning{side.Field, side.Rank + m.Rank})
			}
		}
	}
	return found
}

// looseMeanings returns the fields that the first or last words of a heading can mean, at a worse
// rank than whole headings. Words such as "fee" or "original" exclude the column: its amount or
// date is not the one of the transaction.
func looseMeanings(words []string) []Meaning {
	for _, w := range words {
		switch w {
		case "original", "foreign", "fee", "fees", "rate", "fremdwahrung", "counter",
			"tegenrekening", "refunded", "converted", "iban", "bic", "code", "id", "nummer",
			"number", "no", "nr", "tax", "due":
			return nil
		}
	}
	var found []Meaning
	add := func(part string) {
		for _, h := range table[part] {
			if h.Field != Other && len(part) > 3 {
				found = append(found, Meaning{h.Field, h.Rank + Loose})
			}
		}
	}
	for n := len(words) - 1; n > 0; n-- {
		add(strings.Join(words[:n], " "))
		add(strings.Join(words[len(words)-n:], " "))
	}
	if len(words) == 1 {
		for _, part := range partsOf(words[0]) {
			add(part)
		}
	}
	return found
}

// partsOf returns the parts of a compound word that may be headings, the longest first: the ends of
// German and Scandinavian words, and both ends of words without spaces, such as those of Chinese.
func partsOf(word string) (parts []string) {
	runes := []rune(word)
	for n := len(runes) - 1; n > 1; n-- {
		start, end := string(runes[:n]), string(runes[len(runes)-n:])
		switch {
		case unicode.In(runes[0], unicode.Han, unicode.Katakana, unicode.Hiragana, unicode.Hangul):
			parts = append(parts, end, start)
		case n > 4:
			parts = append(parts, end)
		}
	}
	return parts
}

// Currency returns the currency that a heading names, or "". A unit in brackets is one: "Debit
// (RM)". A single word that is a heading is none: "MNT" is an amount.
func Currency(text string) string {
	if key := written.Fold(text); len(table[key]) > 0 && !strings.Contains(key, " ") &&
		len(key) == len(text) {
		return ""
	}
	if open := strings.IndexAny(text, "([（"); open >= 0 {
		if code := written.CurrencyOf(strings.Trim(text[open:], "([（)]） ")); code != "" {
			return code
		}
	}
	if code := lastUnit(text); code != "" {
		return code
	}
	return written.CurrencyIn(SplitCamel(text))
}

// lastUnit returns the currency of the unit at the end of a heading, such as "Retiros L." and
// "amount_pkr", or "". A heading that the vocabulary has as a whole, such as "Value Dt", has none,
// and a word with small letters may be any other one.
func lastUnit(text string) string {
	at := strings.LastIndexAny(text, " _")
	if at < 0 || len(table[written.Fold(text)]) > 0 || len(table[written.Fold(text[:at])]) == 0 {
		return ""
	}
	unit := text[at+1:]
	if text[at] == ' ' && unit != strings.ToUpper(unit) && !strings.HasSuffix(unit, ".") {
		return ""
	}
	return written.CurrencyOf(unit)
}

// SplitCamel separates the words of "MerchantName" and "created_at".
func SplitCamel(s string) string {
	var b strings.Builder
	lower := false
	for _, r := range s {
		upper := r >= 'A' && r <= 'Z'
		if upper && lower {
			b.WriteByte(' ')
		}
		lower = r >= 'a' && r <= 'z'
		b.WriteRune(r)
	}
	return b.String()
}

// Known returns the number of cells that are headings of columns.
func Known(cells []string) int {
	n := 0
	for _, c := range cells {
		if c != "" && len(c) <= 80 && len(table[written.Fold(c)]) > 0 {
			n++
		}
	}
	if n < 2 {
		return 0
	}
	return n
}
