package written

import (
	_ "embed" // For signs.txt.
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/coffer-budget/coffer/internal/restjson"
)

// Fold returns text for comparisons: compatibility forms, lower case, no accents, single spaces
// instead of punctuation.
func Fold(s string) string {
	s = stripAccents(strings.ToLower(norm.NFKC.String(s)))
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '+' && r != '-'
	}), " ")
}

// signPhrases is the vocabulary of type columns.
//
//go:embed signs.txt
var signPhrases string

// outWords and inWords are the folded values of type columns that mean money out and money in.
var outWords, inWords = newSigns()

func newSigns() (out, in map[string]bool) {
	out, in = make(map[string]bool), make(map[string]bool)
	for section, phrase := range Phrases(signPhrases) {
		if section == "out" {
			out[Fold(phrase)] = true
		} else {
			in[Fold(phrase)] = true
		}
	}
	return out, in
}

// WordSet converts a list of words to a set.
func WordSet(list string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(list) {
		set[Fold(word)] = true
	}
	return set
}

// SignOf reports whether a value of a type column means money out, and whether the value is known.
func SignOf(value string) (negative, known bool) {
	word := Fold(value)
	switch {
	case outWords[word]:
		return true, true
	case inWords[word]:
		return false, true
	}
	// "Debit card payment" and "Credit Transfer": one known word, and none of the other kind.
	out, in := false, false
	for w := range strings.FieldsSeq(word) {
		if len(w) > 2 {
			out, in = out || outWords[w], in || inWords[w]
		}
	}
	return out, out != in
}

// IsSign reports whether the vocabulary has a value of a type column as a whole.
func IsSign(value string) bool {
	word := Fold(value)
	return outWords[word] || inWords[word]
}

// kindsOfPayment are the values of type columns whose direction depends on the kind of the account:
// a sale is money out of a card, and money in for a shop.
var kindsOfPayment = WordSet(`sale purchase payment refund return paid spent sent received cashback
	消费 支付 付款 退款 支払 支払い`)

// IsDirection reports whether a value of a type column means the same direction in each kind of
// account, such as "debit".
func IsDirection(value string) bool {
	for word := range strings.FieldsSeq(Fold(value)) {
		if kindsOfPayment[word] {
			return false
		}
	}
	_, known := SignOf(value)
	return known
}

// Parts applies change to the parts of a text between semicolons, tabs and vertical bars, and joins
// them again. Programs that open a CSV file may split its cells there.
func Parts(s string, change func(string) string) string {
	var b strings.Builder
	for {
		at := strings.IndexAny(s, ";\t|")
		if at < 0 {
			b.WriteString(change(s))
			return b.String()
		}
		b.WriteString(change(s[:at]))
		b.WriteByte(s[at])
		s = s[at+1:]
	}
}

// Guard returns a cell that a spreadsheet does not evaluate. A payee or a description may come from
// another person, so a text that begins like a formula gets an apostrophe in front, and so does the
// text after a separator at which a program may split the cell. Commas are quoted. Numbers do not
// change. A text that already has apostrophes before a formula gets another one, so that an import
// can always remove the first one (UnguardParts).
func Guard(s string) string {
	if restjson.IsNumber(s) {
		return s
	}
	return Parts(s, func(part string) string {
		rest := strings.TrimLeft(part, "'")
		if rest == "" || !strings.ContainsRune("=+-@\t\r", rune(rest[0])) {
			return part
		}
		return "'" + part
	})
}

// UnguardParts removes the apostrophes that Coffer's export puts before each part that begins like
// a formula: it is the inverse of Guard.
func UnguardParts(s string) string { return Parts(s, Unguard) }

// Unguard removes the apostrophe that an export puts before a text that begins like a formula, and
// only that one. Other applications write the same apostrophe.
func Unguard(s string) string {
	rest := strings.TrimLeft(s, "'")
	if len(rest) < len(s) && rest != "" && strings.ContainsRune("=+-@\t\r", rune(rest[0])) {
		return s[1:]
	}
	return s
}
