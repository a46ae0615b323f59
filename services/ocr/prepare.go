package ocr

import (
	"image"
	"math"
	"slices"

	"github.com/coffer-budget/coffer/services/ocr/receipt"
)

// Recognition works best on white paper with capital letters of 20 to 30 pixels. Smaller ones cost less time.
const (
	targetHeight = 22
	maxScale     = 3.0
	// maxPrepared limits the pixels of an image for the engine, whose time grows with them.
	maxPrepared = 6_000_000
)

// prepared is a page for the engine, and the transformation from the upright page to it.
type prepared struct {
	// ink is the straightened page, not yet scaled.
	ink   *image.Gray
	scale float64
	// angle is the corrected skew in radians.
	angle float64
	// page is the size of the area that is read, after it was turned by quarters.
	page     image.Point
	quarters int
	// whole is the size of the page in the file, and area the part of it that is read, before it was turned.
	whole image.Point
	area  image.Rectangle
	// blank is set if nothing on the page has the size of a letter.
	blank bool
}

// frame returns how boxes of evidence are mapped back to the page in the file.
func (p prepared) frame() frame {
	return frame{size: p.whole, area: p.area, quarters: p.quarters, angle: p.angle}
}

// prepareAt prepares a page with ink on white paper whose place in the image is known.
func prepareAt(ink *image.Gray, at frame) prepared {
	p := straighten(turn(ink, at.quarters), at.angle).enlarged(1)
	p.quarters, p.whole, p.area = at.quarters, at.size, at.area
	return p
}

// prepare corrects the skew of a page with ink on white paper, and chooses the scale at which its letters have targetHeight.
func prepare(ink *image.Gray) prepared {
	angle := skew(ink)
	// A skew below 0.004 radians (0.2 degrees) stays, because rotation costs sharpness.
	if math.Abs(angle) < 0.004 {
		angle = 0
	}
	return straighten(ink, angle)
}

// straighten corrects a known skew, and chooses the scale.
func straighten(ink *image.Gray, angle float64) prepared {
	p := prepared{page: ink.Bounds().Size(), scale: 1, angle: angle}
	if angle != 0 {
		ink = rotate(ink, angle)
	}
	heights := componentHeights(ink)
	height := textHeight(heights)
	p.blank = len(heights) == 0
	// Dot matrix printers print dots, which only touch and form letters at half the size.
	half := halve(ink)
	// joined is in pixels of the full size. Solid letters have the same height at both sizes.
	if joined := 2 * textHeight(componentHeights(half)); joined > 1.5*height && height > 0 {
		height = joined
		ink = resize(half, ink.Bounds().Dx(), ink.Bounds().Dy())
	}
	if height > 0 {
		p.scale = min(maxScale, targetHeight/height)
	}
	w, h := float64(ink.Bounds().Dx()), float64(ink.Bounds().Dy())
	if n := w * h * p.scale * p.scale; n > maxPrepared {
		p.scale *= math.Sqrt(maxPrepared / n)
	}
	p.ink = ink
	return p
}

// enlarged returns the page with its scale multiplied by a factor. A scale near 1 becomes 1, because resampling costs sharpness.
func (p prepared) enlarged(by float64) prepared {
	if p.scale*by > 0.85 && p.scale*by < 1.2 {
		by = 1 / p.scale
	}
	p.scale *= by
	return p
}

// row returns the strip of the page at the height of a box, with a margin above and below as a share of the box's height. The strip
// has the full width of the page, so X coordinates stay valid. The caller replaces Y.
func (p prepared) row(b receipt.Box, share float64) prepared {
	margin := int(float64(b.H) * share)
	p.ink = cropped(p.ink, image.Rect(0, b.Y-margin, p.ink.Bounds().Dx(), b.Y+b.H+margin).Intersect(p.ink.Bounds()))
	return p
}

