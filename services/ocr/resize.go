package ocr

import (
	"image"
	"math"

	"golang.org/x/image/draw"
)

// resize scales with a filter that keeps thin strokes: averaging downwards, cubic upwards. draw has the filters, and would apply
// them to four colours of 16 bits each: that took more than half of the time that is not the engine's.
func resize(img *image.Gray, w, h int) *image.Gray {
	w, h = max(w, 1), max(h, 1)
	from := img.Bounds().Size()
	if w == from.X && h == from.Y {
		return img
	}
	kernel := draw.CatmullRom
	if w*2 < from.X {
		kernel = draw.BiLinear
	}
	out := image.NewGray(image.Rect(0, 0, w, h))
	columns, rows := mixtures(kernel, from.X, w), mixtures(kernel, from.Y, h)
	line := make([]float64, from.X)
	for y, m := range rows {
		clear(line)
		for i, weight := range m.weights {
			for x, v := range img.Pix[(m.first+i)*img.Stride:][:from.X] {
				line[x] += weight * float64(v)
			}
		}
		row := out.Pix[y*out.Stride:][:w]
		for x, m := range columns {
			sum := 0.0
			for i, v := range line[m.first:][:len(m.weights)] {
				sum += m.weights[i] * v
			}
			// Rounded to 16 bits and cut to 8, as draw does.
			row[x] = uint8(int(min(max(sum, 0)*257+0.5, 0xffff)) >> 8)
		}
	}
	return out
}

// mixture is what a pixel of the new picture is made of: so many neighbours of the old one, from the first on.
type mixture struct {
	first   int
	weights []float64
}

// mixtures are those of all pixels of a line.
func mixtures(kernel *draw.Kernel, from, to int) []mixture {
	out := make([]mixture, to)
	scale := float64(from) / float64(to)
	// Downwards the filter is widened, so that every pixel counts.
	width := max(scale, 1)
	for i := range out {
		middle := (float64(i)+0.5)*scale - 0.5
		first, last := max(int(math.Floor(middle-kernel.Support*width)), 0), min(int(math.Ceil(middle+kernel.Support*width)), from-1)
		together := 0.0
		for j := first; j <= last; j++ {
			weight := 0.0
			if t := math.Abs(float64(j)-middle) / width; t < kernel.Support {
				weight = kernel.At(t)
			}
			out[i].weights = append(out[i].weights, weight)
			together += weight
		}
		out[i].first = first
		for j := range out[i].weights {
			out[i].weights[j] /= together
		}
	}
	return out
}
