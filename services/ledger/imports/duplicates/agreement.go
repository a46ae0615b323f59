package duplicates

import (
	_ "embed" // For general.txt.
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// generalWords are words about payments in general, which name no party.
//
//go:embed general.txt
var generalWords string

var general = written.WordSet(generalWords)

// agree reports whether two texts may name the same party: they share a word, or one of them has no
// word that names a party. It is for the joined texts of a payment and of its booking, which banks
// fill differently. compare is for texts of different sources, where payees decide.
func agree(first, second string) bool {
	a, b := names(first), names(second)
	if len(a) == 0 || len(b) == 0 {
		return true
	}
	return slices.ContainsFunc(a, func(word string) bool {
		return slices.ContainsFunc(b, func(other string) bool {
			return begins(word, other) || begins(other, word)
		})
	})
}

// names returns the words of a text that may name a party: letters only, at least two ideographs or
// three other letters, and none of the general words or of the statuses of payments.
func names(text string) []string {
	words := strings.FieldsFunc(written.Fold(statement.Cut(text, statement.MaxText)),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.DeleteFunc(words, func(word string) bool {
		_, isStatus := written.StatusOf(word)
		letters := utf8.RuneCountInString(word)
		isShort := letters < minIdeographs || letters < 3 && word < firstIdeograph
		return isShort || isStatus || general[word] || strings.ContainsFunc(word, unicode.IsDigit)
	})
}
