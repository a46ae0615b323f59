package recognition

import (
	"fmt"
	"slices"

	ocrv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ocr/v1"
	"github.com/coffer-budget/coffer/services/ocr/receipt"
	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

var messages = map[receipt.Warning]string{
	receipt.DateAmbiguous:      "Day and month of the date may be swapped",
	receipt.LinesNotReconciled: "The lines do not add up to the total",
	receipt.SeveralReceipts:    "The file seems to show several receipts",
	receipt.TotalMissing:       "The total was not found",
	warnFallback:               "The main engine failed, so the values are less exact",
}

// Response converts the receipts to the response message.
func (r Reading) Response() *ocrv1.RecognizeResponse {
	out := &ocrv1.RecognizeResponse{Receipt: r.proto()}
	if len(r.Others) == 0 {
		return out
	}
	out.Receipts = append(out.Receipts, out.GetReceipt())
	for _, other := range r.Others {
		r.Receipt, r.pages = other.Receipt, other.pages
		out.Receipts = append(out.Receipts, r.proto())
	}
	return out
}

func (r Reading) proto() *ocrv1.Receipt {
	out := &ocrv1.Receipt{
		Merchant: r.Merchant, Date: r.Date, Currency: r.Currency, Subtotal: r.Subtotal,
		Tax: r.Tax, Tip: r.Tip, Discount: r.Discount, Rounding: r.Rounding, Total: r.Total,
		Confidence: r.Calibrated(),
	}
	for _, it := range r.Items {
		out.Lines = append(out.Lines, &ocrv1.Line{
			Description: it.Description, Quantity: it.Quantity,
			UnitPrice: it.UnitPrice, Amount: it.Amount,
		})
	}
	for _, e := range r.Evidence {
		out.Evidence = append(out.Evidence, r.evidence(e))
	}
	warnings := slices.Clone(r.Warnings)
	if len(r.Others) > 0 || r.several {
		warnings = append(warnings, receipt.SeveralReceipts)
	}
	if r.read < r.of {
		warnings = append(warnings, warnPagesSkipped)
	}
	if r.TesseractAlone || r.FromFallback {
		warnings = append(warnings, warnFallback)
	}
	for _, w := range warnings {
		message := messages[w]
		if w == warnPagesSkipped {
			message = fmt.Sprintf("Only the first pages were read: %d of %d", r.read, r.of)
		}
		out.Warnings = append(out.Warnings, &ocrv1.Warning{Code: string(w), Message: message})
	}
	return out
}

// evidence converts the place of a field to the page as the file shows it. Plain text has no size,
// so it has no box.
func (r Reading) evidence(evidence printed.Evidence) *ocrv1.Evidence {
	out := &ocrv1.Evidence{Field: evidence.Field, Page: int32(evidence.Page), Text: evidence.Text}
	if f := r.pages[evidence.Page-1]; f.Size.X > 0 {
		evidence.Box = f.Place(evidence.Box)
		out.Box = &ocrv1.Box{
			X: int32(evidence.Box.X), Y: int32(evidence.Box.Y), Width: int32(evidence.Box.W),
			Height: int32(evidence.Box.H), PageWidth: int32(f.Size.X), PageHeight: int32(f.Size.Y),
		}
	}
	return out
}
