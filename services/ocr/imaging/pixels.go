// Package imaging prepares images of pages for the engines. All its functions are pure.
//
//	sheet.go       the steps that both engines need: white paper, and the area with print
//	prepared.go    a page for Tesseract: straightened, at the best scale
//	frame.go       maps boxes of words back to the page as the file shows it
//	whiten.go      removes shadows, dark edges and faint print
//	skew.go        measures the tilt of the rows
//	components.go  finds the letters
//	pixels.go, resize.go  conversion, rotation and scaling
//	fit.go         scales color images for storage and display
//
// NewSheets makes a Sheet of each page, and Turned or Placed of a Sheet prepares its image for an
// engine. A Frame records the crops and rotations, so that the evidence fits the file.
package imaging

import (
	"image"
	"math"

	"golang.org/x/image/draw"
)

// ToGray converts an image to gray, and halves it until it has at most the given number of pixels.
// Transparent areas become white. The result shares no memory with src, whose colors take much
// more.
func ToGray(src image.Image, pixels int) *image.Gray {
	b := src.Bounds()
	size := image.Rect(0, 0, b.Dx(), b.Dy())
	plane := &image.Gray{Rect: size}
	switch s := src.(type) {
	case *image.Gray:
		plane.Pix, plane.Stride = s.Pix[s.PixOffset(b.Min.X, b.Min.Y):], s.Stride
	case *image.YCbCr:
		// The luma plane of a JPEG is its gray image.
		plane.Pix, plane.Stride = s.Y[s.YOffset(b.Min.X, b.Min.Y):], s.YStride
	default:
		out := image.NewGray(size)
		draw.Draw(out, size, image.White, image.Point{}, draw.Src)
		draw.Draw(out, size, src, b.Min, draw.Over)
		return ShrinkTo(out, pixels)
	}
	if half := ShrinkTo(plane, pixels); half != plane {
		return half
	}
	out := image.NewGray(size)
	for y := range b.Dy() {
		copy(out.Pix[y*out.Stride:][:b.Dx()], plane.Pix[y*plane.Stride:])
	}
	return out
}

// halve scales an image to half its width and height by averaging. It drops an odd last row or
// column.
func halve(img *image.Gray) *image.Gray {
	w, h := img.Bounds().Dx()/2, img.Bounds().Dy()/2
	half := image.NewGray(image.Rect(0, 0, w, h))
	for y := range h {
		a, b := img.Pix[2*y*img.Stride:], img.Pix[(2*y+1)*img.Stride:]
		for x := range w {
			half.Pix[y*half.Stride+x] = uint8((int(a[2*x]) + int(a[2*x+1]) + int(b[2*x]) + int(b[2*x+1]) + 2) / 4)
		}
	}
	return half
}

// Rotate turns an image by a small angle, in radians, around its center. Uncovered corners become
// white.
func Rotate(img *image.Gray, angle float64) *image.Gray {
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	out := image.NewGray(img.Bounds())
	sin, cos := math.Sincos(angle)
	cx, cy := float64(w)/2, float64(h)/2
	// Each target pixel is mapped back to its source. In the other direction, rounding would leave
	// holes.
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

// Turn rotates an image clockwise by quarters of a full turn. Without a turn it returns img itself,
// not a copy.
func Turn(img *image.Gray, quarters int) *image.Gray {
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	switch quarters & 3 {
	case 1:
		out := image.NewGray(image.Rect(0, 0, h, w))
		for y := range h {
			for x := range w {
				out.Pix[x*out.Stride+h-1-y] = img.Pix[y*img.Stride+x]
			}
		}
		return out
	case 2:
		out := image.NewGray(image.Rect(0, 0, w, h))
		for y := range h {
			for x := range w {
				out.Pix[(h-1-y)*out.Stride+w-1-x] = img.Pix[y*img.Stride+x]
			}
		}
		return out
	case 3:
		out := image.NewGray(image.Rect(0, 0, h, w))
		for y := range h {
			for x := range w {
				out.Pix[(w-1-x)*out.Stride+y] = img.Pix[y*img.Stride+x]
			}
		}
		return out
	}
	return img
}

// Mirror swaps left and right, which the EXIF data of some cameras requires.
func Mirror(img *image.Gray) *image.Gray {
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	out := image.NewGray(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			out.Pix[y*out.Stride+w-1-x] = img.Pix[y*img.Stride+x]
		}
	}
	return out
}

// ShrinkTo halves an image, by averaging, until it has at most the given number of pixels.
func ShrinkTo(img *image.Gray, pixels int) *image.Gray {
	for img.Bounds().Dx()*img.Bounds().Dy() > pixels {
		img = halve(img)
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
