package ocr

import (
	"context"
	"image"
	"time"

	"github.com/coffer-budget/coffer/services/ocr/receipt"
)

// local is the engine that runs on this machine: Tesseract and the rules of package receipt.
type local struct {
	engine tesseract
	now    func() time.Time
}

// pass is one set of parameters for reading an image.
type pass struct {
	mode     segmentation
	language string
	// scale is the factor by which the prepared image is enlarged.
	scale float64
}

// read implements engine. It reads all pages in one pass, then in up to three further passes while the receipt is uncertain, then the
// rows of uncertain fields.
func (r local) read(ctx context.Context, images []*image.Gray) (reading, error) {
	var pages []prepared
	var first []receipt.Page
	for _, img := range images {
		p, words, err := r.uprightPage(ctx, img)
		if err != nil {
			return reading{}, err
		}
		pages = append(pages, p)
		first = append(first, p.straight(words))
	}
	out := reading{}
	for _, p := range pages {
		out.pages = append(out.pages, p.frame())
	}
	readings := []receipt.Reading{receipt.Read(first)}
	out.Receipt = receipt.Join(r.now(), readings...)
	for i, again := range r.passes(first) {
		// Uncertain lines alone do not justify a third pass.
		if out.Confident() || i > 0 && !out.Uncertain() {
			break
		}
		read, err := r.pass(ctx, pages, again)
		if err != nil {
			return reading{}, err
		}
		readings = append(readings, receipt.Read(read))
		out.Receipt = receipt.Join(r.now(), readings...)
	}
	return r.rereadRows(ctx, pages, out, readings)
}

const (
	// minDateConfidence and minSumConfidence are the confidences below which the rows of the date and of the sums are read again.
	minDateConfidence = 0.8
	minSumConfidence  = 0.8
	// minSumConfidenceOnce replaces minSumConfidence if the receipt was read in one pass only. It is higher because no further pass
	// has confirmed the total, and the rows show as much in less time.
	minSumConfidenceOnce = 0.9
)

// reread is a request to read single rows again, at several scales, for one kind of field.
type reread struct {
	rows   []receipt.Row
	scales []rowScale
	read   func([]receipt.Page) receipt.Reading
}

// rereadRows reads the rows that decide uncertain fields again, and joins the results with the earlier readings.
func (r local) rereadRows(ctx context.Context, pages []prepared, out reading, readings []receipt.Reading) (reading, error) {
	// Every request requires a total, because a receipt without one is rejected.
	var requests []reread
	required := minSumConfidence
	if len(readings) == 1 {
		required = minSumConfidenceOnce
	}
	if c := out.Confidence["total"]; c > 0 && c < required {
		requests = append(requests, reread{readings[len(readings)-1].SumRows(), rowScales, receipt.ReadSumRows})
	}
	if out.Total != "" && out.Confidence["date"] < minDateConfidence {
		requests = append(requests, reread{receipt.DateRows(readings...), rowScales, receipt.ReadDateRows})
	}
	if out.Total != "" {
		requests = append(requests, reread{receipt.MerchantRow(readings...), nameScales, receipt.ReadMerchantRow})
	}
	again, err := r.readRows(ctx, pages, requests)
	if err != nil {
		return reading{}, err
	}
	out.Receipt = receipt.Join(r.now(), append(readings, again...)...)
	return out, nil
}

// readRows reads single rows across the whole width of the page, because words between other elements are often missed. It returns
// one reading per request and scale.
func (r local) readRows(ctx context.Context, pages []prepared, requests []reread) ([]receipt.Reading, error) {
	var rows []prepared
	var images []*image.Gray
	for _, q := range requests {
		for _, scale := range q.scales {
			for _, at := range q.rows {
				row := pages[at.Page-1].enlarged(scale.factor).row(at.Box, scale.margin)
				rows, images = append(rows, row), append(images, row.scaled())
			}
		}
	}
	if len(rows) == 0 {
		return nil, nil
	}
	words, err := r.engine.words(ctx, pass{mode: singleRow, language: mainLanguage}, images...)
	if err != nil {
		return nil, err
	}
	var out []receipt.Reading
	for _, q := range requests {
		if len(q.rows) == 0 {
			continue
		}
		// rows and words have the order in which the loops above added them.
		for range q.scales {
			read := make([]receipt.Page, len(pages))
			for i, p := range pages {
				read[i] = receipt.Page{Width: p.page.X, Height: p.page.Y}
			}
			for _, at := range q.rows {
				for _, w := range rows[0].straight(words[0]).Words {
					// All words belong to one row, also those that are slightly higher or lower.
					w.Box.Y, w.Box.H = at.Box.Y, at.Box.H
					read[at.Page-1].Words = append(read[at.Page-1].Words, w)
				}
				rows, words = rows[1:], words[1:]
			}
			out = append(out, q.read(read))
		}
	}
	return out, nil
}

