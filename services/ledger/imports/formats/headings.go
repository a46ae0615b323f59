package formats

import (
	_ "embed" // For headings.txt.
	"strings"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// Fields that the proposal recognizes, but no column has.
const (
	fieldBalance = "balance"
	fieldOther   = "other" // The heading of a column that must not be taken for another field.
)

// heading is the meaning of a column's heading. Lower ranks are better.
type heading struct {
	field string
	rank  int
}

// vocabulary is the list of headings. A heading in several sections has the meaning of the first one whose contents fit.
//
//go:embed headings.txt
var vocabulary string

// headings maps folded headings to their meaning.
var headings = headingTable()

// headingTable converts the vocabulary to a table.
func headingTable() map[string][]heading {
	t := make(map[string][]heading)
	var current heading
	for line := range strings.Lines(vocabulary) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		if section, ok := strings.CutPrefix(line, "== "); ok {
			field, rank, _ := strings.Cut(strings.TrimSpace(section), " ")
			current = heading{field, int(rank[0] - '0')}
			continue
		}
		for phrase := range strings.SplitSeq(line, ";") {
			if key := written.Fold(phrase); key != "" {
				t[key] = append(t[key], current)
			}
		}
	}
	return t
}

// meanings returns the fields that a heading can mean, the best one first. It ignores text in brackets and currencies: "Amount (EUR)" is
// an amount. A heading can mean several fields, such as "Reference"; the contents of the column decide between them.
func meanings(text string) []heading {
	key := written.Fold(text)
	if m := headings[key]; len(m) > 0 {
		return m
	}
	// "Amount (EUR)", "Betrag in EUR", "Credit Amount GBP", "amount_eur"
	bare := text
	if open := strings.IndexAny(text, "(["); open > 0 {
		bare = text[:open]
	}
	words := strings.Fields(written.Fold(splitCamel(bare)))
	for len(words) > 1 && (written.CurrencyOf(words[len(words)-1]) != "" || words[len(words)-1] == "in" || words[len(words)-1] == "en") {
		words = words[:len(words)-1]
	}
	if m := headings[strings.Join(words, " ")]; len(m) > 0 {
		return m
	}
	if len(words) == 0 || len(words) > 6 {
		return nil
	}
	return looseMeanings(words)
}

// looseMeanings returns the fields that the first or last word of a heading can mean, at a worse rank than whole headings. Words such as
// "fee" or "original" exclude the column: its amount or date is not the one of the transaction.
func looseMeanings(words []string) []heading {
	for _, w := range words {
		switch w {
		case "original", "foreign", "fee", "fees", "rate", "fremdwahrung", "counter", "tegenrekening", "refunded", "converted", "iban", "bic", "code", "id", "nummer", "number", "no", "nr", "tax", "due":
			return nil
		}
	}
	var found []heading
	for _, w := range []string{words[0], words[len(words)-1]} {
		for _, h := range headings[w] {
			if h.field != fieldOther && len(w) > 3 {
				found = append(found, heading{h.field, h.rank + 5})
			}
		}
	}
	return found
}

// splitCamel separates the words of "MerchantName" and "created_at".
func splitCamel(s string) string {
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

// plausible returns a score for a word that was decoded with a candidate encoding. A known heading raises it; symbols and drawing
// characters inside of a word lower it. ASCII words have 0, because they look the same in each candidate.
func plausible(word string) int {
	ascii := true
	score := 0
	letters, odd := 0, 0
	for _, r := range word {
		switch {
		case r < 0x80:
		case isWordRune(r):
			ascii, letters = false, letters+1
		default:
			ascii, odd = false, odd+1
		}
	}
	if ascii {
		return 0
	}
	if _, known := headings[written.Fold(word)]; known {
		score += 20
	}
	if odd > 0 && len([]rune(word)) > 2 {
		score -= 8 * odd
	}
	return score + min(letters, 1)
}
