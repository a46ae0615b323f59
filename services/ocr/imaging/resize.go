package imaging

import (
	"image"
	"math"

	"golang.org/x/image/draw"
)

// resize scales an image with a filter that preserves thin strokes: averaging to reduce, cubic to
// enlarge. The results equal those of package draw, whose scaler computes four colors of 16 bits
// and took more than half of the time outside of the engine.
func resize(img *image.Gray, width, height int) *image.Gray {
	width, height = max(width, 1), max(height, 1)
	from := img.Bounds().Size()
	if width == from.X && height == from.Y {
		return img
	}
	// Enlarging with CatmullRom takes four weights per pixel, the case that sum unrolls.
	kernel := draw.CatmullRom
	if width*2 < from.X {
		kernel = draw.BiLinear
	}
	out := image.NewGray(image.Rect(0, 0, width, height))
	columns, rows := mixtures(kernel, from.X, width), mixtures(kernel, from.Y, height)
	line := make([]float64, from.X)
	for y, m := range rows {
		clear(line)
		m.add(line, img)
		row := out.Pix[y*out.Stride:][:width]
		for x, m := range columns {
			sum := m.sum(line)
			// Rounded to 16 bits and truncated to 8, as draw does.
			row[x] = uint8(int(min(max(sum, 0)*257+0.5, 0xffff)) >> 8)
		}
	}
	return out
}

type mixture struct {
	first   int
	weights []float64
}

// add adds the weighted lines of the image to line, four at a time, because loading and storing the
// sums took most of the time.
func (m mixture) add(line []float64, img *image.Gray) {
	at := func(i int) []uint8 { return img.Pix[(m.first+i)*img.Stride:][:len(line)] }
	i, weights := 0, m.weights
	for ; i+4 <= len(weights); i += 4 {
		p, q, r, s := at(i), at(i+1), at(i+2), at(i+3)
		for x, sum := range line {
			line[x] = sum + weights[i]*float64(p[x]) + weights[i+1]*float64(q[x]) +
				weights[i+2]*float64(r[x]) + weights[i+3]*float64(s[x])
		}
	}
	for ; i < len(weights); i++ {
		for x, v := range at(i) {
			line[x] += weights[i] * float64(v)
		}
	}
}

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

// mixtures returns the mixture of each pixel of a line that is scaled from one length to another.
func mixtures(kernel *draw.Kernel, from, to int) []mixture {
	out := make([]mixture, to)
	scale := float64(from) / float64(to)
	// To reduce, the filter is widened, so that every pixel counts.
	width := max(scale, 1)
	for index := range out {
		// Positions refer to the centers of pixels, at 0.5.
		middle := (float64(index)+0.5)*scale - 0.5
		// The filter is 0 at its ends.
		first := max(int(math.Floor(middle-kernel.Support*width))+1, 0)
		last := min(int(math.Ceil(middle+kernel.Support*width))-1, from-1)
		total := 0.0
		for j := first; j <= last; j++ {
			weight := kernel.At(math.Abs(float64(j)-middle) / width)
			out[index].weights = append(out[index].weights, weight)
			total += weight
		}
		out[index].first = first
		// The edge of the image cuts off weights, so the others must add up to 1 again.
		for j := range out[index].weights {
			out[index].weights[j] /= total
		}
	}
	return out
}
