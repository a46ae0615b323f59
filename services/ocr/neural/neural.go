// Package neural reads text with two neural networks of PaddleOCR: a detector finds the areas of
// text on a page, and a recognizer reads each one. The networks run in ONNX Runtime, in a separate
// process (command ocr-neural). Read never fails because of the content of an image: a page without
// text has no words. Start reading with Engine.Read.
package neural

import (
	"cmp"
	"image"
	"math"
	"slices"
	"time"

	"github.com/coffer-budget/coffer/services/ocr/imaging/gray"
)

// Model applies a neural network to a tensor, and calls use with its output. The output is valid
// only during the call.
type Model func(
	input []float32, shape []int64, use func(output []float32, shape []int64) error,
) error

// Engine reads the words on pages.
type Engine struct {
	// Workers is the number of batches of rows that are recognized at once. The recognizer must
	// allow as many concurrent calls.
	Workers int

	detector, recognizer Model
	alphabet             alphabet
}

// Page is the result of reading a page.
type Page struct {
	// Quarters is the number of clockwise quarter turns that make the page upright. Angle, in
	// radians, is its skew after that.
	Quarters int
	Angle    float64
	// Words has the words of a row in reading order.
	Words []Word
	// Processor is the processor time that the engine took, which package process sets, also after
	// an error.
	Processor time.Duration
}

// Word is a recognized word. Box refers to the page after it was turned by Quarters and
// straightened by Angle. Confidence is the mean of its characters, from 0 to 1.
type Word struct {
	Text       string
	Box        image.Rectangle
	Confidence float64

	area quad
}

// New returns an engine. alphabet is the recognizer's list of characters.
func New(detector, recognizer Model, alphabet string) (*Engine, error) {
	a, err := parseAlphabet(alphabet)
	return &Engine{detector: detector, recognizer: recognizer, alphabet: a}, err
}

const (
	// legible is the mean confidence of sampled rows above which a page is upright.
	legible = 0.85
	// sampled is the number of rows that show whether a page is upside down.
	sampled = 8
	// minConfidence is the mean confidence below which a row is dropped. Print that shines through
	// from the back is mirrored, so its confidence is lower.
	minConfidence = 0.5
)

// Read reads a page in any of four directions. An error means that a network failed.
func (e *Engine) Read(img *image.Gray) (Page, error) {
	out := Page{}
	page := &pyramid{img}
	areas, err := e.detect(page)
	if err != nil {
		return out, err
	}
	if vertical(areas) {
		out.Quarters = 1
		page = &pyramid{gray.Turn(img, 1)}
		if areas, err = e.detect(page); err != nil {
			return out, err
		}
	}
	for i, q := range areas {
		// The direction of a nearly square area is uncertain. It is read like its neighbors.
		if math.Abs(q.along.y) > math.Abs(q.along.x) && q.width() < 2*q.height() {
			areas[i] = quad{q.at(0, 1), q.down.times(-1), q.along}
		}
	}
	rows := make([]*row, len(areas))
	for i, q := range areas {
		rows[i] = newRow(page, q)
	}
	rows, over, err := e.upright(page, rows)
	if err != nil {
		return out, err
	}
	size := (*page)[0].Rect.Size()
	if over {
		out.Quarters += 2
		for _, r := range rows {
			r.area = r.area.opposite(size)
		}
	}
	read := func(r *row) bool { return r.text != nil }
	if err := e.recognize(slices.DeleteFunc(slices.Clone(rows), read)); err != nil {
		return out, err
	}
	rows = slices.DeleteFunc(rows, func(r *row) bool {
		return len(r.text) == 0 || r.confidence() < minConfidence
	})
	out.Angle = skew(rows)
	for _, r := range rows {
		for _, w := range r.words() {
			w.Box = w.area.straightened(size, out.Angle).Intersect(image.Rectangle{Max: size})
			if !w.Box.Empty() {
				out.Words = append(out.Words, w)
			}
		}
	}
	return out, nil
}

func (q quad) opposite(page image.Point) quad {
	origin := point{float64(page.X) - q.origin.x, float64(page.Y) - q.origin.y}
	return quad{origin, q.along.times(-1), q.down.times(-1)}
}

func vertical(areas []quad) bool {
	across, down := 0.0, 0.0
	for _, q := range areas {
		if q.width() < 2*q.height() {
			continue
		}
		if math.Abs(q.along.y) > math.Abs(q.along.x) {
			down += q.width()
		} else {
			across += q.width()
		}
	}
	return down > across
}

// upright reads a sample of the rows, and turns all rows by half a turn if that makes the sample
// more legible. The sample is then recognized already.
func (e *Engine) upright(page *pyramid, rows []*row) (out []*row, turned bool, err error) {
	sample := e.sample(rows)
	if err := e.recognize(sample); err != nil || confidence(sample) > legible {
		return rows, false, err
	}
	over := make([]*row, len(sample))
	for i, r := range sample {
		over[i] = newRow(page, r.area.reversed())
	}
	if err := e.recognize(over); err != nil || confidence(over) <= confidence(sample) {
		return rows, false, err
	}
	for _, r := range rows {
		if i := slices.Index(sample, r); i >= 0 {
			out = append(out, over[i])
		} else {
			out = append(out, newRow(page, r.area.reversed()))
		}
	}
	return out, true, nil
}

// sample returns some rows of usual length. The longest would take the most time.
func (e *Engine) sample(rows []*row) []*row {
	byWidth := slices.Clone(rows)
	slices.SortStableFunc(byWidth, narrower)
	from := max(0, min(len(byWidth)*2/3, len(byWidth)-sampled))
	return byWidth[from:min(from+sampled, len(byWidth))]
}

func confidence(rows []*row) float64 {
	sum := 0.0
	for _, r := range rows {
		sum += r.confidence()
	}
	return sum / float64(max(len(rows), 1))
}

// skew returns the median angle of the rows, weighted by their widths. Short rows are ignored,
// because the angle of an area that is nearly square is arbitrary.
func skew(rows []*row) float64 {
	var wide []quad
	all := 0.0
	for _, r := range rows {
		if q := r.area; q.width() > 3*q.height() {
			wide = append(wide, q)
			all += q.width()
		}
	}
	slices.SortFunc(wide, func(a, b quad) int { return cmp.Compare(a.angle(), b.angle()) })
	for _, q := range wide {
		if all -= 2 * q.width(); all <= 0 {
			return q.angle()
		}
	}
	return 0
}
