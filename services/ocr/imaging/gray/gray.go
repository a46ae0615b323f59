// Package gray has the exact transformations of gray images, for the packages imaging and neural.
package gray

import "image"

// Halve scales an image to half its width and height by averaging. It drops an odd last row or
// column.
func Halve(img *image.Gray) *image.Gray {
	w, h := img.Rect.Dx()/2, img.Rect.Dy()/2
	half := image.NewGray(image.Rect(0, 0, w, h))
	for y := range h {
		a, b := img.Pix[2*y*img.Stride:], img.Pix[(2*y+1)*img.Stride:]
		for x := range w {
			sum := int(a[2*x]) + int(a[2*x+1]) + int(b[2*x]) + int(b[2*x+1])
			half.Pix[y*half.Stride+x] = uint8((sum + 2) / 4)
		}
	}
	return half
}

// Turn rotates an image clockwise by quarters of a full turn. Without a turn it returns img itself,
// not a copy.
func Turn(img *image.Gray, quarters int) *image.Gray {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	switch quarters & 3 {
	case 1:
		return moved(img, image.Pt(h, w), h-1, h, -1)
	case 2:
		return moved(img, image.Pt(w, h), w*h-1, -1, -w)
	case 3:
		return moved(img, image.Pt(h, w), (w-1)*h, -h, 1)
	}
	return img
}

// Mirror swaps left and right.
func Mirror(img *image.Gray) *image.Gray {
	w := img.Rect.Dx()
	return moved(img, img.Rect.Size(), w-1, -1, w)
}

// moved returns an image of a size with the pixels of img: the upper left one at index first, and
// the others at the distance right from their left and down from their upper neighbor.
func moved(img *image.Gray, size image.Point, first, right, down int) *image.Gray {
	out := image.NewGray(image.Rectangle{Max: size})
	for y := range img.Rect.Dy() {
		at := first + y*down
		for _, v := range img.Pix[y*img.Stride:][:img.Rect.Dx()] {
			out.Pix[at] = v
			at += right
		}
	}
	return out
}
