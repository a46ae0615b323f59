package recognition

import (
	"context"
	"errors"
	"image"
	"slices"
	"time"

	"github.com/coffer-budget/coffer/services/ocr/imaging"
	"github.com/coffer-budget/coffer/services/ocr/neural/process"
	"github.com/coffer-budget/coffer/services/ocr/receipt"
	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
	"github.com/coffer-budget/coffer/services/ocr/sandbox"
	"github.com/coffer-budget/coffer/services/ocr/tesseract"
)

// local is the engine that runs on this machine: Tesseract and the rules of package receipt.
type local struct {
	engine tesseract.Tesseract
	now    func() time.Time
}

type pass struct {
	mode     tesseract.Mode
	language string
	scale    float64
}

// answerReserve is the time before the deadline of a request at which further passes stop.
const answerReserve = 2 * time.Second

// read implements engine. It reads all pages in one pass, then in up to three further passes while
// the receipt is uncertain, then the rows of uncertain fields. A failure after the first pass keeps
// the reading of the earlier passes.
func (r local) read(ctx context.Context, images []*image.Gray) (Reading, error) {
	return r.readSheets(ctx, imaging.NewSheets(images))
}

func (r local) readSheets(ctx context.Context, sheets []imaging.Sheet) (Reading, error) {
	pages, failed := r.firstPass(ctx, sheets)
	if ctx.Err() != nil || !slices.ContainsFunc(pages, firstPage.wasRead) {
		return Reading{}, failed
	}
	out := Reading{}
	var first []printed.Page
	for _, p := range pages {
		out.pages = append(out.pages, p.Frame())
		first = append(first, p.words)
	}
	out.setReceipts(r.now(), first)
	// Further passes would mix the receipts again.
	if len(out.Others) > 0 {
		out.Failure = failed
		return out, nil
	}
	readings := []receipt.Reading{receipt.Read(first)}
	further := ctx
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		further, cancel = context.WithDeadline(ctx, deadline.Add(-answerReserve))
		defer cancel()
	}
	out.Failure = errors.Join(failed, r.improve(further, &out, pages, readings))
	// Without a total there is nothing to keep, and a canceled request needs no response.
	if out.Failure != nil && (out.Total == "" || ctx.Err() != nil) {
		return Reading{}, out.Failure
	}
	return out, nil
}

type firstPage struct {
	imaging.Prepared
	words printed.Page
	// err is the failure of the engine. The page then has no words, and further passes skip it as
	// if it was blank.
	err error
}

func (p firstPage) wasRead() bool { return p.err == nil }

// firstPass reads all pages for the first time. A page on which the engine fails does not fail the
// others. It leaves out the pages for which no processor time is left.
func (r local) firstPass(ctx context.Context, sheets []imaging.Sheet) ([]firstPage, error) {
	var pages []firstPage
	var failed error
	for i, s := range sheets {
		if err := sandbox.CheckTime(); err != nil {
			return pages, errors.Join(failed, err)
		}
		p := r.firstPage(ctx, s, i == len(sheets)-1)
		pages = append(pages, p)
		failed = errors.Join(failed, p.err)
	}
	return pages, failed
}

// firstPage leaves time for the pages after it, unless it is the last one.
func (r local) firstPage(ctx context.Context, sheet imaging.Sheet, last bool) firstPage {
	if !last {
		var cancel context.CancelFunc
		ctx, cancel = half(ctx)
		defer cancel()
	}
	p, words, err := r.uprightPage(ctx, sheet)
	if err != nil {
		p, words = sheet.Placed(sheet.Frame), nil
		p.Blank = true
	}
	return firstPage{p, p.Upright(words), err}
}

// half returns a context with half of the time of ctx, so that another attempt has the rest.
func half(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	middle := deadline.Add(-time.Until(deadline) / 2)
	return context.WithDeadlineCause(ctx, middle, process.ErrAttemptTooLong)
}

