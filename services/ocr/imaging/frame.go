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

// On returns the frame on a larger page that shows the page of f at a place.
func (f Frame) On(page, at image.Point) Frame {
	f.Area = image.Rectangle{Min: f.Area.Min, Max: f.Area.Min.Add(f.read())}.Add(at)
	f.Size = page
	return f
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
func (f Frame) Place(box printed.Box) printed.Box {
	read, turned := f.read(), f.Turned()
	// The area was straightened last, so the skew is undone first.
	box = skewed(box, turned, f.Angle)
	switch f.Quarters {
	case 1:
		box = printed.Box{X: box.Y, Y: read.Y - box.X - box.W, W: box.H, H: box.W}
	case 2:
		box = printed.Box{X: read.X - box.X - box.W, Y: read.Y - box.Y - box.H, W: box.W, H: box.H}
	case 3:
		box = printed.Box{X: read.X - box.Y - box.H, Y: box.X, W: box.H, H: box.W}
	}
	box.X, box.Y = box.X+f.Area.Min.X, box.Y+f.Area.Min.Y
	return box
}

// skewed returns the bounding box of a box after the page was rotated around its center.
func skewed(box printed.Box, page image.Point, angle float64) printed.Box {
	if angle == 0 {
		return box
	}
	sin, cos := math.Sincos(angle)
	cx, cy := float64(page.X)/2, float64(page.Y)/2
	dx := float64(box.X) + float64(box.W)/2 - cx
	dy := float64(box.Y) + float64(box.H)/2 - cy
	// Only the sine can be negative, because angles are near maxSkew at most.
	w := float64(box.W)*cos + float64(box.H)*math.Abs(sin)
	h := float64(box.W)*math.Abs(sin) + float64(box.H)*cos
	return printed.Box{
		X: int(cx + dx*cos - dy*sin - w/2), Y: int(cy + dx*sin + dy*cos - h/2),
		W: int(math.Ceil(w)), H: int(math.Ceil(h)),
	}
}
