package printed

import (
	"maps"
	"slices"
	"strings"

	"github.com/coffer-budget/coffer/services/ocr/receipt/vocabulary"
)

// defaultLanguage is the language of a receipt whose words are in none.
const defaultLanguage = "eng"

var recognizable = recognizableWords()

func recognizableWords() map[string]Phrases {
	out := map[string]Phrases{}
	for language, words := range vocabulary.Recognizable() {
		out[language] = foldedPhrases(words)
	}
	return out
}

// Language returns the engine's code for the language of a receipt: the language whose words occur
// on the most lines. Of equal languages it prefers the default.
func Language(pages []Page) string {
	lines := Lines(pages)
	best, most := defaultLanguage, countLines(lines, recognizable[defaultLanguage])
	for _, language := range slices.Sorted(maps.Keys(recognizable)) {
		if n := countLines(lines, recognizable[language]); n > most {
			best, most = language, n
		}
	}
	return best
}

func countLines(lines []*Line, words Phrases) int {
	n := 0
	for _, l := range lines {
		if words.Has(l.Tokens) {
			n++
		}
	}
	return n
}

// Blank reports whether the pages have fewer than three words with some confidence, too few for a
// receipt in any language.
func Blank(pages []Page) bool {
	words := 0
	for _, p := range pages {
		for _, w := range p.Words {
			if w.Confidence > 0.3 && len(strings.TrimSpace(w.Text)) >= 2 {
				words++
			}
		}
	}
	return words < 3
}
