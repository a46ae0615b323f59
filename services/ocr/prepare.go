package ocr

import (
	"image"
	"math"
	"slices"

	"github.com/coffer-budget/coffer/services/ocr/receipt"
)

// Recognition works best on capitals of 20 to 30 pixels, on paper that is white; the smaller ones cost less time.
const (
	targetHeight = 22
	maxScale     = 3.0
	// maxPrepared bounds what is handed to the engine: its time grows with the pixels.
	maxPrepared = 6_000_000
)

// prepared is a picture as the engine should see it, and how to get back from it to the upright page.
type prepared struct {
	ink   *image.Gray
	scale float64
	angle float64
	// page is the size of the page, after it was turned by quarters.
	page     image.Point
	quarters int
	// bare: there is nothing on it of a letter's size.
	bare bool
}

func (p prepared) frame() frame {
	shown := p.page
	if p.quarters%2 == 1 {
		shown.X, shown.Y = shown.Y, shown.X
	}
	return frame{size: shown, quarters: p.quarters, angle: p.angle}
}

// prepare straightens the lines of a page that is nothing but ink on white, and brings the type to size.
func prepare(ink *image.Gray) prepared {
	p := prepared{page: ink.Bounds().Size(), scale: 1}
	if angle := skew(ink); math.Abs(angle) >= 0.004 {
		p.angle = angle
		ink = rotate(ink, angle)
	}
	heights := componentHeights(ink)
	height := textHeight(heights)
	p.bare = len(heights) == 0
	// Needles print dots: only at half the size do they touch and make letters.
	half := halve(ink)
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

// enlarged is the same page for an engine that is to see the type larger by a factor.
func (p prepared) enlarged(by float64) prepared {
	if p.scale*by > 0.85 && p.scale*by < 1.2 {
		by = 1 / p.scale
	}
	p.scale *= by
	return p
}

// row is the part of the page level with a box, with some air above and below.
func (p prepared) row(b receipt.Box, share float64) prepared {
	air := int(float64(b.H) * share)
	area := image.Rect(0, b.Y-air, p.ink.Bounds().Dx(), b.Y+b.H+air).Intersect(p.ink.Bounds())
	row := image.NewGray(image.Rect(0, 0, max(area.Dx(), 1), max(area.Dy(), 1)))
	for y := range area.Dy() {
		copy(row.Pix[y*row.Stride:], p.ink.Pix[(area.Min.Y+y)*p.ink.Stride:][:area.Dx()])
	}
	p.ink = row
	return p
}

// picture is what the engine is given.
func (p prepared) picture() *image.Gray {
	size := p.ink.Bounds().Size()
	return resize(p.ink, int(float64(size.X)*p.scale), int(float64(size.Y)*p.scale))
}

// maxSkew is how far a picture may be off, in radians; more is a matter of turning the page.
const maxSkew = 0.12

// skew finds the angle at which the rows of text stand out most: sums along straight rows vary more than across them.
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
	const coarse, fine = 0.01, 0.002
	for a := -maxSkew; a <= maxSkew; a += coarse {
		try(a)
	}
	around := best
	for a := around - coarse; a <= around+coarse; a += fine {
		try(a)
	}
	// Straight wins unless another angle is clearly better: rotating costs sharpness.
	if sharpness(points, size, 0)*1.02 >= most {
		return 0
	}
	return best
}

// inkPoints are the ink's pixels on the picture shrunk to a width, and the size that it has then.
func inkPoints(img *image.Gray, width int) (points []image.Point, size image.Point) {
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	step := max(1, w/width)
	// Print covers a tenth of the paper or less.
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

func sharpness(points []image.Point, size image.Point, angle float64) float64 {
	const margin = 120
	sums := make([]float64, size.Y+2*margin)
	// down is how far the points of each column go down when rows at the angle are made straight.
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

// textHeight is the usual height of a letter, from those of the pieces of ink that touch; 0 when there are too few.
func textHeight(heights []int) float64 {
	if len(heights) < 40 {
		return 0
	}
	slices.Sort(heights)
	// Capitals and digits, which are most of a receipt, are the taller ones of its letters.
	return float64(heights[len(heights)*65/100])
}

// sideways tells whether the rows of text may run up and down: then the columns of pixels stand out more than the rows, in
// relation to how many pixels there are in each. The edges of prices do so too; what comes out of reading decides.
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

func sharpest(points []image.Point, size image.Point) float64 {
	most := 0.0
	for a := -0.08; a <= 0.08; a += 0.01 {
		most = max(most, sharpness(points, size, a))
	}
	return most
}
