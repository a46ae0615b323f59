// Package imaging prepares images of pages for the engines. All its functions are pure.
//
// NewSheets makes a Sheet of each page, and Turned or Placed of a Sheet prepares its image for an
// engine. A Frame records the crops and rotations, so that the evidence fits the file.
package imaging

import (
	"image"
	"math"

	"golang.org/x/image/draw"

	"github.com/coffer-budget/coffer/services/ocr/imaging/gray"
)

// ToGray converts an image to gray, and halves it until it has at most the given number of pixels.
// Transparent areas become white. The result shares no memory with src.
func ToGray(src image.Image, pixels int) *image.Gray {
	rectangle := src.Bounds()
	size := image.Rect(0, 0, rectangle.Dx(), rectangle.Dy())
	plane := &image.Gray{Rect: size}
	switch s := src.(type) {
	case *image.Gray:
		plane.Pix, plane.Stride = s.Pix[s.PixOffset(rectangle.Min.X, rectangle.Min.Y):], s.Stride
	case *image.YCbCr:
		// The luma plane of a JPEG is its gray image.
		plane.Pix, plane.Stride = s.Y[s.YOffset(rectangle.Min.X, rectangle.Min.Y):], s.YStride
	default:
		out := image.NewGray(size)
		draw.Draw(out, size, image.White, image.Point{}, draw.Src)
		draw.Draw(out, size, src, rectangle.Min, draw.Over)
		return ShrinkTo(out, pixels)
	}
	if half := ShrinkTo(plane, pixels); half != plane {
		return half
	}
	out := image.NewGray(size)
	for y := range rectangle.Dy() {
		copy(out.Pix[y*out.Stride:][:rectangle.Dx()], plane.Pix[y*plane.Stride:])
	}
	return out
}

// Rotate turns an image by a small angle, in radians, around its center. Uncovered corners become
// white.
func Rotate(img *image.Gray, angle float64) *image.Gray {
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	out := image.NewGray(img.Bounds())
	sin, cos := math.Sincos(angle)
	cx, cy := float64(w)/2, float64(h)/2
	// Each target pixel is mapped back to its source. The other direction would leave holes.
	for y := range h {
		for x := range w {
			dx, dy := float64(x)-cx, float64(y)-cy
			out.Pix[y*out.Stride+x] = sample(img, cx+dx*cos-dy*sin, cy+dx*sin+dy*cos)
		}
	}
	return out
}

// sample interpolates the value at a position between pixels. Outside of the image it is white.
func sample(img *image.Gray, x, y float64) uint8 {
	x0, y0 := int(math.Floor(x)), int(math.Floor(y))
	if x0 < 0 || y0 < 0 || x0+1 >= img.Bounds().Dx() || y0+1 >= img.Bounds().Dy() {
		return 255
	}
	fx, fy := x-float64(x0), y-float64(y0)
	at := y0*img.Stride + x0
	top := float64(img.Pix[at])*(1-fx) + float64(img.Pix[at+1])*fx
	at += img.Stride
	bottom := float64(img.Pix[at])*(1-fx) + float64(img.Pix[at+1])*fx
	return uint8(top*(1-fy) + bottom*fy + 0.5)
}

// ShrinkTo halves an image, by averaging, until it has at most the given number of pixels.
func ShrinkTo(img *image.Gray, pixels int) *image.Gray {
	for img.Bounds().Dx()*img.Bounds().Dy() > pixels {
		img = gray.Halve(img)
	}
	return img
}

// cropped returns an area of the image. For the whole image it returns img itself, not a copy.
func cropped(img *image.Gray, area image.Rectangle) *image.Gray {
	if area == img.Bounds() {
		return img
	}
	out := image.NewGray(image.Rect(0, 0, max(area.Dx(), 1), max(area.Dy(), 1)))
	for y := range area.Dy() {
		copy(out.Pix[y*out.Stride:], img.Pix[(area.Min.Y+y)*img.Stride+area.Min.X:][:area.Dx()])
	}
	return out
}