// scaled returns the image for the engine.
func (p prepared) scaled() *image.Gray {
	size := p.ink.Bounds().Size()
	return resize(p.ink, int(float64(size.X)*p.scale), int(float64(size.Y)*p.scale))
}

// maxSkew is the largest corrected skew in radians. Larger angles are corrected by turning the page.
const maxSkew = 0.12

// skew returns the angle, in radians, at which the rows of text are most distinct: the sums of ink along straight rows vary most.
func skew(img *image.Gray) float64 {
	points, size := inkPoints(img, 700)
	if len(points) < 200 {
		return 0
	}
	best, most := 0.0, 0.0
	try := func(angle float64) {
		if s := sharpness(points, size, angle); s > most {
			best, most = angle, s
		}
	}
	// At 700 columns, a step of fine moves the end of a row by about one pixel.
	const coarse, fine = 0.01, 0.002
	for a := -maxSkew; a <= maxSkew; a += coarse {
		try(a)
	}
	around := best
	for a := around - coarse; a <= around+coarse; a += fine {
		try(a)
	}
	// No correction unless another angle is clearly better, because rotation costs sharpness.
	if sharpness(points, size, 0)*1.02 >= most {
		return 0
	}
	return best
}

// inkPoints returns the ink pixels of the image scaled down to about the given width, and its size at that scale.
func inkPoints(img *image.Gray, width int) (points []image.Point, size image.Point) {
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	step := max(1, w/width)
	// Print covers at most a tenth of the paper.
	points = make([]image.Point, 0, w*h/(step*step)/10)
	for y := 0; y < h; y += step {
		row := img.Pix[y*img.Stride:][:w]
		for x := 0; x < w; x += step {
			if row[x] < inkLevel {
				points = append(points, image.Pt(x/step, y/step))
			}
		}
	}
	return points, image.Pt(w/step+1, h/step+1)
}

// sharpness measures how much the sums of ink along rows at an angle differ from row to row.
func sharpness(points []image.Point, size image.Point, angle float64) float64 {
	// margin, in rows, is room for rows that the slope moves beyond the page. At the edge they would pile up and count as sharpness
	// of every angle but 0.
	const margin = 120
	sums := make([]float64, size.Y+2*margin)
	// down is the vertical offset of each column that makes rows at the angle straight.
	down, slope := make([]int, size.X), math.Tan(angle)
	for x := range down {
		down[x] = margin + int(math.Floor(0.5-float64(x)*slope))
	}
	for _, p := range points {
		if y := p.Y + down[p.X]; y >= 0 && y < len(sums) {
			sums[y]++
		}
	}
	s := 0.0
	for i := 1; i < len(sums); i++ {
		d := sums[i] - sums[i-1]
		s += d * d
	}
	return s
}

// textHeight returns the usual height of a letter in pixels from the heights of components, or 0 if there are too few.
func textHeight(heights []int) float64 {
	if len(heights) < 40 {
		return 0
	}
	slices.Sort(heights)
	// Capitals and digits make up most of a receipt, and are the taller characters.
	return float64(heights[len(heights)*65/100])
}

// sideways reports whether the rows of text may be vertical: columns of pixels are then more distinct than rows, in relation to their
// lengths. It only determines which orientation is tried first, because columns of prices have the same effect.
func sideways(white *image.Gray) bool {
	ink := shrinkTo(white, 1_500_000)
	points, size := inkPoints(ink, 700)
	if len(points) < 200 {
		return false
	}
	across := sharpest(points, size) * float64(size.Y)
	for i, p := range points {
		points[i] = image.Pt(p.Y, p.X)
	}
	return sharpest(points, image.Pt(size.Y, size.X))*float64(size.X) > across*1.5
}

// sharpest returns the largest sharpness over small angles.
func sharpest(points []image.Point, size image.Point) float64 {
	most := 0.0
	for a := -0.08; a <= 0.08; a += 0.01 {
		most = max(most, sharpness(points, size, a))
	}
	return most
}
