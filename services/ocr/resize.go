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
		m.add(line, img)
		row := out.Pix[y*out.Stride:][:w]
		for x, m := range columns {
			sum := m.sum(line)
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

// add mixes lines of the picture into one, four at a time: most of the time went into fetching and storing the sums.
func (m mixture) add(line []float64, img *image.Gray) {
	at := func(i int) []uint8 { return img.Pix[(m.first+i)*img.Stride:][:len(line)] }
	i, w := 0, m.weights
	for ; i+4 <= len(w); i += 4 {
		p, q, r, s := at(i), at(i+1), at(i+2), at(i+3)
		for x, sum := range line {
			line[x] = sum + w[i]*float64(p[x]) + w[i+1]*float64(q[x]) + w[i+2]*float64(r[x]) + w[i+3]*float64(s[x])
		}
	}
	for ; i < len(w); i++ {
		for x, v := range at(i) {
			line[x] += w[i] * float64(v)
		}
	}
}

// sum is the mixture of a line's pixels.
func (m mixture) sum(line []float64) float64 {
	v, w := line[m.first:][:len(m.weights)], m.weights
	if len(w) == 4 {
		return w[0]*v[0] + w[1]*v[1] + w[2]*v[2] + w[3]*v[3]
	}
	sum := 0.0
	for i, weight := range w {
		sum += weight * v[i]
	}
	return sum
}

// mixtures are those of all pixels of a line.
func mixtures(kernel *draw.Kernel, from, to int) []mixture {
	out := make([]mixture, to)
	scale := float64(from) / float64(to)
	// Downwards the filter is widened, so that every pixel counts.
	width := max(scale, 1)
	for i := range out {
		middle := (float64(i)+0.5)*scale - 0.5
		// At its ends the filter is 0.
		first := max(int(math.Floor(middle-kernel.Support*width))+1, 0)
		last := min(int(math.Ceil(middle+kernel.Support*width))-1, from-1)
		together := 0.0
		for j := first; j <= last; j++ {
			weight := kernel.At(math.Abs(float64(j)-middle) / width)
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
