package receipt

import (
	"math"
	"strconv"

	"github.com/coffer-budget/coffer/services/ocr/receipt/calibration"
	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

// Confident reports whether reading the same page again is unlikely to change the receipt. In
// measurements, a likely total that the lines add up to has almost never changed. Lines that
// reconcile with at most one repair reach 0.7; a single line must need none. An ambiguous date has
// at most 0.6, so the ambiguity alone causes no further pass.
func (r Receipt) Confident() bool {
	return !r.Uncertain() && r.Confidence["lines"] >= 0.7
}

// Uncertain reports whether the total, the date or the merchant is missing or likely wrong. If both
// Uncertain and Confident are false, only the lines are in doubt.
func (r Receipt) Uncertain() bool {
	c := r.Confidence
	return c["total"] < likelyTotal || c["date"] < 0.6 || c["merchant"] < 0.4
}

// Calibrated returns the expected share of right values, by field name.
func (r Receipt) Calibrated() map[string]float64 {
	if r.claimed {
		return r.Confidence
	}
	return calibration.Confidences(r.Confidence)
}

func (j *join) receipt() Receipt {
	receipt := Receipt{Confidence: map[string]float64{}}
	receipt.Merchant = receipt.setText("merchant", j.merchant)
	receipt.Date = receipt.setText("date", j.date)
	receipt.Currency = receipt.setText("currency", j.currency)
	if j.swappable {
		receipt.Warnings = append(receipt.Warnings, DateAmbiguous)
	}
	receipt.Legible = j.total.at != nil || j.legible()
	if j.total.at == nil {
		receipt.addLines(j.goods)
		receipt.Warnings = append(receipt.Warnings, TotalMissing)
		return receipt
	}
	receipt.Total = printed.Format(j.total.value)
	receipt.Confidence["total"] = round(j.confidence)
	receipt.Evidence = append(receipt.Evidence,
		j.total.at.Evidence("total", j.total.start, j.total.end))
	receipt.setItems(j.goods)
	receipt.setAdjustment(j.charges, j.goods.confidence)
	if sub := j.subtotal; sub != nil {
		receipt.Subtotal = printed.Format(sub.Value)
		receipt.Confidence["subtotal"] = round(max(0.6, j.goods.confidence))
		receipt.Evidence = append(receipt.Evidence, sub.at.Evidence("subtotal", sub.Start, sub.End))
	}
	return receipt
}

// setText records the confidence and evidence of a field and returns its value, or "" if it was not
// found.
func (r *Receipt) setText(name string, f printed.Field) string {
	if f.At == nil || f.Value == "" {
		return ""
	}
	r.Confidence[name] = round(f.Confidence)
	r.Evidence = append(r.Evidence, f.At.Evidence(name, 0, 0))
	return f.Value
}

// legible reports whether the pages show a receipt, although no total was found.
func (j *join) legible() bool {
	priced, labeled := false, false
	for _, r := range j.readings {
		for _, l := range r.lines {
			priced = priced || l.PriceCount() > 0
			labeled = labeled || l.PriceCount() > 0 && l.Kind != printed.KindNone
		}
	}
	return priced && (labeled || j.date.At != nil)
}

// setItems sets the lines, and warns if they do not add up to the total.
func (r *Receipt) setItems(goods items) {
	r.addLines(goods)
	if len(goods.list) > 0 && !goods.reconciled {
		r.Warnings = append(r.Warnings, LinesNotReconciled)
	}
}

// addLines adds the lines with their confidence and evidence.
func (r *Receipt) addLines(goods items) {
	for i, it := range goods.list {
		r.Items = append(r.Items, it.item())
		r.Evidence = append(r.Evidence, it.at.Evidence(lineField(i), 0, 0))
		r.Confidence["lines"] = round(goods.confidence)
	}
}

// setAdjustment sets the parts of an adjustment that are not zero. Discount and rounding have no
// confidence in the contract.
func (r *Receipt) setAdjustment(adj adjustment, confidence float64) {
	format := func(v int64) string {
		if v == 0 {
			return ""
		}
		return printed.Format(v)
	}
	r.Tax, r.Tip = format(adj.tax), format(adj.tip)
	r.Discount, r.Rounding = format(adj.discount), format(adj.rounding)
	for field, v := range map[string]int64{"tax": adj.tax, "tip": adj.tip} {
		if v != 0 {
			r.Confidence[field] = round(max(0.6, confidence))
		}
	}
}

// item converts a draft to the public form. Quantity and unit price are set only if their product
// is the amount.
func (it draftItem) item() Item {
	out := Item{Description: it.name, Amount: printed.Format(it.amount.Value)}
	if it.quantity > 0 && multiply(it.quantity, it.unit) == abs(it.amount.Value) {
		out.Quantity, out.UnitPrice = quantityString(it.quantity), printed.Format(it.unit)
	}
	return out
}

func lineField(i int) string { return "lines[" + strconv.Itoa(i) + "]" }

// quantityString formats thousandths as a decimal string without trailing zeros.
func quantityString(milli int64) string {
	return strconv.FormatFloat(float64(milli)/1000, 'f', -1, 64)
}

func round(c float64) float64 { return math.Round(c*100) / 100 }
