package recognition

import (
	"context"
	"image"

	"github.com/coffer-budget/coffer/services/ocr/imaging"
	"github.com/coffer-budget/coffer/services/ocr/receipt"
	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
	"github.com/coffer-budget/coffer/services/ocr/tesseract"
)

const (
	// minDateConfidence and minSumConfidence are the confidences below which the rows of the date
	// and of the sums are read again.
	minDateConfidence = 0.8
	minSumConfidence  = 0.8
	// minSumConfidenceOnce replaces minSumConfidence if no further pass has confirmed the total.
	minSumConfidenceOnce = 0.9
)

type reread struct {
	rows   []receipt.Row
	scales []rowScale
	read   func([]printed.Page) receipt.Reading
}

func (r local) rereadRows(
	ctx context.Context, pages []imaging.Prepared,
	found receipt.Receipt, readings []receipt.Reading,
) ([]receipt.Reading, error) {
	// A receipt without a total is rejected.
	if found.Total == "" {
		return nil, nil
	}
	var requests []reread
	required := minSumConfidence
	if len(readings) == 1 {
		required = minSumConfidenceOnce
	}
	if found.Confidence["total"] < required {
		rows := readings[len(readings)-1].SumRows()
		requests = append(requests, reread{rows, rowScales, receipt.ReadSumRows})
	}
	if found.Confidence["date"] < minDateConfidence {
		rows := receipt.DateRows(readings...)
		requests = append(requests, reread{rows, rowScales, receipt.ReadDateRows})
	}
	name := reread{receipt.MerchantRow(readings...), nameScales, receipt.ReadMerchantRow}
	return r.readRows(ctx, pages, append(requests, name))
}

// readRows reads single rows across the whole width of the page, because words between other
// elements are often missed. It returns one reading per request and scale.
func (r local) readRows(
	ctx context.Context, pages []imaging.Prepared, requests []reread,
) ([]receipt.Reading, error) {
	var rows []imaging.Prepared
	var images []*image.Gray
	for _, q := range requests {
		for _, scale := range q.scales {
			for _, at := range q.rows {
				row := pages[at.Page-1].Enlarged(scale.factor).Row(at.Box, scale.margin)
				rows = append(rows, row)
				images = append(images, row.Scaled())
			}
		}
	}
	if len(rows) == 0 {
		return nil, nil
	}
	words, err := r.engine.Words(ctx, tesseract.SingleRow, tesseract.MainLanguage, images...)
	if err != nil {
		return nil, err
	}
	var out []receipt.Reading
	for _, reread := range requests {
		if len(reread.rows) == 0 {
			continue
		}
		// rows and words have the order in which the loops above added them.
		for range reread.scales {
			read := make([]printed.Page, len(pages))
			for i, p := range pages {
				read[i] = printed.Page{Width: p.Size.X, Height: p.Size.Y}
			}
			for _, at := range reread.rows {
				for _, w := range rows[0].Upright(words[0]).Words {
					// All words belong to one row, also those that are slightly higher or lower.
					w.Box.Y, w.Box.H = at.Box.Y, at.Box.H
					read[at.Page-1].Words = append(read[at.Page-1].Words, w)
				}
				rows, words = rows[1:], words[1:]
			}
			out = append(out, reread.read(read))
		}
	}
	return out, nil
}

// rowScale is how a single row is cut out: the factor of its enlargement, and the margin above and
// below as a share of its height.
type rowScale struct{ factor, margin float64 }

var (
	// rowScales has several scales, because the engine misreads other digits at other sizes. Digits
	// read twice are likely correct. The margins differ, because parts of a neighboring row have
	// the same effect.
	rowScales = []rowScale{{0.8, 0.25}, {1.25, 0.4}, {2, 0.25}}
	// nameScales has one scale. The spelling with the highest confidence wins.
	nameScales = []rowScale{{1.25, 0.25}}
)
