package neural

import (
	"image"

	"github.com/coffer-budget/coffer/services/ocr/imaging/gray"
)

// pyramid is an image and its successive halves. A reduced view samples a half, because single
// pixels of the full size would miss strokes. The halves are computed when a view needs them, so a
// pyramid is not safe for concurrent use.
type pyramid []*image.Gray

// level returns an image that is at most twice as large as a view with the given reduction, and its
// scale.
func (p *pyramid) level(reduction float64) (img *image.Gray, scale float64) {
	n, scale := 0, 1.0
	for ; reduction >= 2 && min((*p)[n].Rect.Dx(), (*p)[n].Rect.Dy()) >= 2; reduction /= 2 {
		if n++; n == len(*p) {
			*p = append(*p, gray.Halve((*p)[n-1]))
		}
		scale /= 2
	}
	return (*p)[n], scale
}

// view samples the area of a quad as an image of the given size, with interpolation. Outside of the
// page, the nearest pixel counts.
func (p *pyramid) view(quad quad, w, h int) *image.Gray {
	img, scale := p.level(min(quad.width()/float64(w), quad.height()/float64(h)))
	out := image.NewGray(image.Rect(0, 0, w, h))
	// Positions refer to the centers of pixels.
	quad = quad.scaled(scale)
	right, below := quad.along.times(1/float64(w)), quad.down.times(1/float64(h))
	row := quad.origin.plus(right.times(0.5)).plus(below.times(0.5)).plus(point{-0.5, -0.5})
	maxX, maxY := float64(img.Rect.Dx()-1), float64(img.Rect.Dy()-1)
	for y := range h {
		at := row
		line := out.Pix[y*out.Stride:][:w]
		for x := range line {
			line[x] = sample(img, min(max(at.x, 0), maxX), min(max(at.y, 0), maxY))
			at = at.plus(right)
		}
		row = row.plus(below)
	}
	return out
}

// sample interpolates between four pixels. The position is inside of the image.
func sample(img *image.Gray, x, y float64) uint8 {
	x0, y0 := int(x), int(y)
	fx, fy := float32(x)-float32(x0), float32(y)-float32(y0)
	at := y0*img.Stride + x0
	right, below := 0, 0
	if x0+1 < img.Rect.Dx() {
		right = 1
	}
	if y0+1 < img.Rect.Dy() {
		below = img.Stride
	}
	top := float32(img.Pix[at])*(1-fx) + float32(img.Pix[at+right])*fx
	bottom := float32(img.Pix[at+below])*(1-fx) + float32(img.Pix[at+below+right])*fx
	return uint8(top*(1-fy) + bottom*fy + 0.5)
}
