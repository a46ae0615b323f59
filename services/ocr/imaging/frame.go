package imaging

import (
	"image"
	"math"

	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

// Frame is the size of a page as the file shows it, and the steps that were applied before it was
// read.
type Frame struct {
	Size image.Point
	// Area is the part of the page that was read. An empty area is the whole page.
	Area image.Rectangle
	// Quarters is the number of clockwise quarter turns. Angle, in radians, is the skew that was
	// corrected afterwards.
	Quarters int
	Angle    float64
}

func (f Frame) read() image.Point {
	if f.Area.Empty() {
		return f.Size
	}
	return f.Area.Size()
}

// Turned returns the size of the area after it was turned by quarters.
func (f Frame) Turned() image.Point {
	size := f.read()
	if f.Quarters%2 == 1 {
		size.X, size.Y = size.Y, size.X
	}
	return size
}

// Place maps a box on the area as it was read to the page as the file shows it.
func (f Frame) Place(b printed.Box) printed.Box {
	read, turned := f.read(), f.Turned()
	// The area was straightened last, so the skew is undone first.
	b = skewed(b, turned, f.Angle)
	switch f.Quarters {
	case 1:
		b = printed.Box{X: b.Y, Y: read.Y - b.X - b.W, W: b.H, H: b.W}
	case 2:
		b = printed.Box{X: read.X - b.X - b.W, Y: read.Y - b.Y - b.H, W: b.W, H: b.H}
	case 3:
		b = printed.Box{X: read.X - b.Y - b.H, Y: b.X, W: b.H, H: b.W}
	}
	b.X, b.Y = b.X+f.Area.Min.X, b.Y+f.Area.Min.Y
	return b
}

// skewed returns the bounding box of a box after the page was rotated around its center.
func skewed(b printed.Box, page image.Point, angle float64) printed.Box {
	if angle == 0 {
		return b
	}
	sin, cos := math.Sincos(angle)
	cx, cy := float64(page.X)/2, float64(page.Y)/2
	dx := float64(b.X) + float64(b.W)/2 - cx
	dy := float64(b.Y) + float64(b.H)/2 - cy
	// Only the sine can be negative, because angles are near maxSkew at most.
	w := float64(b.W)*cos + float64(b.H)*math.Abs(sin)
	h := float64(b.W)*math.Abs(sin) + float64(b.H)*cos
	return printed.Box{
		X: int(cx + dx*cos - dy*sin - w/2), Y: int(cy + dx*sin + dy*cos - h/2),
		W: int(math.Ceil(w)), H: int(math.Ceil(h)),
	}
}
