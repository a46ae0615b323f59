package recognition

import (
	"strings"
	"unicode"

	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

// knownAccents are the only letters beyond ASCII in the neural engine's alphabet.
const knownAccents = "äüàéè"

func unknown(r rune) bool {
	accented := r > unicode.MaxASCII && unicode.IsLetter(r)
	return isCurrencySign(r) || accented && !strings.ContainsRune(knownAccents, r)
}

func isCurrencySign(r rune) bool { return r == '€' || r == '£' }

// withSigns returns the words of the neural engine, with characters that it does not know from the
// words that Tesseract read in the same places. It adds currency signs that only Tesseract read.
func withSigns(words, witness []printed.Word) []printed.Word {
	out := append([]printed.Word(nil), words...)
	for _, text := range witness {
		if !strings.ContainsFunc(text.Text, unknown) {
			continue
		}
		seen := false
		for i := range out {
			if share := overlap(out[i].Box, text.Box); share > 0 {
				seen = true
				if share > 0.5 && sameButSigns(out[i].Text, text.Text) {
					out[i].Text = text.Text
				}
			}
		}
		if !seen && (text.Text == "€" || text.Text == "£") {
			out = append(out, text)
		}
	}
	return out
}

func overlap(a, b printed.Box) float64 {
	w := min(a.X+a.W, b.X+b.W) - max(a.X, b.X)
	h := min(a.Y+a.H, b.Y+b.H) - max(a.Y, b.Y)
	if w <= 0 || h <= 0 {
		return 0
	}
	return float64(w*h) / float64(max(1, min(a.W*a.H, b.W*b.H)))
}

// sameButSigns reports whether a word of the neural engine is the one of the witness, except where
// the witness has characters that the neural engine does not know. A currency sign may be missing,
// but a digit is not mistaken for one.
func sameButSigns(word, witness string) bool {
	if trimmed := strings.TrimFunc(witness, isCurrencySign); trimmed != witness && trimmed == word {
		return true
	}
	a, b := []rune(word), []rune(witness)
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] == b[i] {
			continue
		}
		if !unknown(b[i]) || isCurrencySign(b[i]) && unicode.IsDigit(a[i]) {
			return false
		}
	}
	return true
}
