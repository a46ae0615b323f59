package transactions

import (
	"strings"
	"unicode"
)

// maxIndexedTags is the maximum number of tags for which a list reads the index of tags. For more,
// PostgreSQL expects so many rows that it reads the whole table.
const maxIndexedTags = 20

// maxComparisons is the maximum number of comparisons per character of a row's texts with which a
// search examines as many rows as other lists. Words take 2 or 3, and a masked card number, as in
// XXXXXXXXXXXX1234, takes 12.
const maxComparisons = 20

// unindexed reports whether the list has a search, or a filter by many tags or by transactions
// without tags or attachments, and no index that supports it or another filter. The index of
// searches also finds payees. An expensive search does not use it, because it finds any number of
// rows.
func (l transactionList) unindexed() bool {
	if comparisons(l.substring) > maxComparisons {
		return true
	}
	scanned := l.substring+l.payee != "" || l.untagged || l.unattached() ||
		len(l.tags) > maxIndexedTags
	return scanned && !l.indexed() && !hasTrigram(l.substring) && !hasTrigram(l.payee)
}

// indexed reports whether an index finds the rows of one of the filters of request.Origin.
func (l transactionList) indexed() bool {
	return l.ExternalID != "" || l.ImportID != nil || l.ReceiptID != nil ||
		l.Attached != nil && *l.Attached
}

// unattached reports whether the list has the filter by transactions without attachments, which no
// index supports.
func (l transactionList) unattached() bool { return l.Attached != nil && !*l.Attached }

// affordable returns the number of rows that the list may examine instead of rows.
func (l transactionList) affordable(rows int) int {
	return rows * maxComparisons / max(maxComparisons, comparisons(l.substring))
}

// comparisons returns an upper limit of the comparisons per character of a text with which LIKE
// finds a substring: the sum of 1/p for the smallest period p of each of its prefixes. LIKE
// compares the substring again at each position, and a prefix with the period p begins at every
// p-th position at most.
func comparisons(substring string) int {
	s := strings.ToLower(substring)
	// borders has, for each prefix, the length of the longest proper prefix that is also its suffix
	// (Knuth, Morris and Pratt, 1977).
	borders := make([]int, len(s)+1)
	sum, border := 0.0, 0
	for i := range len(s) {
		for border > 0 && s[border] != s[i] {
			border = borders[border]
		}
		if i > 0 && s[border] == s[i] {
			border++
		}
		borders[i+1] = border
		sum += 1 / float64(i+1-border)
	}
	return int(sum)
}

// hasTrigram reports whether the trigram index of descriptions can find a substring, which requires
// three letters or digits in a row. Only ASCII counts, because a database with the character type C
// treats other letters as punctuation.
func hasTrigram(s string) bool {
	run := 0
	for _, r := range s {
		run++
		if r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsNumber(r) {
			run = 0
		}
		if run == 3 {
			return true
		}
	}
	return false
}

// searched is the expression of the index of searches.
const searched = `lower((t.payee || ' ' || t.description || ' ' || t.notes) COLLATE "und-x-icu")`

func likeEscaped(s string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s)
}
