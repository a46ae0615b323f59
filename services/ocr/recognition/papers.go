package recognition

import (
	"context"
	"errors"
	"image"
	"slices"
	"strings"

	"github.com/coffer-budget/coffer/services/ocr/imaging"
	"github.com/coffer-budget/coffer/services/ocr/receipt"
	"github.com/coffer-budget/coffer/services/ocr/sandbox"
)

// readImages reads each paper on a photo of several as a receipt. If a paper is not a receipt with
// its own total, it reads the photo as a whole: two papers may be parts of one receipt. Pages of a
// document belong together, so they are not searched for papers.
func (r Reader) readImages(ctx context.Context, images []*image.Gray) (Reading, error) {
	if len(images) != 1 {
		return r.readWhole(ctx, images)
	}
	papers := imaging.Papers(images[0])
	if len(papers) == 0 {
		return r.readWhole(ctx, images)
	}
	apart, several := r.readPapers(ctx, images[0].Rect.Size(), papers)
	if len(apart) > 0 {
		return joined(apart), nil
	}
	out, err := r.readWhole(ctx, images)
	out.several = several
	return out, err
}

// readPapers reads each paper alone, in half of the time by the clock and of the processor time,
// so that the photo can still be read as a whole. It returns no readings unless all papers are
// receipts. several is set if all of them are legible, so that each may be a part of a receipt.
func (r Reader) readPapers(
	ctx context.Context, photo image.Point, papers []imaging.Paper,
) (apart []Reading, several bool) {
	limited, cancel := half(ctx)
	defer cancel()
	defer sandbox.HalveTime()()
	receipts := true
	for _, p := range papers {
		if sandbox.CheckTime() != nil {
			return nil, false
		}
		read, err := r.readWhole(limited, []*image.Gray{p.Image})
		if err != nil || !read.Legible {
			return nil, false
		}
		for i, f := range read.pages {
			read.pages[i] = f.On(photo, p.At)
		}
		receipts = receipts && isReceipt(read.Receipt)
		apart = append(apart, read)
	}
	if !receipts {
		return nil, true
	}
	return withoutCopies(apart), true
}

// isReceipt reports whether a paper has a total and what it was paid for. The slip of a card
// terminal has a date.
func isReceipt(r receipt.Receipt) bool {
	return r.Total != "" && (r.Date != "" || len(r.Items) > 0)
}

// withoutCopies returns one reading of each receipt: the one with the most lines.
func withoutCopies(readings []Reading) []Reading {
	var out []Reading
	for _, r := range readings {
		i := slices.IndexFunc(out, func(other Reading) bool { return sameReceipt(r, other) })
		switch {
		case i < 0:
			out = append(out, r)
		case len(r.Items) > len(out[i].Items):
			out[i] = r
		}
	}
	return out
}

// sameReceipt reports whether two papers with the same total and date are copies. The slip of a
// card terminal has no lines. If both papers have lines, they also need the same merchant and
// amounts: a copy that is listed twice does less harm than a receipt that is missing.
func sameReceipt(a, b Reading) bool {
	if a.Total != b.Total || a.Date != b.Date && a.Date != "" && b.Date != "" {
		return false
	}
	sameAmount := func(x, y receipt.Item) bool { return x.Amount == y.Amount }
	return len(a.Items) == 0 || len(b.Items) == 0 ||
		strings.EqualFold(a.Merchant, b.Merchant) && slices.EqualFunc(a.Items, b.Items, sameAmount)
}

// joined returns the receipts of several papers as those of one file.
func joined(apart []Reading) Reading {
	out := apart[0]
	for _, r := range apart[1:] {
		out.Failure = errors.Join(out.Failure, r.Failure)
		out.FromFallback = out.FromFallback || r.FromFallback
		out.TesseractAlone = out.TesseractAlone || r.TesseractAlone
		out.Others = slices.Concat(out.Others, []Reading{r}, r.Others)
	}
	return out
}
