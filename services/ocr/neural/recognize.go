package neural

import (
	"errors"
	"fmt"
	"image"
	"math"
	"slices"
	"sync"
)

const (
	// rowHeight is the height of a row of text for the recognizer, in pixels. One position of its
	// output covers stride pixels.
	rowHeight, stride = 48, 8
	// minRow and maxRow limit the width of a row in pixels. The text of a longer one is compressed.
	minRow, maxRow = 64, 2400
	// batchPixels limits the widths of the rows that are recognized at once, because an output has
	// thousands of values per position.
	batchPixels = 2400
)

type row struct {
	area quad
	// image is the area, straightened and scaled to rowHeight.
	image *image.Gray
	// text is nil until the row is recognized, and if it has no characters.
	text []character
}

// character is a recognized character. middle is the position of its middle in pixels of the row.
type character struct {
	r          rune
	confidence float64
	middle     float64
}

func narrower(a, b *row) int { return a.image.Rect.Dx() - b.image.Rect.Dx() }

func (r *row) confidence() float64 {
	sum := 0.0
	for _, c := range r.text {
		sum += c.confidence
	}
	return sum / float64(max(len(r.text), 1))
}

func newRow(page *pyramid, area quad) *row {
	w := int(math.Round(rowHeight * area.width() / max(area.height(), 1)))
	return &row{area: area, image: page.view(area, min(max(w, stride), maxRow), rowHeight)}
}

// recognize reads rows, in batches of similar widths, because the rows of a batch are padded to the
// widest. A batch that fails does not stop the others.
func (e *Engine) recognize(rows []*row) error {
	order := slices.Clone(rows)
	slices.SortStableFunc(order, func(a, b *row) int { return narrower(b, a) })
	var running sync.WaitGroup
	var batches [][]*row
	for len(order) > 0 {
		n := batchSize(order)
		batches = append(batches, order[:n])
		order = order[n:]
	}
	failures := make([]error, len(batches))
	free := make(chan struct{}, max(e.Workers, 1))
	for i, batch := range batches {
		free <- struct{}{}
		running.Go(func() {
			failures[i] = e.recognizeBatch(batch, batch[0].padded())
			<-free
		})
	}
	running.Wait()
	return errors.Join(failures...)
}

// batchSize returns how many of the rows, widest first, form a batch. A much narrower row starts
// another one, because padding costs as much as text.
func batchSize(rows []*row) int {
	width := rows[0].padded()
	n := 1
	for n < len(rows) && (n+1)*width <= batchPixels && rows[n].padded()*5 >= width*4 {
		n++
	}
	return n
}

func (r *row) padded() int { return max(minRow, (r.image.Rect.Dx()+stride-1)/stride*stride) }

func (e *Engine) recognizeBatch(rows []*row, width int) error {
	plane := rowHeight * width
	input := make([]float32, len(rows)*3*plane)
	for i, r := range rows {
		first := input[i*3*plane:][:plane]
		for y := range rowHeight {
			for x, v := range r.image.Pix[y*r.image.Stride:][:r.image.Rect.Dx()] {
				first[y*width+x] = float32(v)/127.5 - 1
			}
		}
		// The three colors are equal. The padding stays 0, as in training.
		copy(input[i*3*plane+plane:], first)
		copy(input[i*3*plane+2*plane:], first)
	}
	n, classes := int64(len(rows)), int64(e.alphabet.classes)
	shape := []int64{n, 3, rowHeight, int64(width)}
	return e.recognizer(input, shape, func(out []float32, shape []int64) error {
		if len(shape) != 3 || shape[1] < 1 || !slices.Equal(shape, []int64{n, shape[1], classes}) ||
			int64(len(out)) != n*shape[1]*classes {
			return fmt.Errorf("the recognizer returned %v for %d rows", shape, len(rows))
		}
		pixels := float64(width) / float64(shape[1])
		for i, r := range rows {
			values := shape[1] * classes
			r.text = e.alphabet.decode(out[int64(i)*values:][:values], pixels)
		}
		return nil
	})
}

// decode returns the characters of one row by CTC: the likeliest class of each position, without
// repetitions and blanks. Classes that no European receipt prints are ignored. pixels is the width
// of a position.
func (a alphabet) decode(out []float32, pixels float64) []character {
	var text []character
	previous := 0
	for at := 0; at*a.classes < len(out); at++ {
		values := out[at*a.classes:][:a.classes]
		best := 0
		for _, class := range a.used {
			if values[class] > values[best] {
				best = class
			}
		}
		switch best {
		case 0:
		case previous:
			last := &text[len(text)-1]
			last.middle += pixels / 2
			last.confidence = max(last.confidence, float64(values[best]))
		default:
			middle := (float64(at) + 0.5) * pixels
			text = append(text, character{a.runes[best], float64(values[best]), middle})
		}
		previous = best
	}
	return text
}
