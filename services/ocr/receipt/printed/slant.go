package printed

import (
	"math"
	"slices"
)

// A page is straightened as a whole, but the rows of a folded or bent paper have different slants.
// A price far to the right of its name would then be level with the name of another row.

const (
	// minSlant is the slant of a row, as a slope, that is corrected. Boxes of straight rows differ
	// by less.
	minSlant = 0.012
	// slantRows is the distance, in heights of a word, to which rows have about the same slant.
	slantRows = 4
	// minSlants is the number of pairs of words that show a slant.
	minSlants = 5
)

// slant is the slope between two adjacent words of a row, and the height of the row at the center
// of the page. Longer pairs show the slope more exactly.
type slant struct {
	at            int
	slope, weight float64
}

// levels returns the vertical middle of each word as if its row was horizontal. The words are
// sorted from left to right, and typical is their median height.
func levels(words []Word, typical int) []int {
	left, right := words[0].Box.X, 0
	for _, w := range words {
		right = max(right, w.Box.X+w.Box.W)
	}
	center := (left + right) / 2
	slants := slantsOf(words, center, typical)
	// A row with many words needs its slant once.
	known := map[int]float64{}
	slope := func(at int) float64 {
		if _, ok := known[at]; !ok {
			known[at] = slantAt(slants, at, typical)
		}
		return known[at]
	}
	out := make([]int, len(words))
	for i, w := range words {
		offset := float64(w.Box.X + w.Box.W/2 - center)
		// The row has its slant at its center, and the center is known only with the slant.
		out[i] = middle(w)
		for range 3 {
			out[i] = middle(w) - int(math.Round(slope(out[i])*offset))
		}
	}
	return out
}

// slantsOf returns the slants of adjacent words, from top to bottom.
func slantsOf(words []Word, center, typical int) []slant {
	var out []slant
	for i, w := range words {
		end := w.Box.X + w.Box.W
		for _, next := range words[i+1:] {
			if next.Box.X > end+2*typical {
				break
			}
			off := rise(w.Box, next.Box)
			if next.Box.X < end-typical/2 || 2*max(off, -off) > typical {
				continue
			}
			distance := float64(next.Box.X + next.Box.W/2 - w.Box.X - w.Box.W/2)
			if distance > 0 {
				slope := float64(off) / distance
				at := middle(w) - int(slope*float64(w.Box.X+w.Box.W/2-center))
				out = append(out, slant{at, slope, distance})
			}
			break
		}
	}
	slices.SortFunc(out, func(a, b slant) int { return a.at - b.at })
	return out
}

// rise returns the vertical distance of two words: that of their tops or of their bottoms,
// whichever is less. Letters such as p and h extend the boxes of straight rows at one end.
func rise(a, b Box) int {
	top, bottom := b.Y-a.Y, b.Y+b.H-a.Y-a.H
	if max(top, -top) < max(bottom, -bottom) {
		return top
	}
	return bottom
}

// slantAt returns the weighted median of the slants near a height, or 0 if it is small or
// uncertain.
func slantAt(sorted []slant, at, typical int) float64 {
	first := func(y int) int {
		i, _ := slices.BinarySearchFunc(sorted, y, func(s slant, y int) int { return s.at - y })
		return i
	}
	near := slices.Clone(sorted[first(at-slantRows*typical):first(at+slantRows*typical)])
	if len(near) < minSlants {
		return 0
	}
	slices.SortFunc(near, func(a, b slant) int {
		return int(math.Copysign(1, a.slope-b.slope))
	})
	left := 0.0
	for _, s := range near {
		left += s.weight / 2
	}
	for _, s := range near {
		if left -= s.weight; left <= 0 {
			if math.Abs(s.slope) < minSlant {
				return 0
			}
			return s.slope
		}
	}
	return 0
}
