package duplicates

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

const (
	// minSimilarity is the similarity from which texts agree.
	minSimilarity = 0.3
	// minStart is the number of letters from which the start of a word stands for it, because banks
	// cut names. minIdeographs is that of ideographs.
	minStart      = 4
	minIdeographs = 2
	// firstIdeograph precedes the scripts whose letters are words or syllables.
	firstIdeograph = "\u2e80"
)

// words are the words of the texts of a payment, without case, accents and punctuation, and their
// trigrams.
type words struct {
	payee, all              []string
	payeeTrigrams, trigrams map[[3]rune]bool
}

func wordsOf(p facts) words {
	payee := split(p.Payee)
	all := slices.Concat(payee, split(p.Description))
	if all == nil {
		all = []string{}
	}
	return words{payee, all, trigrams(payee), trigrams(all)}
}

// split returns the words of a text. The text is cut to the length of a description, so that the
// comparison of two texts has a limit.
func split(text string) []string {
	between := func(r rune) bool { return r == ' ' || r == '-' || r == '+' }
	return strings.FieldsFunc(written.Fold(statement.Cut(text, statement.MaxText)), between)
}

// likeness is the result of a comparison of texts.
type likeness struct {
	// score is from 0 to 1.
	score float64
	// agrees reports whether both texts can be of the same payment. A text that is missing agrees
	// with any other one.
	agrees bool
}

// compare compares the texts of a row and a transaction. If both have a payee, the payees decide:
// two subscriptions may have the same description. The payee of one side may be in the description
// of the other one, for example if a payment provider is the payee.
func compare(words, b words) likeness {
	if len(words.all) == 0 || len(b.all) == 0 {
		return likeness{agrees: true}
	}
	score := overlap(words.trigrams, b.trigrams)
	if len(words.payee) > 0 && len(b.payee) > 0 {
		payees := overlap(words.payeeTrigrams, b.payeeTrigrams)
		contained := contains(words.all, b.payee) || contains(b.all, words.payee)
		return likeness{max(score, payees), payees >= minSimilarity || contained}
	}
	contained := contains(words.all, b.all) || contains(b.all, words.all)
	return likeness{score, score >= minSimilarity || contained}
}

// contains reports whether texts have all words, or words that begin with them.
func contains(texts, parts []string) bool {
	return !slices.ContainsFunc(parts, func(part string) bool {
		return !slices.ContainsFunc(texts, func(word string) bool {
			return begins(word, part)
		})
	})
}

// begins reports whether a word is another one, or begins with it.
func begins(word, start string) bool {
	letters := utf8.RuneCountInString(start)
	isStart := letters >= minStart || letters >= minIdeographs && start >= firstIdeograph
	return word == start || isStart && strings.HasPrefix(word, start)
}

// similarity returns the share of trigrams that two texts have in common, from 0 to 1, without
// regard to case, accents and punctuation.
func similarity(a, b string) float64 { return overlap(trigrams(split(a)), trigrams(split(b))) }

// overlap returns the share of trigrams that two texts have in common, from 0 to 1.
func overlap(first, second map[[3]rune]bool) float64 {
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

// trigrams returns the sequences of three characters of words. It follows PostgreSQL's pg_trgm:
// each word is preceded by two spaces and followed by one.
func trigrams(words []string) map[[3]rune]bool {
	found := make(map[[3]rune]bool)
	for _, word := range words {
		runes := []rune("  " + word + " ")
		for i := range len(runes) - 2 {
			found[[3]rune(runes[i:i+3])] = true
		}
	}
	return found
}
