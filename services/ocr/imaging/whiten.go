package imaging

import (
	"image"
	"slices"

	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

// whiten divides each pixel by the brightness of the surrounding paper, which removes shadows and
// tints but not the ink.
func whiten(img *image.Gray) *image.Gray {
	// tile is the edge of a tile in pixels. The light on the paper varies slowly, so it is measured
	// per tile and interpolated.
	const tile = 32
	rectangle := img.Bounds()
	cols, rows := (rectangle.Dx()+tile-1)/tile, (rectangle.Dy()+tile-1)/tile
	paper := make([]float64, cols*rows)
	for ty := range rows {
		for tx := range cols {
			paper[ty*cols+tx] = brightness(img, tx*tile, ty*tile, tile)
		}
	}
	paper = spread(paper, cols, rows)
	out := image.NewGray(image.Rect(0, 0, rectangle.Dx(), rectangle.Dy()))
	across := between(rectangle.Dx(), tile, cols)
	for y, down := range between(rectangle.Dy(), tile, rows) {
		above, below := paper[down.from*cols:][:cols], paper[down.to*cols:][:cols]
		row := out.Pix[y*out.Stride:][:len(across)]
		for x, v := range img.Pix[y*img.Stride:][:len(across)] {
			m := across[x]
			top := above[m.from]*(1-m.share) + above[m.to]*m.share
			bottom := below[m.from]*(1-m.share) + below[m.to]*m.share
			// Paper becomes 250. The divisor is at least 40, which limits the amplification of dark
			// areas.
			bright := float64(v) * 250 / max(top*(1-down.share)+bottom*down.share, 40)
			row[x] = uint8(min(bright, 255))
		}
	}
	return out
}

// midway is the position of a pixel between the centers of two tiles, as a share of their distance.
type midway struct {
	from, to int
	share    float64
}

// between returns the positions of n pixels. The center of tile t is at pixel (t+0.5)*tile. Before
// the first and after the last center, one tile counts alone.
func between(n, tile, tiles int) []midway {
	out := make([]midway, n)
	for i := range out {
		at := min(max(float64(i)/float64(tile)-0.5, 0), float64(tiles-1))
		from := int(at)
		out[i] = midway{from: from, to: min(from+1, tiles-1), share: at - float64(from)}
	}
	return out
}

// brightness returns the 90th percentile of a tile: the brightness of the paper, unless ink covers
// the tile.
func brightness(img *image.Gray, x0, y0, tile int) float64 {
	var histogram [256]int
	n := 0
	b := img.Bounds()
	for y := y0; y < min(y0+tile, b.Dy()); y += 2 {
		for x := x0; x < min(x0+tile, b.Dx()); x += 2 {
			histogram[img.Pix[y*img.Stride+x]]++
			n++
		}
	}
	left := n / 10
	for v := 255; v > 0; v-- {
		left -= histogram[v]
		if left < 0 {
			return float64(v)
		}
	}
	return 0
}

// spread replaces each tile by an upper percentile of its neighborhood, then smooths, so that large
// type or a reflection does not determine the brightness of the paper.
func spread(values []float64, cols, rows int) []float64 {
	middle := func(near []float64) float64 {
		slices.Sort(near)
		return near[len(near)*2/3]
	}
	return around(around(values, cols, rows, middle), cols, rows, func(near []float64) float64 {
		sum := 0.0
		for _, n := range near {
			sum += n
		}
		return sum / float64(len(near))
	})
}

func around(values []float64, cols, rows int, join func([]float64) float64) []float64 {
	out := make([]float64, len(values))
	var near []float64
	for y := range rows {
		for x := range cols {
			near = near[:0]
			for dy := max(0, y-1); dy <= min(rows-1, y+1); dy++ {
				for dx := max(0, x-1); dx <= min(cols-1, x+1); dx++ {
					near = append(near, values[dy*cols+dx])
				}
			}
			out[y*cols+x] = join(near)
		}
	}
	return out
}

// withoutEdges whitens dark areas that touch the edge of the image, such as the table around the
// paper. It changes img.
func withoutEdges(img *image.Gray) *image.Gray {
	width, height := img.Bounds().Dx(), img.Bounds().Dy()
	// dark is the stack of the flood fill. A visited pixel is white already, so none is pushed
	// twice.
	var dark []image.Point
	visit := func(x, y int) {
		if x >= 0 && y >= 0 && x < width && y < height && img.Pix[y*img.Stride+x] < inkLevel {
			img.Pix[y*img.Stride+x] = 255
			dark = append(dark, image.Pt(x, y))
		}
	}
	for x := range width {
		visit(x, 0)
		visit(x, height-1)
	}
	for y := range height {
		visit(0, y)
		visit(width-1, y)
	}
	for len(dark) > 0 {
		p := dark[len(dark)-1]
		dark = dark[:len(dark)-1]
		visit(p.X-1, p.Y)
		visit(p.X+1, p.Y)
		visit(p.X, p.Y-1)
		visit(p.X, p.Y+1)
	}
	return img
}

// darken stretches faint print to black. It changes img.
func darken(img *image.Gray) *image.Gray {
	// tile is in pixels, and the others in gray levels. A tile has print if its range exceeds
	// contrast. Print up to fair is dark enough.
	const tile, contrast, fair = 12, 45, 70
	var darkest []int
	for y := 0; y+tile <= img.Bounds().Dy(); y += tile {
		for x := 0; x+tile <= img.Bounds().Dx(); x += tile {
			low, high := uint8(255), uint8(0)
			for dy := 0; dy < tile; dy += 2 {
				for dx := range tile {
					v := img.Pix[(y+dy)*img.Stride+x+dx]
					low, high = min(low, v), max(high, v)
				}
			}
			if int(high)-int(low) > contrast {
				darkest = append(darkest, int(low))
			}
		}
	}
	dark := printed.Median(darkest)
	if dark <= fair {
		return img
	}
	for i, v := range img.Pix {
		// The scale maps dark to fair/2, and the paper, 250, to itself.
		img.Pix[i] = uint8(max(0, min(255, (int(v)-dark)*(250-fair/2)/(250-dark)+fair/2)))
	}
	return img
}

// inkLevel is the gray value below which a pixel of whitened paper is ink.
const inkLevel = 150
