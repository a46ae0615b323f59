package receipt

import (
	"math"
	"slices"
	"strconv"
	"time"
)

// Join makes one receipt of several readings of the same picture: what all of them found is weighed together. now bounds
// the dates that are believed.
func Join(now time.Time, readings ...Reading) Receipt {
	r := Receipt{Confidence: map[string]float64{}}
	currency := pickCurrency(readings)
	date, open := pickDate(readings, currency.value, now)
	r.Merchant = r.field("merchant", pickMerchant(readings))
	r.Date = r.field("date", date)
	r.Currency = r.field("currency", currency)
	if open {
		r.Warnings = append(r.Warnings, DateAmbiguous)
	}
	var s sums
	for _, reading := range readings {
		s.add(reading.sums)
	}
	goods := drafts(readings)
	totals := rankTotals(readings, goods, &s)
	if len(totals) == 0 || totals[0].score() < 1 {
		return r
	}
	total := totals[0]
	r.Total = format(total.value)
	r.Confidence["total"] = round(total.confidence)
	r.Evidence = append(r.Evidence, total.at.evidence("total", total.start, total.end))
	r.addItems(goods, total.value, &s)
	return r
}

// Sure reports whether another recognition of the same page is unlikely to teach anything. It has hardly ever changed a likely
// total that the lines come to.
func (r Receipt) Sure() bool {
	return r.Confidence["total"] >= likelyTotal && r.Confidence["lines"] >= 0.7 && r.Confidence["date"] >= 0.6 && r.Confidence["merchant"] >= 0.4
}

// Doubtful reports whether the total, the date or the merchant may well be wrong.
func (r Receipt) Doubtful() bool {
	return r.Confidence["total"] < likelyTotal || r.Confidence["date"] < 0.6 || r.Confidence["merchant"] < 0.4
}

func (r *Receipt) field(name string, f found) string {
	if f.at == nil || f.value == "" {
		return ""
	}
	r.Confidence[name] = round(f.confidence)
	r.Evidence = append(r.Evidence, f.at.evidence(name, 0, 0))
	return f.value
}

// pickCurrency lets the readings vote.
func pickCurrency(readings []Reading) found {
	var best found
	for _, reading := range readings {
		f := reading.currency
		votes := 0.0
		for _, other := range readings {
			if other.currency.value == f.value {
				votes += other.currency.confidence
			}
		}
		if votes > best.confidence && f.value != "" {
			best = found{value: f.value, confidence: votes, at: f.at}
		}
	}
	best.confidence /= float64(max(len(readings), 1))
	return best
}

// addItems takes the lines, and what lies between them and the total, from the draft in which they agree with it.
func (r *Receipt) addItems(goods [][]draftItem, total int64, s *sums) {
	var best items
	for _, draft := range goods {
		it := reconcile(draft, total, s)
		nearer := it.confidence == best.confidence && !it.reconciled && abs(sumOf(it.list)-total) < abs(sumOf(best.list)-total)
		if it.confidence > best.confidence || len(best.list) == 0 || nearer {
			best = it
		}
	}
	// On a picture, something for nothing is mostly dirt.
	best.list = slices.DeleteFunc(slices.Clone(best.list), func(it draftItem) bool { return it.amount.value == 0 && !it.at.exact })
	for i, it := range best.list {
		r.Items = append(r.Items, it.item())
		r.Evidence = append(r.Evidence, it.at.evidence(lineField(i), 0, 0))
	}
	if len(best.list) > 0 {
		r.Confidence["lines"] = round(best.confidence)
	}
	adj, known := best.adjustment, best.reconciled
	if !known && len(best.list) > 0 {
		r.Warnings = append(r.Warnings, LinesNotReconciled)
	}
	if !known {
		adj, known = adjustmentOfSubtotal(total, s)
	}
	if known {
		r.setAdjustment(adj, best.confidence)
	}
	for _, sub := range s.subtotals {
		if sub.value > 0 && sub.value+adj.tax+adj.tip-adj.discount+adj.rounding == total {
			r.Subtotal = format(sub.value)
			r.Confidence["subtotal"] = round(max(0.6, best.confidence))
			r.Evidence = append(r.Evidence, sub.at.evidence("subtotal", sub.start, sub.end))
			break
		}
	}
}

func adjustmentOfSubtotal(total int64, s *sums) (adjustment, bool) {
	for _, base := range s.subtotals {
		if adj, ok := adjustments(base.value, total, s); ok && adj.plausible(base.value) {
			return adj, true
		}
	}
	return adjustment{}, false
}

func (r *Receipt) setAdjustment(adj adjustment, confidence float64) {
	set := func(field string, into *string, v int64) {
		if v != 0 {
			*into = format(v)
			r.Confidence[field] = round(max(0.6, confidence))
		}
	}
	set("tax", &r.Tax, adj.tax)
	set("tip", &r.Tip, adj.tip)
	set("discount", &r.Discount, adj.discount)
	set("rounding", &r.Rounding, adj.rounding)
	delete(r.Confidence, "discount")
	delete(r.Confidence, "rounding")
}

func (it draftItem) item() Item {
	out := Item{Description: it.name, Amount: format(it.amount.value)}
	if it.quantity > 0 && multiply(it.quantity, it.unit) == abs(it.amount.value) {
		out.Quantity, out.UnitPrice = quantityString(it.quantity), format(it.unit)
	}
	return out
}

func lineField(i int) string { return "lines[" + strconv.Itoa(i) + "]" }

// quantityString writes thousandths without needless zeros.
func quantityString(milli int64) string {
	return strconv.FormatFloat(float64(milli)/1000, 'f', -1, 64)
}

func round(c float64) float64 { return math.Round(c*100) / 100 }
