package receipt

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Claim is a receipt as somebody else read it: amounts are decimal strings with a point; what was not found is empty.
type Claim struct {
	Merchant, Date, Currency                      string
	Subtotal, Tax, Tip, Discount, Rounding, Total string
	Items                                         []Item
}

// A claim says nothing of how sure it is; its sums do.
const (
	claimedText   = 0.75
	claimedTotal  = 0.7
	provenTotal   = 0.95
	maxClaimedLen = 200
)

// Check makes a receipt of a claim, as far as it holds: a date that is none or lies ahead is dropped, and so is a total
// that is not positive. The lines are believed when they come out at the total, with the tax, tip, discount and rounding
// that it takes.
func (c Claim) Check(now time.Time) Receipt {
	r := Receipt{Confidence: map[string]float64{}}
	text := func(field, v string) string {
		if v = clip(v); v != "" {
			r.Confidence[field] = claimedText
		}
		return v
	}
	r.Merchant, r.Currency = text("merchant", c.Merchant), text("currency", c.Currency)
	if day, err := time.Parse(time.DateOnly, c.Date); err == nil && day.Year() >= 1995 && !day.After(now.AddDate(0, 0, 2)) {
		r.Date = text("date", c.Date)
	}
	total, ok := thousandths(c.Total)
	if !ok || total <= 0 {
		return r
	}
	r.Total, r.Confidence["total"] = format(total), claimedTotal
	r.addClaimed(c, total)
	return r
}

func (r *Receipt) addClaimed(c Claim, total int64) {
	s := sums{taxes: claimed(c.Tax), tips: claimed(c.Tip), discounts: claimed(c.Discount), rounding: claimed(c.Rounding), subtotals: claimed(c.Subtotal)}
	sum := int64(0)
	for _, it := range c.Items {
		v, ok := thousandths(it.Amount)
		if !ok {
			continue
		}
		sum += v
		r.Items = append(r.Items, it.checked(v))
	}
	adj, reconciled := adjustments(sum, total, &s)
	switch {
	case len(r.Items) == 0:
		adj, _ = adjustmentOfSubtotal(total, &s)
	case reconciled:
		r.Confidence["lines"], r.Confidence["total"] = settled(len(r.Items), 0), provenTotal
	default:
		r.Confidence["lines"] = 0.3
		r.Warnings = append(r.Warnings, LinesNotReconciled)
		adj, _ = adjustmentOfSubtotal(total, &s)
	}
	r.setAdjustment(adj, claimedText)
	for _, sub := range s.subtotals {
		if sub.value > 0 && sub.value+adj.tax+adj.tip-adj.discount+adj.rounding == total {
			r.Subtotal, r.Confidence["subtotal"] = format(sub.value), claimedText
		}
	}
}

// checked keeps quantity and price where they come out at the amount.
func (it Item) checked(amount int64) Item {
	out := Item{Description: clip(it.Description), Amount: format(amount)}
	q, okQ := thousandths(it.Quantity)
	u, okU := thousandths(it.UnitPrice)
	if okQ && okU && q > 0 && multiply(q, u) == abs(amount) {
		out.Quantity, out.UnitPrice = quantityString(q), format(u)
	}
	return out
}

func claimed(v string) []labelled {
	n, ok := thousandths(v)
	if !ok || n == 0 {
		return nil
	}
	return []labelled{{amount: amount{value: n}}}
}

func clip(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "")), " ")
	for utf8.RuneCountInString(s) > maxClaimedLen {
		_, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
	}
	return s
}

// thousandths reads a decimal string of at most three places.
func thousandths(s string) (int64, bool) {
	whole, fraction, _ := strings.Cut(s, ".")
	digits := strings.TrimPrefix(whole, "-")
	if len(digits) < 1 || len(digits) > maxDigits-3 || len(fraction) > 3 {
		return 0, false
	}
	for _, r := range digits + fraction {
		if r < '0' || r > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(digits+(fraction + "000")[:3], 10, 64)
	if strings.HasPrefix(whole, "-") {
		n = -n
	}
	return n, err == nil
}
