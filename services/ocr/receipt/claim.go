package receipt

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

// Claim is a receipt as a language model read it. Amounts are decimal strings with a point. A field
// that was not found is empty.
type Claim struct {
	Merchant, Date, Currency                      string
	Subtotal, Tax, Tip, Discount, Rounding, Total string
	Items                                         []Item
}

// The confidences of claimed fields.
const (
	// claimedText applies to texts, tax, tip and subtotal.
	claimedText = 0.75
	// claimedTotal and provenTotal apply to a total without and with lines that add up to it.
	claimedTotal = 0.7
	provenTotal  = 0.95
	// maxClaimedLen is the length in runes to which a claimed text is truncated.
	maxClaimedLen = 200
)

// Check converts a claim to a receipt and removes fields that cannot be right: a date that is
// malformed, before 1995 or in the future, and a total that is not positive. Without a total, no
// amounts are kept.
func (c Claim) Check(now time.Time) Receipt {
	receipt := Receipt{Confidence: map[string]float64{}, claimed: true}
	text := func(field, v string) string {
		if v = clip(v); v != "" {
			receipt.Confidence[field] = claimedText
		}
		return v
	}
	receipt.Merchant, receipt.Currency = text("merchant", c.Merchant), text("currency", c.Currency)
	// Two days of tolerance cover time zones and wrong clocks. dates accepts the same range.
	day, err := time.Parse(time.DateOnly, c.Date)
	if err == nil && day.Year() >= 1995 && !day.After(now.AddDate(0, 0, 2)) {
		receipt.Date = text("date", c.Date)
	}
	total, ok := thousandths(c.Total)
	if !ok || total <= 0 {
		receipt.Legible = receipt.Merchant != "" && (receipt.Date != "" || len(c.Items) > 0)
		receipt.Warnings = append(receipt.Warnings, TotalMissing)
		return receipt
	}
	receipt.Legible = true
	receipt.Total, receipt.Confidence["total"] = printed.Format(total), claimedTotal
	receipt.addClaimed(c, total)
	return receipt
}

// addClaimed adds the lines with valid amounts, and the amounts between them and the total.
func (r *Receipt) addClaimed(claim Claim, total int64) {
	sums := sums{
		taxes: claimedAmount(claim.Tax), tips: claimedAmount(claim.Tip),
		discounts: claimedAmount(claim.Discount), rounding: claimedAmount(claim.Rounding),
		subtotals: claimedAmount(claim.Subtotal),
	}
	sum := int64(0)
	for _, it := range claim.Items {
		v, ok := thousandths(it.Amount)
		if !ok {
			continue
		}
		sum += v
		r.Items = append(r.Items, it.checked(v))
	}
	adj, reconciled := sums.adjustments(sum, total)
	switch {
	case len(r.Items) == 0:
		adj = sums.adjustmentOfSubtotal(total)
	case reconciled:
		r.Confidence["lines"] = reconciledConfidence(len(r.Items), 0)
		r.Confidence["total"] = provenTotal
	default:
		r.Confidence["lines"] = 0.3
		r.Warnings = append(r.Warnings, LinesNotReconciled)
		adj = sums.adjustmentOfSubtotal(total)
	}
	r.setAdjustment(adj, claimedText)
	for _, sub := range sums.subtotals {
		if sub.Value > 0 && sub.Value+adj.sum() == total {
			r.Subtotal, r.Confidence["subtotal"] = printed.Format(sub.Value), claimedText
		}
	}
}

// checked returns the item with normalized numbers. It drops quantity and unit price if their
// product is not the amount.
func (it Item) checked(amount int64) Item {
	out := Item{Description: clip(it.Description), Amount: printed.Format(amount)}
	q, okQ := thousandths(it.Quantity)
	u, okU := thousandths(it.UnitPrice)
	if okQ && okU && q > 0 && multiply(q, u) == abs(amount) {
		out.Quantity, out.UnitPrice = quantityString(q), printed.Format(u)
	}
	return out
}

// claimedAmount returns an amount as a list for sums. The list is empty for zero and for malformed
// amounts.
func claimedAmount(v string) []labeled {
	n, ok := thousandths(v)
	if !ok || n == 0 {
		return nil
	}
	return []labeled{{Amount: printed.Amount{Value: n}}}
}

// clip removes invalid UTF-8, NUL and repeated spaces, and truncates to maxClaimedLen runes.
func clip(s string) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "")
	s = strings.Join(strings.Fields(s), " ")
	for utf8.RuneCountInString(s) > maxClaimedLen {
		_, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
	}
	return s
}

// thousandths parses a decimal string with at most three decimals.
func thousandths(s string) (int64, bool) {
	whole, fraction, _ := strings.Cut(s, ".")
	digits := strings.TrimPrefix(whole, "-")
	// Three of maxDigits are for the fraction.
	if len(digits) < 1 || len(digits) > printed.MaxDigits-3 || len(fraction) > 3 {
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
