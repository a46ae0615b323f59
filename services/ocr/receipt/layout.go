package receipt

import (
	"math"
	"slices"
	"strings"
)

// line is a row of the receipt, from edge to edge: engines like to take the column of prices for a block of its own.
type line struct {
	page    int
	index   int
	words   []Word
	text    string
	starts  []int // where each word begins in text
	tokens  []string
	amounts []amount
	kind    kind
	height  int
	plain   bool
	exact   bool
}

func layout(pages []Page) []*line {
	var lines []*line
	for i, p := range pages {
		for _, words := range rows(p.Words) {
			l := newLine(words, p.Exact)
			l.page, l.plain, l.index = i+1, p.Width == 0, len(lines)
			lines = append(lines, l)
		}
	}
	return lines
}

// strips are rows that were each looked at alone: words at the same height stand in one, however they overlap.
func strips(pages []Page) []*line {
	var lines []*line
	for i, p := range pages {
		for start := 0; start < len(p.Words); {
			end := start + 1
			for end < len(p.Words) && p.Words[end].Box.Y == p.Words[start].Box.Y {
				end++
			}
			l := newLine(p.Words[start:end], p.Exact)
			l.page, l.plain, l.index = i+1, p.Width == 0, len(lines)
			lines, start = append(lines, l), end
		}
	}
	return lines
}

func newLine(words []Word, exact bool) *line {
	l := &line{words: words, exact: exact}
	var b strings.Builder
	var heights []int
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		l.starts = append(l.starts, b.Len())
		b.WriteString(fixDigits(w.Text))
		heights = append(heights, w.Box.H)
	}
	l.text = b.String()
	l.height = median(heights)
	l.tokens = tokens(l.text)
	l.amounts = findAmounts(l)
	return l
}

// rows groups words whose middles are level with their left neighbour's. Comparing neighbours, not whole rows, follows
// paper that is bent or still a little askew.
func rows(words []Word) [][]Word {
	words = slices.DeleteFunc(slices.Clone(words), func(w Word) bool { return strings.TrimSpace(w.Text) == "" })
	if len(words) == 0 {
		return nil
	}
	slices.SortStableFunc(words, func(a, b Word) int { return a.Box.X - b.Box.X })
	heights := make([]int, len(words))
	for i, w := range words {
		heights[i] = w.Box.H
	}
	typical := max(median(heights), 1)
	var out [][]Word
	for _, w := range words {
		if best := level(out, w, typical); best >= 0 {
			out[best] = append(out[best], w)
		} else {
			out = append(out, []Word{w})
		}
	}
	slices.SortStableFunc(out, func(a, b []Word) int { return rowMiddle(a) - rowMiddle(b) })
	return out
}

func level(rows [][]Word, w Word, typical int) int {
	best, nearest := -1, math.MaxFloat64
	for i, row := range rows {
		last := row[len(row)-1]
		// Some boxes reach over the next word; that it ends further right tells it from one of another row.
		if end := last.Box.X + last.Box.W; end > w.Box.X+max(w.Box.W/2, typical/2) && end > w.Box.X+w.Box.W+typical/8 {
			continue
		}
		off := math.Abs(float64(middle(last) - middle(w)))
		if n := len(row); n > 1 {
			// A comma or dash sits off the middle: its left neighbour may know better.
			off = min(off, math.Abs(float64(middle(row[n-2])-middle(w)))+1)
		}
		limit := 0.5 * float64(min(max(last.Box.H, w.Box.H, typical*3/4), typical*2))
		if off < limit && off < nearest {
			best, nearest = i, off
		}
	}
	return best
}

func middle(w Word) int { return w.Box.Y + w.Box.H/2 }

func rowMiddle(row []Word) int {
	ys := make([]int, len(row))
	for i, w := range row {
		ys[i] = middle(w)
	}
	return median(ys)
}

func median(v []int) int {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	return s[len(s)/2]
}

// evidence is the part of the line between two offsets of its text, or all of it for 0, 0.
func (l *line) evidence(field string, start, end int) Evidence {
	if end == 0 {
		end = len(l.text)
	}
	e := Evidence{Field: field, Page: l.page, Text: l.text[start:end]}
	if l.plain {
		return e
	}
	first := true
	for i, w := range l.words {
		if l.starts[i] >= end || l.starts[i]+len(w.Text) <= start {
			continue
		}
		if first {
			e.Box, first = w.Box, false
			continue
		}
		e.Box = union(e.Box, w.Box)
	}
	return e
}

func union(a, b Box) Box {
	x, y := min(a.X, b.X), min(a.Y, b.Y)
	return Box{X: x, Y: y, W: max(a.X+a.W, b.X+b.W) - x, H: max(a.Y+a.H, b.Y+b.H) - y}
}

// certainty is the least sure word of a stretch of the line.
func (l *line) certainty(start, end int) float64 {
	c := 1.0
	for i, w := range l.words {
		if l.starts[i] < end && l.starts[i]+len(w.Text) > start {
			c = min(c, w.Confidence)
		}
	}
	return c
}

// sureness is that of the line's words on average.
func (l *line) sureness() float64 {
	sum := 0.0
	for _, w := range l.words {
		sum += w.Confidence / float64(len(l.words))
	}
	return sum
}

// FromText lays plain text out as a page: every character is a cell, so that columns keep their place.
func FromText(text string) []Page {
	var pages []Page
	for part := range strings.SplitSeq(text, "\f") {
		p := Page{Exact: true}
		row := 0
		for s := range strings.Lines(part) {
			p.Words = append(p.Words, textWords(s, row)...)
			row++
		}
		if len(p.Words) > 0 {
			pages = append(pages, p)
		}
	}
	return pages
}

func textWords(s string, row int) []Word {
	const cell, leading = 10, 24
	var words []Word
	column, start := 0, -1
	var current strings.Builder
	flush := func() {
		if start >= 0 {
			words = append(words, Word{Text: current.String(), Confidence: 1, Box: Box{X: start * cell, Y: row * leading, W: (column - start) * cell, H: 16}})
			current.Reset()
			start = -1
		}
	}
	for _, r := range s {
		switch r {
		case ' ', '\t', '\n', '\r', '\u00a0', '\u202f':
			flush()
			if r == '\t' {
				column += 7
			}
		default:
			if start < 0 {
				start = column
			}
			current.WriteRune(r)
		}
		column++
	}
	flush()
	return words
}
