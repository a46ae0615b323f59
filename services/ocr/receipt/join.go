package receipt

import (
	"math"
	"slices"
	"strconv"
	"time"
)

// Join combines several readings of the same image into one receipt. Each stage uses the results of the stages before it:
//
//  1. combine collects the sums and the drafts of the goods from all readings.
//  2. setTexts chooses merchant, date and currency. It needs no sums.
//  3. bestTotal ranks the amounts that may be the total by their label and by the sums that equal them.
//  4. bestItems reconciles every draft with that total and chooses one.
//  5. setItems and setAmounts copy the chosen lines and the tax, tip, discount, rounding and subtotal.
//
// Without a total the last two stages are skipped, because nothing then shows which lines are goods. Dates more than two days
// after now are rejected. The order of the readings matters only between equally good results.
func Join(now time.Time, readings ...Reading) Receipt {
	r := Receipt{Confidence: map[string]float64{}}
	r.setTexts(readings, now)
	all := combine(readings)
	total, ok := all.bestTotal()
	if !ok {
		return r
	}
	r.setTotal(total)
	goods := all.bestItems(total.value)
	r.setItems(goods)
	r.setAmounts(goods, total.value, &all.sums)
	return r
}

// combined holds the amounts that all readings of one image found. It is not changed after combine.
type combined struct {
	readings []Reading
	// drafts has the lines of goods once per reading, and once more merged if one reading lacks lines of another.
	drafts [][]draftItem
	sums   sums
}

// combine merges the sums and cross-references the drafts of the readings.
func combine(readings []Reading) *combined {
	c := &combined{readings: readings, drafts: draftReadings(readings)}
	for _, reading := range readings {
		c.sums.add(reading.sums)
	}
	return c
}

// Confident reports whether reading the same page again is unlikely to change the receipt. A likely total that the lines add
// up to has almost never changed in measurements.
func (r Receipt) Confident() bool {
	return r.Confidence["total"] >= likelyTotal && r.Confidence["lines"] >= 0.7 && r.Confidence["date"] >= 0.6 && r.Confidence["merchant"] >= 0.4
}

// Uncertain reports whether the total, the date or the merchant is missing or likely wrong. If a receipt is
// neither Confident nor Uncertain, only its lines are in doubt.
func (r Receipt) Uncertain() bool {
	return r.Confidence["total"] < likelyTotal || r.Confidence["date"] < 0.6 || r.Confidence["merchant"] < 0.4
}

// setTexts sets merchant, date and currency, and warns if the order of day and month is ambiguous.
func (r *Receipt) setTexts(readings []Reading, now time.Time) {
	currency := pickCurrency(readings)
	date, ambiguous := pickDate(readings, currency.value, now)
	r.Merchant = r.setText("merchant", pickMerchant(readings))
	r.Date = r.setText("date", date)
	r.Currency = r.setText("currency", currency)
	if ambiguous {
		r.Warnings = append(r.Warnings, DateAmbiguous)
	}
}

// setText records the confidence and evidence of a field and returns its value, or "" if it was not found.
func (r *Receipt) setText(name string, f textField) string {
	if f.at == nil || f.value == "" {
		return ""
	}
	r.Confidence[name] = round(f.confidence)
	r.Evidence = append(r.Evidence, f.at.evidence(name, 0, 0))
	return f.value
}

// setTotal sets the total with its confidence and evidence.
func (r *Receipt) setTotal(total candidate) {
	r.Total = format(total.value)
	r.Confidence["total"] = round(total.confidence)
	r.Evidence = append(r.Evidence, total.at.evidence("total", total.start, total.end))
}

// pickCurrency returns the currency with the highest sum of confidences over all readings, divided by their number.
func pickCurrency(readings []Reading) textField {
	var best textField
	for _, reading := range readings {
		f := reading.currency
		votes := 0.0
		for _, other := range readings {
			if other.currency.value == f.value {
				votes += other.currency.confidence
			}
		}
		if votes > best.confidence && f.value != "" {
			best = textField{value: f.value, confidence: votes, at: f.at}
		}
	}
	best.confidence /= float64(max(len(readings), 1))
	return best
}

// bestItems reconciles every draft with the total and returns the most confident result. If none reconciles, it returns one
// whose sum is nearest to the total.
func (c *combined) bestItems(total int64) items {
	var best items
	for _, draft := range c.drafts {
		it := reconciler{total, &c.sums}.reconcile(draft)
		nearer := it.confidence == best.confidence && !it.reconciled && abs(sumOf(it.list)-total) < abs(sumOf(best.list)-total)
		if it.confidence > best.confidence || len(best.list) == 0 || nearer {
			best = it
		}
	}
	// On an image, an item with the amount 0 is mostly dirt. In text it is printed, for example a free article.
	best.list = slices.DeleteFunc(slices.Clone(best.list), func(it draftItem) bool { return it.amount.value == 0 && !it.at.exact })
	return best
}

// setItems sets the lines with their evidence, and warns if they do not add up to the total.
func (r *Receipt) setItems(goods items) {
	for i, it := range goods.list {
		r.Items = append(r.Items, it.item())
		r.Evidence = append(r.Evidence, it.at.evidence(lineField(i), 0, 0))
	}
	if len(goods.list) == 0 {
		return
	}
	r.Confidence["lines"] = round(goods.confidence)
	if !goods.reconciled {
		r.Warnings = append(r.Warnings, LinesNotReconciled)
	}
}

// setAmounts sets tax, tip, discount, rounding and subtotal. If the lines do not reconcile, they come from a printed subtotal
// that leads to the total; without one they stay empty.
func (r *Receipt) setAmounts(goods items, total int64, s *sums) {
	adj, known := goods.adjustment, goods.reconciled
	if !known {
		adj, known = s.adjustmentOfSubtotal(total)
	}
	if known {
		r.setAdjustment(adj, goods.confidence)
	}
	for _, sub := range s.subtotals {
		if sub.value > 0 && sub.value+adj.sum() == total {
			r.Subtotal = format(sub.value)
			r.Confidence["subtotal"] = round(max(0.6, goods.confidence))
			r.Evidence = append(r.Evidence, sub.at.evidence("subtotal", sub.start, sub.end))
			break
		}
	}
}

// setAdjustment sets the parts of an adjustment that are not zero. Discount and rounding have no confidence in the contract.
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

// item converts a draft to the public form. Quantity and unit price are set only if their product is the amount.
func (it draftItem) item() Item {
	out := Item{Description: it.name, Amount: format(it.amount.value)}
	if it.quantity > 0 && multiply(it.quantity, it.unit) == abs(it.amount.value) {
		out.Quantity, out.UnitPrice = quantityString(it.quantity), format(it.unit)
	}
	return out
}

// lineField returns the field name of line i, as Evidence uses it.
func lineField(i int) string { return "lines[" + strconv.Itoa(i) + "]" }

// quantityString formats thousandths as a decimal string without trailing zeros.
func quantityString(milli int64) string {
	return strconv.FormatFloat(float64(milli)/1000, 'f', -1, 64)
}

// round rounds a confidence to two decimals.
func round(c float64) float64 { return math.Round(c*100) / 100 }
