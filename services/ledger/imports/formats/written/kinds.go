package written

import (
	_ "embed" // For kinds.txt.
	"maps"
	"strings"
)

//go:embed kinds.txt
var kindVocabulary string

// kindWords are the words in the names of kinds of payments, folded.
var kindWords = newKindWords()

func newKindWords() map[string]bool {
	words := make(map[string]bool)
	for _, line := range Phrases(kindVocabulary) {
		maps.Copy(words, WordSet(line))
	}
	return words
}

// IsKind reports whether a text is the name of a kind of payment, such as "CARD PAYMENT": all of
// its words are in kinds.txt.
func IsKind(text string) bool {
	found := false
	for word := range strings.FieldsFuncSeq(Fold(text), func(r rune) bool {
		return r == ' ' || r == '-' || r == '+'
	}) {
		if !kindWords[word] {
			return false
		}
		found = true
	}
	return found
}
