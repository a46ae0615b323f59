package daymonth

import (
	"iter"
	"strings"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// datesIn returns the dates in texts, as written: "01.05.2026 - 31.05.2026" and "from 1 May 2026".
func datesIn(texts []string) iter.Seq2[written.DateText, string] {
	return func(yield func(written.DateText, string) bool) {
		for _, text := range texts {
			words := wordsOf(text)
			for i := 0; i < len(words); i++ {
				date, written, n := dateAt(words[i:])
				if n == 0 {
					continue
				}
				if i += n - 1; !yield(date, written) {
					return
				}
			}
		}
	}
}

// wordsOf returns the words of a text. A hyphen separates the dates of a period if their parts have
// other separators.
func wordsOf(text string) []string {
	var words []string
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return strings.ContainsRune(" ()[]:;,~–—_\u00a0", r)
	}) {
		if strings.ContainsAny(word, "./") {
			words = append(words, strings.Fields(strings.ReplaceAll(word, "-", " "))...)
		} else {
			words = append(words, word)
		}
	}
	return words
}

// dateAt returns the date that the first words are, and their number, or 0.
func dateAt(words []string) (date written.DateText, text string, n int) {
	for _, n := range []int{1, 3} {
		if len(words) < n || !strings.ContainsAny(words[0][:1], "0123456789") && n == 1 {
			continue
		}
		text = strings.Trim(strings.Join(words[:n], " "), ".")
		if date, ok := written.ScanDate(text); ok && date.Orders() != 0 {
			return date, text, n
		}
	}
	return date, "", 0
}
