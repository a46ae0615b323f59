package headings

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// Plausible returns a score for a word that was decoded with a candidate encoding. A known heading
// raises it; symbols and drawing characters inside of a word lower it, and so do a capital letter
// after a small one and letters of two alphabets. ASCII words have 0, because they look the same in
// each candidate.
func Plausible(word string) int {
	ascii := true
	score := 0
	letters, odd := 0, 0
	before := rune(0)
	for _, r := range word {
		if breaksWord(before, r) {
			odd++
		}
		before = r
		switch {
		case r < 0x80:
		case isWordRune(r):
			ascii, letters = false, letters+1
		default:
			ascii, odd = false, odd+1
		}
	}
	if ascii {
		return 0
	}
	if _, known := table[written.Fold(word)]; known {
		score += 20
	}
	runes := []rune(word)
	if letters == len(runes) && !strings.ContainsFunc(word, isOutsideLatin) {
		odd++ // Some letters of a word have accents, but not all.
	}
	if odd > 0 && len(runes) > 2 {
		score -= 8 * odd
	}
	if hasSyllables(word) {
		score += 2
	}
	return score + min(letters, 1)
}

// minSyllables is the number of Japanese syllables that no word of Chinese has in a wrong encoding.
const minSyllables = 3

// hasSyllables reports whether a word has Japanese syllables in a row, of full width.
func hasSyllables(word string) bool {
	n := 0
	for _, r := range word {
		if n++; r < 'ぁ' || r > 'ヾ' || r == '・' {
			n = 0
		}
		if n == minSyllables {
			return true
		}
	}
	return false
}

// isOutsideLatin reports whether a character belongs to another alphabet than ours.
func isOutsideLatin(r rune) bool { return !unicode.Is(unicode.Latin, r) }

// breaksWord reports whether two neighboring characters are letters of different alphabets, a
// capital letter after a small one or a letter after a digit, and not both are ASCII.
func breaksWord(a, b rune) bool {
	if a < utf8.RuneSelf && b < utf8.RuneSelf {
		return false
	}
	if unicode.IsDigit(a) && unicode.Is(unicode.Latin, b) {
		return true // A space without a break, decoded wrongly.
	}
	if !unicode.IsLetter(a) || !unicode.IsLetter(b) {
		return false
	}
	x, y := alphabetOf(a), alphabetOf(b)
	return unicode.IsLower(a) && unicode.IsUpper(b) || x != y && x >= 0 && y >= 0
}

// narrow are the Japanese letters of half the width. They never stand beside Chinese characters.
var narrow = &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0xff66, Hi: 0xff9f, Stride: 1}}}

// alphabets are the letters that never stand beside those of another one. Words of Japanese,
// Chinese and Korean may have Latin letters.
var alphabets = []*unicode.RangeTable{
	unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Hebrew, unicode.Arabic, unicode.Thai,
	narrow,
}

// alphabetOf returns the position of the alphabet of a letter, or -1. Chinese characters belong
// to none.
func alphabetOf(r rune) int {
	return slices.IndexFunc(alphabets, func(letters *unicode.RangeTable) bool {
		return unicode.Is(letters, r)
	})
}

// isWordRune reports whether a character is common in words.
func isWordRune(r rune) bool {
	isWide := r >= 0x3000 && r < 0x3040 || r >= 0xff00 && r < 0xff66
	return unicode.IsLetter(r) && !strings.ContainsRune("ªºƒ", r) || isWide ||
		strings.ContainsRune("€£’–°\u00a0", r)
}
