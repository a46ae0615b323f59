package printed

import "slices"

// Halves splits a page at the widest vertical gap that no word crosses and that has a fifth of the
// words on each side. Without such a gap both halves are empty.
func (p Page) Halves() (left, right Page) {
	words := slices.Clone(p.Words)
	slices.SortFunc(words, func(a, b Word) int { return a.Box.X - b.Box.X })
	at, widest, end := 0, 0, 0
	for i, w := range words {
		gap := w.Box.X - end
		balanced := 5*i >= len(words) && 5*(len(words)-i) >= len(words)
		if gap > widest && balanced {
			at, widest = i, gap
		}
		end = max(end, w.Box.X+w.Box.W)
	}
	if at == 0 {
		return Page{}, Page{}
	}
	left, right = p, p
	left.Words, right.Words = words[:at], words[at:]
	return left, right
}
