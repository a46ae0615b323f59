package printed

import "slices"

// Gap returns the middle of the widest vertical gap that no word crosses and that has a fifth of
// the words on each side. It returns false if there is none.
func (p Page) Gap() (x int, ok bool) {
	words := slices.Clone(p.Words)
	slices.SortFunc(words, func(a, b Word) int { return a.Box.X - b.Box.X })
	heights := make([]int, len(words))
	for i, w := range words {
		heights[i] = w.Box.H
	}
	// The spaces between words may be in the same place in all rows, and are narrower.
	widest, end := Median(heights), 0
	for i, w := range words {
		gap := w.Box.X - end
		balanced := 5*i >= len(words) && 5*(len(words)-i) >= len(words)
		if gap > widest && balanced {
			x, widest, ok = w.Box.X-gap/2, gap, true
		}
		end = max(end, w.Box.X+w.Box.W)
	}
	return x, ok
}
