package imaging

import (
	"cmp"
	"image"
	"math"
	"slices"
)

// tiles has the brightness of the tiles of a photo. label is the number of the area of each tile,
// whose adjacent tiles have a similar brightness.
type tiles struct {
	size, columns, rows int
	bright              []float64
	printed             []bool
	label               []int
}

func newTiles(photo *image.Gray) tiles {
	width, height := photo.Bounds().Dx(), photo.Bounds().Dy()
	size := max(minPaperTile, max(width, height)/paperTiles)
	columns, rows := (width+size-1)/size, (height+size-1)/size
	n := columns * rows
	t := tiles{size, columns, rows, make([]float64, n), make([]bool, n), make([]int, n)}
	for i := range t.bright {
		x, y := i%columns*size, i/columns*size
		t.bright[i] = brightness(photo, x, y, size)
		t.printed[i] = float64(darkest(photo, x, y, size)) < printOnPaper*t.bright[i]
	}
	// Letters and thin bands of ink are narrower than three tiles.
	t.bright = around(around(t.bright, columns, rows, slices.Max), columns, rows, slices.Min)
	return t
}

func darkest(img *image.Gray, x0, y0, tile int) uint8 {
	dark := uint8(255)
	for y := y0; y < min(y0+tile, img.Rect.Dy()); y++ {
		dark = min(dark, slices.Min(img.Pix[y*img.Stride+x0:][:min(tile, img.Rect.Dx()-x0)]))
	}
	return dark
}

// flood labels the area of a tile.
func (t tiles) flood(start int) paperArea {
	area := paperArea{label: start + 1}
	t.label[start] = area.label
	stack := []int{start}
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		area.count++
		x, y := at%t.columns, at/t.columns
		area.bounds = area.bounds.Union(image.Rect(x, y, x+1, y+1))
		for _, d := range directions {
			next, ok := t.beside(at, d, 1)
			if !ok || t.label[next] != 0 {
				continue
			}
			a, b := t.bright[at], t.bright[next]
			if min(a, b) >= evenPaper*max(a, b) {
				t.label[next] = area.label
				stack = append(stack, next)
			}
		}
	}
	return area
}

var directions = []image.Point{{X: 1}, {X: -1}, {Y: 1}, {Y: -1}}

// beside returns the tile at a distance from another one, unless it is outside of the photo.
func (t tiles) beside(at int, direction image.Point, distance int) (int, bool) {
	p := image.Pt(at%t.columns, at/t.columns).Add(direction.Mul(distance))
	return p.Y*t.columns + p.X, p.In(image.Rect(0, 0, t.columns, t.rows))
}

// edges returns the number of directions in which a tile is at the edge of its area, and how many
// of them lead to darker tiles.
func (t tiles) edges(at int) (dark, edge int) {
	for _, d := range directions {
		next, ok := t.beside(at, d, 1)
		if !ok || t.label[next] == t.label[at] {
			continue
		}
		edge++
		// The adjacent tile may have a part of the paper.
		level := t.bright[next]
		if further, ok := t.beside(at, d, 2); ok {
			level = min(level, t.bright[further])
		}
		if level <= besidePaper*t.bright[at] {
			dark++
		}
	}
	return dark, edge
}

// mean returns the mean brightness of the tiles in a rectangle, unless it is outside of the photo.
func (t tiles) mean(in image.Rectangle) (float64, bool) {
	in = in.Intersect(image.Rect(0, 0, t.columns, t.rows))
	sum := 0.0
	for y := in.Min.Y; y < in.Max.Y; y++ {
		for x := in.Min.X; x < in.Max.X; x++ {
			sum += t.bright[y*t.columns+x] / float64(in.Dx()*in.Dy())
		}
	}
	return sum, !in.Empty()
}

func lastIndex(row []int, label int) int {
	for i, l := range slices.Backward(row) {
		if l == label {
			return i
		}
	}
	return -1
}

// hullArea returns the area of the convex hull of points.
func hullArea(points []image.Point) float64 {
	slices.SortFunc(points, func(a, b image.Point) int { return cmp.Or(a.Y-b.Y, a.X-b.X) })
	area := 0
	for range 2 {
		var chain []image.Point
		for _, p := range points {
			for len(chain) > 1 && turn(chain[len(chain)-2], chain[len(chain)-1], p) <= 0 {
				chain = chain[:len(chain)-1]
			}
			chain = append(chain, p)
		}
		for i, p := range chain[1:] {
			area += chain[i].X*p.Y - chain[i].Y*p.X
		}
		slices.Reverse(points)
	}
	return math.Abs(float64(area)) / 2
}

// turn is positive if the way over three points turns to one side, and negative for the other side.
func turn(a, b, c image.Point) int {
	return (b.X-a.X)*(c.Y-a.Y) - (b.Y-a.Y)*(c.X-a.X)
}
