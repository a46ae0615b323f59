package ocr

import (
	"image"
	"image/color"
	"math"

	"golang.org/x/image/draw"
)

// toGray converts an image to gray. Transparent areas become white.
func toGray(src image.Image) *image.Gray {
	b := src.Bounds()
	out := image.NewGray(image.Rect(0, 0, b.Dx(), b.Dy()))
	switch s := src.(type) {
	case *image.Gray:
		for y := range b.Dy() {
			copy(out.Pix[y*out.Stride:y*out.Stride+b.Dx()], s.Pix[s.PixOffset(b.Min.X, b.Min.Y+y):])
		}
	case *image.YCbCr:
		for y := range b.Dy() {
			// The luma plane of a JPEG is its gray image.
			copy(out.Pix[y*out.Stride:y*out.Stride+b.Dx()], s.Y[s.YOffset(b.Min.X, b.Min.Y+y):])
		}
	default:
		draw.Draw(out, out.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
		draw.Draw(out, out.Bounds(), src, b.Min, draw.Over)
	}
	return out
}

// halve scales an image to half its width and height by averaging. It drops an odd last row or column.
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

// rotate turns an image by a small angle, in radians, around its center. Uncovered corners become white.
func rotate(img *image.Gray, angle float64) *image.Gray {
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	out := image.NewGray(img.Bounds())
	sin, cos := math.Sincos(angle)
	cx, cy := float64(w)/2, float64(h)/2
	// Each target pixel is mapped back to its source. In the other direction, rounding would leave holes.
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

// turn rotates an image clockwise by quarters of a full turn. Without a turn it returns img itself, not a copy.
func turn(img *image.Gray, quarters int) *image.Gray {
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

// mirror swaps left and right, which the EXIF data of some cameras requires.
func mirror(img *image.Gray) *image.Gray {
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	out := image.NewGray(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			out.Pix[y*out.Stride+w-1-x] = img.Pix[y*img.Stride+x]
		}
	}
	return out
}

// componentHeights returns the heights in pixels of connected areas of ink that may be letters.
func componentHeights(img *image.Gray) []int {
	var out []int
	for _, l := range inkComponents(img).letters() {
		out = append(out, l.Dy())
	}
	return out
}

// inkComponents returns the connected areas of ink. It joins runs of adjacent rows.
func inkComponents(img *image.Gray) *components {
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	var c components
	var above []inkRun
	for y := range h {
		row := img.Pix[y*img.Stride : y*img.Stride+w]
		var here []inkRun
		for x := 0; x < w; x++ {
			if row[x] >= inkLevel {
				continue
			}
			start := x
			for x < w && row[x] < inkLevel {
				x++
			}
			here = append(here, inkRun{start, x, c.add(start, x, y)})
		}
		c.link(above, here)
		above = here
	}
	return &c
}

// inkRun is a horizontal run of ink pixels and the label of its component.
type inkRun struct{ from, to, label int }

// components is a union-find structure over runs, with the bounding box of each component.
type components struct {
	parent []int
	box    []image.Rectangle
}

// add creates a component from a run of row y and returns its label.
func (c *components) add(from, to, y int) int {
	c.parent = append(c.parent, len(c.parent))
	c.box = append(c.box, image.Rect(from, y, to, y+1))
	return len(c.parent) - 1
}

// root returns the representative of a component. It halves the path to it, so that later calls are short.
func (c *components) root(i int) int {
	for c.parent[i] != i {
		c.parent[i] = c.parent[c.parent[i]]
		i = c.parent[i]
	}
	return i
}

// link joins the components of runs that touch between two adjacent rows, also diagonally. Both lists are sorted by position.
func (c *components) link(above, here []inkRun) {
	j := 0
	for _, r := range here {
		for j < len(above) && above[j].to < r.from {
			j++
		}
		// A run above may also touch the next run of this row, so j stays where it is.
		for k := j; k < len(above) && above[k].from <= r.to; k++ {
			a, b := c.root(above[k].label), c.root(r.label)
			if a != b {
				c.parent[b] = a
				c.box[a] = c.box[a].Union(c.box[b])
			}
		}
	}
}

// letters returns the boxes of components with the proportions of letters, without specks, rules and logos. The limits are in
// pixels: specks are lower than 7, logos higher than 150, and rules wider than three times their height.
func (c *components) letters() []image.Rectangle {
	var out []image.Rectangle
	for i, p := range c.parent {
		if p != i {
			continue
		}
		w, h := c.box[i].Dx(), c.box[i].Dy()
		if h >= 7 && h <= 150 && w >= 2 && w <= 3*h && h <= 8*w {
			out = append(out, c.box[i])
		}
	}
	return out
}
