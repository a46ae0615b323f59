package imaging

import (
	"image"

	"github.com/coffer-budget/coffer/services/ocr/imaging/gray"
)

// Sheet is a page after the steps that both engines need, so that they run once per page.
type Sheet struct {
	// Gray is the printed area of the page as it is in the file, and ink the same area dark on
	// white.
	Gray, ink *image.Gray
	// Frame is the size of the page and the place of the area on it.
	Frame Frame
	// Sideways is set if the rows of text may be vertical.
	Sideways bool
	// Blank is set if nothing on the page has the size of a letter.
	Blank bool
}

// NewSheets returns the sheets of pages.
func NewSheets(pages []*image.Gray) []Sheet {
	out := make([]Sheet, len(pages))
	for i, page := range pages {
		white := whiten(page)
		out[i].Sideways = sideways(white)
		ink := darken(withoutEdges(white))
		letters := inkComponents(ink).letters()
		area := paper(letters, ink.Bounds())
		out[i].Gray, out[i].ink = cropped(page, area), cropped(ink, area)
		out[i].Blank = len(letters) == 0
		out[i].Frame = Frame{Size: page.Bounds().Size(), Area: area}
	}
	return out
}

// Turned returns the sheet turned clockwise by quarters, with its skew corrected.
func (s Sheet) Turned(quarters int) Prepared {
	p := prepare(gray.Turn(s.ink, quarters)).Enlarged(1)
	return p.from(s.Frame, quarters)
}

// Placed returns the sheet turned and straightened as a frame says, which another engine has found.
func (s Sheet) Placed(at Frame) Prepared {
	p := straighten(gray.Turn(s.ink, at.Quarters), at.Angle).Enlarged(1)
	return p.from(at, at.Quarters)
}

// paper returns the area of a page that contains its print. Dust and dark edges on the rest of a
// scanned page cost time.
//
// Letters in adjacent cells of a grid form a group. Small groups are dust, unless they are between
// larger ones or several of them are on the same row: the words of a total are often far apart and
// below an empty row. The area is the whole page if a crop would not save much.
func paper(letters []image.Rectangle, whole image.Rectangle) image.Rectangle {
	heights := make([]int, len(letters))
	for i, l := range letters {
		heights[i] = l.Dy()
	}
	height := int(textHeight(heights))
	if height == 0 {
		return whole
	}
	// Three heights bridge the distance between rows and between words. Amounts far to the right
	// form a separate group.
	grid := newGrid(whole, 3*height)
	for _, l := range letters {
		// Dust is smaller than letters.
		if 2*l.Dy() > height {
			grid.add(l)
		}
	}
	var area image.Rectangle
	var words []letterGroup
	for _, group := range grid.groups() {
		switch {
		case group.letters >= rowLetters:
			area = area.Union(group.area)
		case group.letters > 1:
			words = append(words, group)
		}
	}
	for _, word := range words {
		if lettersOnRow(words, word.area) >= rowLetters {
			area = area.Union(word.area)
		}
	}
	area = area.Inset(-2 * height).Intersect(whole)
	if area.Empty() || 10*area.Dx()*area.Dy() > 7*whole.Dx()*whole.Dy() {
		return whole
	}
	return area
}

// rowLetters is the number of letters that a row with a total has at least.
const rowLetters = 6

func lettersOnRow(words []letterGroup, area image.Rectangle) int {
	n := 0
	for _, w := range words {
		if w.area.Min.Y < area.Max.Y && area.Min.Y < w.area.Max.Y {
			n += w.letters
		}
	}
	return n
}

type grid struct {
	size, columns, rows int
	cells               []letterGroup
}

type letterGroup struct {
	letters int
	area    image.Rectangle
}

func newGrid(page image.Rectangle, size int) grid {
	columns, rows := page.Dx()/size+1, page.Dy()/size+1
	return grid{size, columns, rows, make([]letterGroup, columns*rows)}
}

func (g grid) add(letter image.Rectangle) {
	c := &g.cells[letter.Min.Y/g.size*g.columns+letter.Min.X/g.size]
	c.letters++
	c.area = c.area.Union(letter)
}

// groups joins the cells with letters that touch, also diagonally. It empties the grid.
func (g grid) groups() []letterGroup {
	var out []letterGroup
	for start := range g.cells {
		if g.cells[start].letters == 0 {
			continue
		}
		var group letterGroup
		stack := []int{start}
		for len(stack) > 0 {
			at := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			c := g.cells[at]
			if c.letters == 0 {
				continue
			}
			g.cells[at] = letterGroup{}
			group.letters += c.letters
			group.area = group.area.Union(c.area)
			stack = append(stack, g.neighbors(at)...)
		}
		out = append(out, group)
	}
	return out
}

func (g grid) neighbors(at int) []int {
	var out []int
	x, y := at%g.columns, at/g.columns
	for ny := max(y-1, 0); ny <= min(y+1, g.rows-1); ny++ {
		for nx := max(x-1, 0); nx <= min(x+1, g.columns-1); nx++ {
			out = append(out, ny*g.columns+nx)
		}
	}
	return out
}
