package neural

import (
	"fmt"
	"strings"
)

// alphabet maps the recognizer's classes to characters. Most of its thousands of classes are
// Chinese.
type alphabet struct {
	// classes is the number of classes. The first is CTC's blank, and the last the space.
	classes int
	runes   []rune
	// used lists the classes of characters that European receipts print.
	used []int
}

// variants maps characters of Chinese print to the Latin characters of the same form.
var variants = map[rune]rune{
	'，': ',', '。': '.', '：': ':', '；': ';', '（': '(', '）': ')', '！': '!', '？': '?', '％': '%',
	'－': '-', '—': '-', '–': '-', '＋': '+', '＝': '=', '／': '/', '＊': '*', '＃': '#', '＆': '&',
	'＠': '@', '．': '.', '×': 'x', '·': '.', '•': '.',
	'’': '\'', '‘': '\'', '“': '"', '”': '"',
}

// parseAlphabet parses the model's list of characters, one per line. The list has no lines for the
// blank and the space, which are the first and the last class.
func parseAlphabet(text string) (alphabet, error) {
	letters := alphabet{runes: []rune{0}}
	for line := range strings.Lines(text) {
		r := []rune(strings.TrimRight(line, "\r\n"))
		if len(r) != 1 {
			return alphabet{}, fmt.Errorf("line %d of the alphabet has %d characters",
				len(letters.runes), len(r))
		}
		letters.add(r[0])
	}
	letters.add(' ')
	letters.classes = len(letters.runes)
	return letters, nil
}

// add appends a class. Classes of Latin letters, digits, punctuation and the euro sign are in use.
func (a *alphabet) add(r rune) {
	const latin = 0x250
	if v, ok := variants[r]; ok {
		r = v
	}
	if r < latin || r == '€' {
		a.used = append(a.used, len(a.runes))
	}
	a.runes = append(a.runes, r)
}
