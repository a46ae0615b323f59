package imaging

import (
	"image"
	"math"
)

// maxSkew is the largest corrected skew in radians. Larger angles are corrected by turning the
// page.
const maxSkew = 0.12

// skew returns the angle, in radians, at which the rows of text are most distinct: the sums of ink
// along straight rows vary most.
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

// inkPoints returns the ink pixels of the image scaled down to about the given width, and its size
// at that scale.
func inkPoints(img *image.Gray, width int) (points []image.Point, size image.Point) {
	right, height := img.Bounds().Dx(), img.Bounds().Dy()
	step := max(1, right/width)
	// Print covers at most a tenth of the paper.
	points = make([]image.Point, 0, right*height/(step*step)/10)
	for y := 0; y < height; y += step {
		row := img.Pix[y*img.Stride:][:right]
		for x := 0; x < right; x += step {
			if row[x] < inkLevel {
				points = append(points, image.Pt(x/step, y/step))
			}
		}
	}
	return points, image.Pt(right/step+1, height/step+1)
}

func sharpness(points []image.Point, size image.Point, angle float64) float64 {
	// margin, in rows, is room for rows that the slope moves beyond the page. At the edge they
	// would pile up and count as sharpness of every angle but 0.
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

// sideways reports whether the rows of text may be vertical: columns of pixels are then more
// distinct than rows, in relation to their lengths. It only determines which orientation is tried
// first.
func sideways(white *image.Gray) bool {
	ink := ShrinkTo(white, 1_500_000)
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
