package duplicates

import (
	_ "embed" // For general.txt.
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
	"github.com/coffer-budget/coffer/services/ledger/rules/learning"
)

// generalWords are words about payments in general, which name no party.
//
//go:embed general.txt
var generalWords string

var general = written.WordSet(generalWords)

// relation is how the texts of a payment and of its booking fit.
type relation int

const (
	// differs means that the texts name two parties.
	differs relation = iota
	// shares means that they have words in common, which may be the city of two shops.
	shares
	// agrees means that they name one party, or that one of them names none.
	agrees
)

// relate returns how two texts fit. It is for the joined texts of a payment and of its booking,
// which banks fill differently. compare is for texts of different sources, where payees decide. The
// name of a payment service that both texts have is not that of the party.
func relate(first, second string) relation {
	whole := relateNames(names(first), names(second))
	a, b := learning.Merchant(first, ""), learning.Merchant(second, "")
	if a == "" || b == "" {
		return whole
	}
	return min(whole, relateNames(names(a), names(b)))
}

// relateNames returns how the names in two texts fit. They agree if one text has all names of the
// other one, or its first name, because a party precedes its place.
func relateNames(a, b []string) relation {
	if len(a) == 0 || len(b) == 0 {
		return agrees
	}
	inFirst, inSecond := common(b, a), common(a, b)
	switch {
	case inFirst == 0:
		return differs
	case inSecond == len(a) || inFirst == len(b) || common(a[:1], b) > 0 || common(b[:1], a) > 0:
		return agrees
	}
	return shares
}

// common returns the number of names that are also among others, perhaps cut.
func common(names, others []string) (n int) {
	for _, name := range names {
		if slices.ContainsFunc(others, func(other string) bool {
			return begins(name, other) || begins(other, name)
		}) {
			n++
		}
	}
	return n
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
