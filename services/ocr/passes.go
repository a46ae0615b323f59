package ocr

import (
	"context"
	"errors"
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

// answerReserve is the time before the deadline of a request at which further passes stop. It is enough to send the response.
const answerReserve = 2 * time.Second

// read implements engine. It reads all pages in one pass, then in up to three further passes while the receipt is uncertain, then the
// rows of uncertain fields. A failure after the first pass only ends the improvement of what was read before.
func (r local) read(ctx context.Context, images []*image.Gray) (reading, error) {
	return r.readSheets(ctx, newSheets(images))
}

// readSheets is read after the preparation of the pages.
func (r local) readSheets(ctx context.Context, sheets []sheet) (reading, error) {
	pages, first, err := r.firstPass(ctx, sheets)
	if err != nil {
		return reading{}, err
	}
	out := reading{}
	for _, p := range pages {
		out.pages = append(out.pages, p.frame())
	}
	readings := []receipt.Reading{receipt.Read(first)}
	out.Receipt = receipt.Join(r.now(), readings...)
	further := ctx
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		further, cancel = context.WithDeadline(ctx, deadline.Add(-answerReserve))
		defer cancel()
	}
	out.failure = r.improve(further, &out, pages, first, readings)
	// Without a total there is nothing to keep, and a canceled request needs no response.
	if out.failure != nil && (out.Total == "" || ctx.Err() != nil) {
		return reading{}, out.failure
	}
	return out, nil
}

// firstPass returns the prepared pages and their words.
func (r local) firstPass(ctx context.Context, sheets []sheet) (pages []prepared, first []receipt.Page, err error) {
	for _, s := range sheets {
		p, words, err := r.uprightPage(ctx, s)
		if err != nil {
			return nil, nil, err
		}
		pages = append(pages, p)
		first = append(first, p.straight(words))
	}
	return pages, first, nil
}

// improve joins further passes and rows with the first reading while the receipt is uncertain. It returns the failures of the
// engine. Another pass follows a crash, because crashes depend on the parameters, but not an exceeded time limit.
func (r local) improve(ctx context.Context, out *reading, pages []prepared, first []receipt.Page, readings []receipt.Reading) error {
	var failures error
	for i, again := range r.passes(first) {
		// Uncertain lines alone do not justify a third pass.
		if out.Confident() || i > 0 && !out.Uncertain() {
			break
		}
		read, err := r.pass(ctx, pages, again)
		if failures = errors.Join(failures, err); errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return failures
		}
		if err != nil {
			continue
		}
		readings = append(readings, receipt.Read(read))
		out.Receipt = receipt.Join(r.now(), readings...)
	}
	rows, err := r.rereadRows(ctx, pages, out.Receipt, readings)
	if err == nil {
		out.Receipt = receipt.Join(r.now(), append(readings, rows...)...)
	}
	return errors.Join(failures, err)
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

// rereadRows reads the rows that decide uncertain fields again. It returns their readings.
func (r local) rereadRows(ctx context.Context, pages []prepared, found receipt.Receipt, readings []receipt.Reading) ([]receipt.Reading, error) {
	// Every request requires a total, because a receipt without one is rejected.
	if found.Total == "" {
		return nil, nil
	}
	var requests []reread
	required := minSumConfidence
	if len(readings) == 1 {
		required = minSumConfidenceOnce
	}
	if found.Confidence["total"] < required {
		requests = append(requests, reread{readings[len(readings)-1].SumRows(), rowScales, receipt.ReadSumRows})
	}
	if found.Confidence["date"] < minDateConfidence {
		requests = append(requests, reread{receipt.DateRows(readings...), rowScales, receipt.ReadDateRows})
	}
	requests = append(requests, reread{receipt.MerchantRow(readings...), nameScales, receipt.ReadMerchantRow})
	return r.readRows(ctx, pages, requests)
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
func (r local) uprightPage(ctx context.Context, s sheet) (prepared, []receipt.Word, error) {
	// All four orientations are tried if necessary, because sideways only guesses.
	turns := []int{0, 2, 1, 3}
	if s.sideways {
		turns = []int{0, 1, 3, 2}
	}
	var best prepared
	var words []receipt.Word
	most := -1.0
	blank := map[int]bool{}
	for _, quarters := range turns {
		// A page without rows in one orientation has none upside down either.
		if blank[(quarters+2)%4] {
			continue
		}
		p := prepare(turn(s.ink, quarters)).enlarged(1)
		p.quarters, p.whole, p.area = quarters, s.at.size, s.at.area
		// The engine is not started for a page without a letter, in any orientation.
		if p.blank {
			return p, nil, nil
		}
		p, found, err := r.firstWords(ctx, p)
		// The words of an earlier turn are better than none.
		if err != nil && most > 0 && ctx.Err() == nil {
			break
		}
		if err != nil {
			return prepared{}, nil, err
		}
		n, some := legible(found)
		blank[quarters] = !some
		if n > most {
			best, words, most = p, found, n
		}
		if most >= rightWayUp {
			break
		}
	}
	return best, words, nil
}

// firstWords reads a page for the first time. If the engine fails, it reads a smaller image in another mode, because crashes and
// long runs depend on both. It returns the page with the scale that was read.
func (r local) firstWords(ctx context.Context, p prepared) (prepared, []receipt.Word, error) {
	words, err := r.engine.words(ctx, pass{mode: columns, language: mainLanguage}, p.scaled())
	if err == nil {
		return p, words[0], nil
	}
	if ctx.Err() != nil {
		return prepared{}, nil, err
	}
	// Capital letters are then 15 pixels high instead of targetHeight, which is still legible.
	p.scale *= 0.7
	words, again := r.engine.words(ctx, pass{mode: block, language: mainLanguage}, p.scaled())
	if again != nil {
		return prepared{}, nil, errors.Join(err, again)
	}
	return p, words[0], nil
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
