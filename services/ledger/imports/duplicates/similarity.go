package duplicates

import (
	"strings"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// similarity returns the share of trigrams that two texts have in common, from 0 to 1, without
// regard to case, accents and punctuation. It follows PostgreSQL's pg_trgm: each word is preceded
// by two spaces and followed by one.
func similarity(a, b string) float64 {
	first, second := trigrams(a), trigrams(b)
	if len(first) == 0 || len(second) == 0 {
		return 0
	}
	common := 0
	for t := range first {
		if second[t] {
			common++
		}
	}
	return float64(common) / float64(len(first)+len(second)-common)
}

// trigrams returns the sequences of three characters of the words of a text. The text is cut to the
// length of a description, so that the comparison of two rows has a limit.
func trigrams(text string) map[[3]rune]bool {
	found := make(map[[3]rune]bool)
	folded := written.Fold(statement.Cut(text, statement.MaxText))
	between := func(r rune) bool { return r == ' ' || r == '-' || r == '+' }
	for word := range strings.FieldsFuncSeq(folded, between) {
		runes := []rune("  " + word + " ")
		for i := range len(runes) - 2 {
			found[[3]rune(runes[i:i+3])] = true
		}
	}
	return found
}
