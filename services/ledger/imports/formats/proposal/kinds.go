package proposal

import (
	_ "embed" // For kinds.txt.
	"strings"
	"unicode"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

//go:embed kinds.txt
var kindList string

// kindWords are the words in the names of kinds of payments, folded.
var kindWords = newKindWords()

// newKindWords reads the list of words. Lines that begin with "#" or "=" are comments.
func newKindWords() map[string]bool {
	words := make(map[string]bool)
	for line := range strings.Lines(kindList) {
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "=") {
			continue
		}
		for word := range strings.FieldsSeq(line) {
			words[written.Fold(word)] = true
		}
	}
	return words
}

// isKind reports whether a text is the name of a kind of payment, such as "CARD PAYMENT": all of
// its words are in kinds.txt.
func isKind(text string) bool {
	found := false
	for word := range strings.FieldsFuncSeq(written.Fold(text), func(r rune) bool {
		return r == ' ' || r == '-' || r == '+'
	}) {
		if !kindWords[word] {
			return false
		}
		found = true
	}
	return found
}

// isCode reports whether a text is the number of an account, a reference or another code: it has at
// most three ASCII characters, or digits, at least as many as letters, and no word.
func isCode(text string) bool {
	if len(text) <= 3 {
		return true
	}
	digits, letters, run := 0, 0, 0
	for _, r := range text {
		switch {
		case unicode.IsDigit(r):
			digits, run = digits+1, 0
		case unicode.IsLetter(r):
			letters++
			if run++; run > 4 {
				return false
			}
		default:
			run = 0
		}
	}
	return digits > 0 && digits >= letters
}