// rowScale is how a single row is cut out: the factor of its enlargement, and the margin above and below as a share of its height.
type rowScale struct{ factor, margin float64 }

var (
	// rowScales has several scales, because the engine misreads other digits at other sizes. Digits read twice are likely correct.
	// The margins differ because parts of a neighboring row at the edge also change which digits are misread.
	rowScales = []rowScale{{0.8, 0.25}, {1.25, 0.4}, {2, 0.25}}
	// nameScales has one scale. The spelling with the highest confidence wins, most often that of the larger letters.
	nameScales = []rowScale{{1.25, 0.25}}
)

// passes returns the passes after the first, most useful first. A blank page needs none.
func (r local) passes(first []receipt.Page) []pass {
	if receipt.Blank(first) {
		return nil
	}
	language := receipt.Language(first)
	// At 1.36 times targetHeight, capital letters are 30 pixels high, the upper end of the best range.
	return []pass{
		{mode: block, language: language, scale: 1.36},
		{mode: columns, language: language, scale: 1.36},
		{mode: block, language: language, scale: 1},
	}
}

// pass reads all pages with one set of parameters.
func (r local) pass(ctx context.Context, pages []prepared, how pass) ([]receipt.Page, error) {
	var out []receipt.Page
	for _, p := range pages {
		p = p.enlarged(how.scale)
		words, err := r.engine.words(ctx, how, p.scaled())
		if err != nil {
			return nil, err
		}
		out = append(out, p.straight(words[0]))
	}
	return out, nil
}

// uprightPage finds the orientation of a page: it reads the page as it is, then turned by quarters while few legible words are found. It
// returns the prepared page and its words in the best orientation.
func (r local) uprightPage(ctx context.Context, img *image.Gray) (prepared, []receipt.Word, error) {
	white := whiten(img)
	// All four orientations are tried if necessary, because sideways only guesses.
	turns := []int{0, 2, 1, 3}
	if sideways(white) {
		turns = []int{0, 1, 3, 2}
	}
	// These steps do not depend on the orientation, so they run once per page and not once per turn.
	ink := darken(withoutEdges(white))
	var best prepared
	var words []receipt.Word
	most := -1.0
	blank := map[int]bool{}
	for _, quarters := range turns {
		// A page without rows in one orientation has none upside down either.
		if blank[(quarters+2)%4] {
			continue
		}
		p := prepare(turn(ink, quarters)).enlarged(1)
		p.quarters = quarters
		// The engine is not started for a page without a letter, in any orientation.
		if p.blank {
			return p, nil, nil
		}
		found, err := r.engine.words(ctx, pass{mode: columns, language: mainLanguage}, p.scaled())
		if err != nil {
			return prepared{}, nil, err
		}
		n, some := legible(found[0])
		blank[quarters] = !some
		if n > most {
			best, words, most = p, found[0], n
		}
		if most >= rightWayUp {
			break
		}
	}
	return best, words, nil
}

// rightWayUp is the share of legible words above which a page counts as upright.
const rightWayUp = 0.35

// legible returns the share of characters in confidently read words. A page on its side or upside down yields fragments. It reports
// false if there are too few characters to decide.
func legible(words []receipt.Word) (share float64, some bool) {
	confident, all := 0.0, 0.0
	for _, w := range words {
		n := float64(len([]rune(w.Text)))
		all += n
		if w.Confidence > 0.7 && n >= 3 {
			confident += n
		}
	}
	if all < 20 {
		return 0, false
	}
	return confident / all, true
}

// straight scales the boxes of words to the upright page, but does not undo the correction of the skew, because rows are found by the
// height of their words.
func (p prepared) straight(words []receipt.Word) receipt.Page {
	out := receipt.Page{Width: p.page.X, Height: p.page.Y}
	for _, w := range words {
		b := w.Box
		w.Box = receipt.Box{X: int(float64(b.X) / p.scale), Y: int(float64(b.Y) / p.scale), W: int(float64(b.W) / p.scale), H: int(float64(b.H) / p.scale)}
		out.Words = append(out.Words, w)
	}
	return out
}
