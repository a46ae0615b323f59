package printed

import (
	"math"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Line is a row of the receipt from edge to edge. Engines often take the column of prices for a
// separate block. Offsets are bytes of text.
type Line struct {
	Page    int // from 1
	Index   int // position among the lines of all pages
	Words   []Word
	Text    string
	starts  []int // offset of each word in text
	Tokens  []string
	Amounts []Amount
	Kind    Kind
	Height  int  // median height of the words in pixels
	Middle  int  // median of the vertical middles of the words
	plain   bool // from plain text, without pixels
	Exact   bool // see Page.Exact
	Refund  bool // set for a refund, by the signs of its amounts
}

// Lines converts the words of the pages to lines, from top to bottom.
func Lines(pages []Page) []*Line {
	return linesOf(pages, rows)
}

// RowLines converts words of rows that were each recognized alone. The caller gives all words of a
// row the same height, so rows may overlap.
func RowLines(pages []Page) []*Line {
	return linesOf(pages, func(words []Word) [][]Word {
		var out [][]Word
		for i, w := range words {
			if i == 0 || w.Box.Y != words[i-1].Box.Y {
				out = append(out, nil)
			}
			out[len(out)-1] = append(out[len(out)-1], w)
		}
		return out
	})
}

func linesOf(pages []Page, rows func([]Word) [][]Word) []*Line {
	var lines []*Line
	for i, p := range pages {
		for _, words := range rows(p.Words) {
			l := newLine(words, p.Exact)
			l.Page, l.plain, l.Index = i+1, p.Width == 0, len(lines)
			lines = append(lines, l)
		}
	}
	return lines
}

// newLine joins the words, repairs misread digits, and finds tokens and amounts.
func newLine(words []Word, exact bool) *Line {
	line := &Line{Words: words, Exact: exact}
	var builder strings.Builder
	var heights []int
	for i, w := range words {
		if i > 0 {
			builder.WriteByte(' ')
		}
		line.starts = append(line.starts, builder.Len())
		// The repair keeps the length, which Evidence and MinConfidence require.
		builder.WriteString(fixDigits(w.Text))
		heights = append(heights, w.Box.H)
	}
	line.Text = builder.String()
	line.Height, line.Middle = Median(heights), rowMiddle(words)
	line.Tokens = Tokens(line.Text)
	line.Amounts = FindAmounts(line)
	return line
}

// rows groups words whose level is that of their left neighbor. Comparing neighbors instead of
// whole rows follows paper that is bent or slightly skewed.
func rows(words []Word) [][]Word {
	blank := func(w Word) bool { return strings.TrimSpace(w.Text) == "" }
	words = slices.DeleteFunc(slices.Clone(words), blank)
	if len(words) == 0 {
		return nil
	}
	slices.SortStableFunc(words, func(a, b Word) int { return a.Box.X - b.Box.X })
	heights := make([]int, len(words))
	for i, w := range words {
		heights[i] = w.Box.H
	}
	// A limit relative to the typical height keeps large print and dirt from joining rows.
	typical := max(Median(heights), 1)
	level := levels(words, typical)
	var grouped []levelRow
	for i, w := range words {
		best := nearestRow(grouped, w, level[i], typical)
		if best < 0 {
			best = len(grouped)
			grouped = append(grouped, levelRow{})
		}
		row := &grouped[best]
		row.words, row.levels = append(row.words, w), append(row.levels, level[i])
	}
	slices.SortStableFunc(grouped, func(a, b levelRow) int {
		return Median(a.levels) - Median(b.levels)
	})
	out := make([][]Word, len(grouped))
	for i, row := range grouped {
		out[i] = row.words
	}
	return out
}

// levelRow is a row of words with their levels.
type levelRow struct {
	words  []Word
	levels []int
}

// nearestRow returns the index of the row that text continues, or -1.
func nearestRow(rows []levelRow, text Word, level, typical int) int {
	best, nearest := -1, math.MaxFloat64
	for index, row := range rows {
		n := len(row.words)
		last := row.words[n-1]
		// Some boxes extend over the next word. Only a word that ends clearly before that box
		// belongs to another row.
		end := last.Box.X + last.Box.W - text.Box.X
		if end > max(text.Box.W/2, typical/2) && end > text.Box.W+typical/8 {
			continue
		}
		off := math.Abs(float64(row.levels[n-1] - level))
		if n > 1 {
			// A comma or dash is not in the middle of the row, so its left neighbor counts, too.
			// One pixel prefers the direct neighbor.
			off = min(off, math.Abs(float64(row.levels[n-2]-level))+1)
		}
		// limit, in pixels, is half of the taller box, but from 3/8 to 1 of the typical height.
		limit := 0.5 * float64(min(max(last.Box.H, text.Box.H, typical*3/4), typical*2))
		if off < limit && off < nearest {
			best, nearest = index, off
		}
	}
	return best
}

func middle(w Word) int { return w.Box.Y + w.Box.H/2 }

// rowMiddle returns the median of the vertical middles of a row's words.
func rowMiddle(row []Word) int {
	ys := make([]int, len(row))
	for i, w := range row {
		ys[i] = middle(w)
	}
	return Median(ys)
}

// Median returns the upper median, or 0 for no values.
func Median(v []int) int {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	return s[len(s)/2]
}

// Evidence returns the text and the box of the words between two offsets, or of the whole line for
// 0, 0. Plain text has no box.
func (l *Line) Evidence(field string, start, end int) Evidence {
	if end == 0 {
		end = len(l.Text)
	}
	evidence := Evidence{Field: field, Page: l.Page, Text: l.Text[start:end]}
	if l.plain {
		return evidence
	}
	first := true
	for i, w := range l.Words {
		switch {
		case !l.overlaps(i, start, end):
		case first:
			evidence.Box, first = w.Box, false
		default:
			evidence.Box = union(evidence.Box, w.Box)
		}
	}
	return evidence
}

func (l *Line) overlaps(i, start, end int) bool {
	return l.starts[i] < end && l.starts[i]+len(l.Words[i].Text) > start
}

func union(a, b Box) Box {
	x, y := min(a.X, b.X), min(a.Y, b.Y)
	return Box{X: x, Y: y, W: max(a.X+a.W, b.X+b.W) - x, H: max(a.Y+a.H, b.Y+b.H) - y}
}

// MinConfidence returns the lowest confidence of the words between two offsets.
func (l *Line) MinConfidence(start, end int) float64 {
	c := 1.0
	for i, w := range l.Words {
		if l.overlaps(i, start, end) {
			c = min(c, w.Confidence)
		}
	}
	return c
}

// MeanConfidence returns the mean confidence of the line's words.
func (l *Line) MeanConfidence() float64 {
	sum := 0.0
	for _, w := range l.Words {
		sum += w.Confidence / float64(len(l.Words))
	}
	return sum
}

// FromText converts plain text to pages, one per form feed. Every character occupies one cell, so
// that columns keep their positions.
func FromText(text string) []Page {
	var pages []Page
	for part := range strings.SplitSeq(norm.NFC.String(text), "\f") {
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

// textWords returns the words of one line of text. Cells have 10 by 24 pixels, and a tab has the
// width of eight cells.
func textWords(text string, row int) []Word {
	// A box is 16 pixels high. Rows join below half of that, so rows 24 pixels apart stay separate.
	const cell, leading = 10, 24
	var words []Word
	column, start := 0, -1
	var current strings.Builder
	flush := func() {
		if start >= 0 {
			box := Box{X: start * cell, Y: row * leading, W: (column - start) * cell, H: 16}
			words = append(words, Word{Text: current.String(), Confidence: 1, Box: box})
			current.Reset()
			start = -1
		}
	}
	for _, char := range text {
		switch char {
		case ' ', '\t', '\n', '\r', '\u00a0', '\u202f':
			flush()
			if char == '\t' {
				column += 7
			}
		default:
			if start < 0 {
				start = column
			}
			current.WriteRune(char)
		}
		column++
	}
	flush()
	return words
}

// SameRow reports whether two lines of different readings are the same row of the page. The middles
// of their words must be less than the height of a line apart.
func SameRow(a, b *Line) bool {
	distance := a.Middle - b.Middle
	return a.Page == b.Page && max(distance, -distance) < max(a.Height, b.Height)
}

// HasName reports whether a line has at least three letters.
func HasName(l *Line) bool {
	letters := 0
	for _, r := range l.Text {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	return letters >= 3
}
