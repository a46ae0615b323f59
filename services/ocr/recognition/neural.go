package recognition

import (
	"context"
	"errors"
	"image"
	"time"

	"github.com/coffer-budget/coffer/services/ocr/imaging"
	"github.com/coffer-budget/coffer/services/ocr/neural"
	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
	"github.com/coffer-budget/coffer/services/ocr/sandbox"
	"github.com/coffer-budget/coffer/services/ocr/tesseract"
)

// neuralEngine reads with neural networks. A pass of Tesseract joins as a second witness if the
// receipt is in doubt, or in a language with characters that the networks do not know. If the
// neural engine fails, Tesseract reads the receipt alone.
type neuralEngine struct {
	networks  Networks
	tesseract local
}

// read implements engine. Tesseract reads alone, in all its passes, if the neural engine reads no
// page or finds no total. A failure of one engine is kept in the result of the other.
func (n neuralEngine) read(ctx context.Context, images []*image.Gray) (Reading, error) {
	sheets := imaging.NewSheets(images)
	out, err := n.readBoth(ctx, sheets)
	if err == nil && out.Total != "" || ctx.Err() != nil {
		return out, errors.Join(err, ctx.Err())
	}
	err = errors.Join(err, out.Failure)
	alone, failure := n.tesseract.readSheets(ctx, sheets)
	// The networks read more than Tesseract does, also on a receipt without a total.
	if failure == nil && (err != nil || alone.Total != "" || !out.Legible) {
		alone.TesseractAlone = err != nil && alone.Failure == nil
		alone.Failure = errors.Join(err, alone.Failure)
		return alone, nil
	}
	if err != nil {
		return Reading{}, errors.Join(err, failure)
	}
	out.Failure = failure
	return out, nil
}

// readBoth reads all pages with the networks, and again with Tesseract if necessary. It fails if
// the networks read no page.
func (n neuralEngine) readBoth(ctx context.Context, sheets []imaging.Sheet) (Reading, error) {
	out, first, err := n.firstPass(ctx, sheets)
	if err != nil {
		return Reading{}, err
	}
	out.setReceipts(n.tesseract.now(), first)
	if !out.needsWitness(first) {
		return out, nil
	}
	if err := sandbox.CheckTime(); err != nil {
		out.Failure = errors.Join(out.Failure, err)
		return out, nil
	}
	second, err := n.witness(ctx, sheets, out.pages, first)
	if err != nil {
		out.Failure = errors.Join(out.Failure, err)
		return out, ctx.Err()
	}
	out.joinBoth(n.tesseract.now(), first, second)
	return out, nil
}

// needsWitness reports whether Tesseract should read what the networks have read: a receipt is in
// doubt, or in a language with characters that the networks do not know.
func (r Reading) needsWitness(first []printed.Page) bool {
	certain := r.confident() && printed.Language(first) == tesseract.MainLanguage
	return !certain && !printed.Blank(first)
}

// witness reads the pages with Tesseract, in the places where the networks have found them.
func (n neuralEngine) witness(
	ctx context.Context, sheets []imaging.Sheet, frames []imaging.Frame, first []printed.Page,
) ([]printed.Page, error) {
	pages := make([]imaging.Prepared, len(sheets))
	for i, s := range sheets {
		pages[i] = s.Placed(frames[i])
	}
	how := pass{mode: tesseract.Columns, language: printed.Language(first), scale: 1}
	return n.tesseract.pass(ctx, pages, how)
}

// joinBoth reads the receipts in the words of the networks and of Tesseract.
func (r *Reading) joinBoth(now time.Time, first, second []printed.Page) {
	for i := range first {
		first[i].Words = withSigns(first[i].Words, second[i].Words)
	}
	r.setReceipts(now, first, second)
}

// firstPass reads all pages with the networks, in half of the time. If they fail on a page,
// Tesseract reads it and the pages after it: another page would most likely wait for the same
// failure. It returns the failure as an error if the networks read no page, and otherwise in the
// result.
func (n neuralEngine) firstPass(
	ctx context.Context, sheets []imaging.Sheet,
) (out Reading, first []printed.Page, err error) {
	limited, cancel := half(ctx)
	defer cancel()
	for i, sheet := range sheets {
		var page neural.Page
		// A page without a letter is not read.
		if !sheet.Blank {
			page, err = n.page(limited, sheet.Gray)
		}
		if err != nil && printed.Blank(first) {
			return Reading{}, nil, err
		}
		if err != nil {
			rest, failed := n.tesseract.firstPass(ctx, sheets[i:])
			out.Failure = errors.Join(err, failed)
			for _, p := range rest {
				out.pages = append(out.pages, p.Frame())
				first = append(first, p.words)
			}
			return out, first, ctx.Err()
		}
		f := sheet.Frame
		f.Quarters, f.Angle = page.Quarters, page.Angle
		out.pages = append(out.pages, f)
		first = append(first, wordsOf(page, f.Turned()))
	}
	return out, first, nil
}

func (n neuralEngine) page(ctx context.Context, img *image.Gray) (neural.Page, error) {
	req, err := neural.NewRequest(img)
	if err != nil {
		return neural.Page{}, err
	}
	return n.networks.Read(ctx, req)
}

func wordsOf(page neural.Page, size image.Point) printed.Page {
	out := printed.Page{Width: size.X, Height: size.Y}
	for _, w := range page.Words {
		box := printed.Box{X: w.Box.Min.X, Y: w.Box.Min.Y, W: w.Box.Dx(), H: w.Box.Dy()}
		word := printed.Word{Text: w.Text, Confidence: w.Confidence, Box: box}
		out.Words = append(out.Words, word)
	}
	return out
}
