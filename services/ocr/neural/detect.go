package neural

import (
	"fmt"
	"image"
	"math"
)

const (
	// detectPixels limits the pixels of the page as the detector sees it.
	detectPixels = 800_000
	// detectEdge is a multiple of the page's edges that the detector requires.
	detectEdge = 32
	// inkProbability is the probability above which a pixel belongs to text. boxProbability is the
	// average that a box needs.
	inkProbability, boxProbability = 0.3, 0.6
	// unclip is how much of text's outline a detected area lacks, as the detector was trained:
	// area * unclip / perimeter.
	unclip = 1.5
	// minBox is the shortest side of a detected area in pixels of the detector.
	minBox = 3
	// maxBoxes limits the work for one page, or for one band of a long page. A page of A4 in small
	// print has about 300.
	maxBoxes = 600
)

// trainingColors are the means and deviations of the colors in the training images.
var trainingColors = [3]struct{ mean, deviation float32 }{
	{0.485, 0.229}, {0.456, 0.224}, {0.406, 0.225},
}

// detect returns the areas of the rows of text on a page, in pixels of the page.
func (e *Engine) detect(page *pyramid) ([]quad, error) {
	var out []quad
	for _, b := range bandsOf((*page)[0].Rect.Size()) {
		found, err := e.detectIn(page, b.area)
		if err != nil {
			return nil, err
		}
		for _, q := range found {
			if b.owns(q) {
				out = append(out, q)
			}
		}
	}
	return out, nil
}

// detectIn returns the areas of the rows of text in a part of a page, in pixels of the page.
func (e *Engine) detectIn(page *pyramid, part image.Rectangle) ([]quad, error) {
	size := part.Size()
	scale := min(1, math.Sqrt(detectPixels/float64(size.X*size.Y)))
	up := func(n int) int {
		return max((int(float64(n)*scale)+detectEdge-1)/detectEdge, 1) * detectEdge
	}
	width, height := up(size.X), up(size.Y)
	origin := point{float64(part.Min.X), float64(part.Min.Y)}
	whole := quad{origin, point{float64(width) / scale, 0}, point{0, float64(height) / scale}}
	view := page.view(whole, width, height)
	input := make([]float32, 3*width*height)
	for c, n := range trainingColors {
		plane := input[c*width*height:][:width*height]
		for i, v := range view.Pix {
			plane[i] = (float32(v)/255 - n.mean) / n.deviation
		}
	}
	var quads []quad
	shape := []int64{1, 3, int64(height), int64(width)}
	err := e.detector(input, shape, func(out []float32, shape []int64) error {
		if len(out) != width*height {
			return fmt.Errorf("the detector returned %v for %d x %d pixels", shape, width, height)
		}
		quads = textAreas(out, width, height)
		return nil
	})
	for i := range quads {
		quads[i] = quads[i].scaled(1 / scale)
		quads[i].origin = quads[i].origin.plus(origin)
	}
	return quads, err
}

// textAreas returns the areas of connected pixels of text in a map of probabilities, completed to
// the outline of the text. It fills each area with a stack and not by recursion, whose depth a
// hostile image could choose. probability has width * height values from 0 to 1, row by row.
func textAreas(probability []float32, width, height int) []quad {
	var out []quad
	seen := make([]bool, width*height)
	var stack []int
	for start, p := range probability {
		if seen[start] || p <= inkProbability {
			continue
		}
		var edge []image.Point
		sum, count := 0.0, 0
		seen[start] = true
		stack = append(stack[:0], start)
		for len(stack) > 0 {
			at := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			left, top := at%width, at/width
			sum += float64(probability[at])
			count++
			inside := true
			for ny := max(top-1, 0); ny <= min(top+1, height-1); ny++ {
				for nx := max(left-1, 0); nx <= min(left+1, width-1); nx++ {
					next := ny*width + nx
					if probability[next] <= inkProbability {
						inside = false
						continue
					}
					if !seen[next] {
						seen[next] = true
						stack = append(stack, next)
					}
				}
			}
			if !inside || left == 0 || top == 0 || left == width-1 || top == height-1 {
				edge = append(edge, image.Pt(left, top))
			}
		}
		if sum/float64(count) < boxProbability || len(edge) == 0 {
			continue
		}
		q := smallestQuad(edge)
		if q.height() < minBox {
			continue
		}
		lost := q.width() * q.height() * unclip / (2 * (q.width() + q.height()))
		if out = append(out, q.grown(lost)); len(out) == maxBoxes {
			break
		}
	}
	return out
}