// improve joins further passes and rows with the first reading while the receipt is uncertain.
// After a crash it tries the next pass, because crashes depend on the parameters. After an exceeded
// time limit it stops.
func (r local) improve(
	ctx context.Context, out *Reading, first []firstPage, readings []receipt.Reading,
) error {
	var failures error
	var pages []imaging.Prepared
	var words []printed.Page
	for _, p := range first {
		pages = append(pages, p.Prepared)
		words = append(words, p.words)
	}
	for i, again := range r.passes(words) {
		// Uncertain lines alone do not justify a third pass.
		if out.Confident() || i > 0 && !out.Uncertain() {
			break
		}
		read, err := r.pass(ctx, pages, again)
		failures = errors.Join(failures, err)
		if errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
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

// passes returns the passes after the first, most useful first. A blank page needs none.
func (r local) passes(first []printed.Page) []pass {
	if printed.Blank(first) {
		return nil
	}
	language := printed.Language(first)
	// At 1.36 times imaging.TargetHeight, capital letters are 30 pixels high, the upper end of the
	// best range.
	return []pass{
		{mode: tesseract.Block, language: language, scale: 1.36},
		{mode: tesseract.Columns, language: language, scale: 1.36},
		{mode: tesseract.Block, language: language, scale: 1},
	}
}

// pass reads all pages with one set of parameters. It does not start the engine for blank pages.
func (r local) pass(
	ctx context.Context, pages []imaging.Prepared, how pass,
) ([]printed.Page, error) {
	var out []printed.Page
	for _, prepared := range pages {
		if prepared.Blank {
			out = append(out, prepared.Upright(nil))
			continue
		}
		prepared = prepared.Enlarged(how.scale)
		words, err := r.engine.Words(ctx, how.mode, how.language, prepared.Scaled())
		if err != nil {
			return nil, err
		}
		out = append(out, prepared.Upright(words[0]))
	}
	return out, nil
}

// uprightPage finds the orientation of a page: it reads the page as it is, then turned by quarters
// while few legible words are found.
func (r local) uprightPage(
	ctx context.Context, sheet imaging.Sheet,
) (imaging.Prepared, []printed.Word, error) {
	// All four orientations are tried if necessary, because sideways only guesses.
	turns := []int{0, 2, 1, 3}
	if sheet.Sideways {
		turns = []int{0, 1, 3, 2}
	}
	var best imaging.Prepared
	var words []printed.Word
	most := -1.0
	blank := map[int]bool{}
	for _, quarters := range turns {
		// A page without rows in one orientation has none upside down either.
		if blank[(quarters+2)%4] {
			continue
		}
		prepared := sheet.Turned(quarters)
		// The engine is not started for a page without a letter, in any orientation.
		if prepared.Blank {
			return prepared, nil, nil
		}
		prepared, found, err := r.firstWords(ctx, prepared)
		// The words of an earlier turn are better than none.
		if err != nil && most > 0 && ctx.Err() == nil {
			break
		}
		if err != nil {
			return imaging.Prepared{}, nil, err
		}
		n, some := legible(found)
		blank[quarters] = !some
		if n > most {
			best, words, most = prepared, found, n
		}
		if most >= rightWayUp {
			break
		}
	}
	return best, words, nil
}

// firstWords reads a page for the first time. If the engine fails, it reads a smaller image in
// another mode, because crashes and long runs depend on both. Each attempt has half of the time.
func (r local) firstWords(
	ctx context.Context, prepared imaging.Prepared,
) (imaging.Prepared, []printed.Word, error) {
	first, cancel := half(ctx)
	defer cancel()
	words, err := r.engine.Words(first, tesseract.Columns, tesseract.MainLanguage,
		prepared.Scaled())
	if err == nil {
		return prepared, words[0], nil
	}
	if ctx.Err() != nil {
		return imaging.Prepared{}, nil, err
	}
	// Capital letters are then 15 pixels high instead of imaging.TargetHeight. Tesseract can still
	// read them.
	prepared.Scale *= 0.7
	words, again := r.engine.Words(ctx, tesseract.Block, tesseract.MainLanguage, prepared.Scaled())
	if again != nil {
		return imaging.Prepared{}, nil, errors.Join(err, again)
	}
	return prepared, words[0], nil
}

// rightWayUp is the share of legible words above which a page counts as upright.
const rightWayUp = 0.35

// legible returns the share of characters in confidently read words. A page on its side or upside
// down yields fragments, so its share is low. some is false if there are too few characters to
// decide.
func legible(words []printed.Word) (share float64, some bool) {
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
