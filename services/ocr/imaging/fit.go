package imaging

import (
	"image"

	"golang.org/x/image/draw"
)

// Fit scales a color image to at most its size. Transparent areas become white. It computes what
// draw.BiLinear does, but converts and narrows one row at a time: the library's scaler keeps all
// narrowed rows as floats, which takes 300 MB for a scan at 600 dpi.
func Fit(img image.Image, width, h int) *image.RGBA {
	from := img.Bounds().Size()
	columns, rows := mixtures(draw.BiLinear, from.X, width), mixtures(draw.BiLinear, from.Y, h)
	out := image.NewRGBA(image.Rect(0, 0, width, h))
	// lines is a ring of the narrowed rows that the next row of out is mixed from.
	var lines [][]float64
	for _, m := range rows {
		for len(lines) < len(m.weights) {
			lines = append(lines, make([]float64, channels*width))
		}
	}
	row := image.NewRGBA(image.Rect(0, 0, from.X, 1))
	sums := make([]float64, channels*width)
	narrowed := 0
	for line, mixture := range rows {
		for ; narrowed < mixture.first+len(mixture.weights); narrowed++ {
			draw.Draw(row, row.Rect, image.White, image.Point{}, draw.Src)
			draw.Draw(row, row.Rect, img, img.Bounds().Min.Add(image.Pt(0, narrowed)), draw.Over)
			narrow(lines[narrowed%len(lines)], row.Pix, columns)
		}
		clear(sums)
		for i, weight := range mixture.weights {
			for x, v := range lines[(mixture.first+i)%len(lines)] {
				sums[x] += weight * v
			}
		}
		store(out.Pix[line*out.Stride:], sums)
	}
	return out
}

const channels = 3

func narrow(line []float64, row []uint8, columns []mixture) {
	for x, m := range columns {
		var red, green, blue float64
		for i, weight := range m.weights {
			p := row[4*(m.first+i):][:channels]
			red += weight * float64(p[0])
			green += weight * float64(p[1])
			blue += weight * float64(p[2])
		}
		line[channels*x], line[channels*x+1], line[channels*x+2] = red, green, blue
	}
}

func store(row []uint8, line []float64) {
	for x := range len(line) / channels {
		p, c := row[4*x:][:4], line[channels*x:][:channels]
		p[0], p[1], p[2], p[3] = uint8(c[0]+0.5), uint8(c[1]+0.5), uint8(c[2]+0.5), 255
	}
}
