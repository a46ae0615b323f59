package receipt

import "github.com/coffer-budget/coffer/services/ocr/receipt/printed"

// signRefund makes the minus signs on an image of a refund count. A minus before a number may be
// dirt, or a dash after a name, so it only counts if the total has one, and most of the goods have
// one, too, or add up to the total with their signs.
func signRefund(lines []*printed.Line) {
	minus, plain, sum := 0, 0, int64(0)
	for _, line := range lines {
		amount, ok := line.LastPrice()
		if !ok || line.Exact {
			continue
		}
		value := amount.Value
		if printed.AttachedMinus.MatchString(line.Text[:amount.Start]) {
			value = -abs(value)
		}
		switch {
		case line.Kind == printed.KindTotal && value < 0 && (minus > plain || sum == value):
			countMinus(lines)
			return
		case line.Kind == printed.KindTotal:
			return
		case line.Kind == printed.KindNone && value < 0:
			minus++
			sum += value
		case line.Kind == printed.KindNone:
			plain++
			sum += value
		}
	}
}

func countMinus(lines []*printed.Line) {
	for _, l := range lines {
		l.Refund = true
		l.Amounts = printed.FindAmounts(l)
	}
}

// signRows makes the minus signs count in the readings of single rows, if the receipt is a refund.
// The rows alone do not show that.
func signRows(readings []Reading) []Reading {
	refund := false
	for _, r := range readings {
		refund = refund || len(r.lines) > 0 && r.lines[0].Refund && !r.rowsOnly
	}
	if !refund {
		return readings
	}
	out := make([]Reading, len(readings))
	for i, r := range readings {
		if r.rowsOnly {
			countMinus(r.lines)
			r.sums = findSums(r.lines)
		}
		out[i] = r
	}
	return out
}
