package imaging

import (
	"image"
	"math"
	"slices"

	"github.com/coffer-budget/coffer/services/ocr/imaging/gray"
	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

// Recognition works best on white paper with capital letters of 20 to 30 pixels. Smaller ones cost
// less time.
const (
	// TargetHeight is the height in pixels of capital letters after scaling.
	TargetHeight = 22
	maxScale     = 3.0
	// maxPrepared limits the pixels of an image for the engine.
	maxPrepared = 6_000_000
)

// Prepared is a page for Tesseract, and the transformation from the upright page to it.
type Prepared struct {
	// Scale is the factor by which Scaled enlarges the straightened page.
	Scale float64
	// Size is the size of the area that is read, after it was turned by quarters.
	Size  image.Point
	Blank bool
	// ink is the straightened page, not yet scaled.
	ink      *image.Gray
	angle    float64
	quarters int
	// whole is the size of the page in the file, and area the part of it that is read, before it
	// was turned.
	whole image.Point
	area  image.Rectangle
}

// Frame returns how boxes of evidence are mapped back to the page in the file.
func (p Prepared) Frame() Frame {
	return Frame{Size: p.whole, Area: p.area, Quarters: p.quarters, Angle: p.angle}
}

func (p Prepared) from(at Frame, quarters int) Prepared {
	p.quarters, p.whole, p.area = quarters, at.Size, at.Area
	return p
}

// prepare corrects the skew of a page with ink on white paper, and chooses the scale at which its
// letters have TargetHeight.
func prepare(ink *image.Gray) Prepared {
	angle := skew(ink)
	// A skew below 0.004 radians (0.2 degrees) stays, because rotation costs sharpness.
	if math.Abs(angle) < 0.004 {
		angle = 0
	}
	return straighten(ink, angle)
}

func straighten(ink *image.Gray, angle float64) Prepared {
	prepared := Prepared{Size: ink.Bounds().Size(), Scale: 1, angle: angle}
	if angle != 0 {
		ink = Rotate(ink, angle)
	}
	heights := componentHeights(ink)
	height := textHeight(heights)
	prepared.Blank = len(heights) == 0
	// Dot matrix printers print dots, which only touch and form letters at half the size.
	half := gray.Halve(ink)
	// joined is in pixels of the full size. Solid letters have the same height at both sizes.
	if joined := 2 * textHeight(componentHeights(half)); joined > 1.5*height && height > 0 {
		height = joined
		ink = resize(half, ink.Bounds().Dx(), ink.Bounds().Dy())
	}
	if height > 0 {
		prepared.Scale = min(maxScale, TargetHeight/height)
	}
	w, h := float64(ink.Bounds().Dx()), float64(ink.Bounds().Dy())
	if n := w * h * prepared.Scale * prepared.Scale; n > maxPrepared {
		prepared.Scale *= math.Sqrt(maxPrepared / n)
	}
	prepared.ink = ink
	return prepared
}

// Enlarged returns the page with its scale multiplied by a factor. A scale near 1 becomes 1,
// because resampling costs sharpness.
func (p Prepared) Enlarged(by float64) Prepared {
	if p.Scale*by > 0.85 && p.Scale*by < 1.2 {
		by = 1 / p.Scale
	}
	p.Scale *= by
	return p
}

// Row returns the strip of the page at the height of a box, with a margin above and below as a
// share of the box's height. It has the full width of the page. The caller replaces Y.
func (p Prepared) Row(b printed.Box, share float64) Prepared {
	margin := int(float64(b.H) * share)
	page := p.ink.Bounds()
	strip := image.Rect(0, b.Y-margin, page.Dx(), b.Y+b.H+margin)
	p.ink = cropped(p.ink, strip.Intersect(page))
	return p
}

// Scaled returns the image for the engine.
func (p Prepared) Scaled() *image.Gray {
	size := p.ink.Bounds().Size()
	return resize(p.ink, int(float64(size.X)*p.Scale), int(float64(size.Y)*p.Scale))
}

// Upright scales the boxes of words to the upright page, but does not undo the correction of the
// skew, because rows are found by the height of their words.
func (p Prepared) Upright(words []printed.Word) printed.Page {
	out := printed.Page{Width: p.Size.X, Height: p.Size.Y}
	scaled := func(n int) int { return int(float64(n) / p.Scale) }
	for _, w := range words {
		b := w.Box
		w.Box = printed.Box{X: scaled(b.X), Y: scaled(b.Y), W: scaled(b.W), H: scaled(b.H)}
		out.Words = append(out.Words, w)
	}
	return out
}

// textHeight returns the usual height of a letter in pixels from the heights of components, or 0 if
// there are too few.
func textHeight(heights []int) float64 {
	if len(heights) < 40 {
		return 0
	}
	slices.Sort(heights)
	// Capitals and digits make up most of a receipt, and are the taller characters.
	return float64(heights[len(heights)*65/100])
}
