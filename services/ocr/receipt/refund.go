package receipt

// signRefund makes the minus signs on an image of a refund count. A minus before a number may be dirt, or a dash after a name, so it only
// counts if the total has one, and most of the goods have one, too, or add up to the total with their signs.
func signRefund(lines []*line) {
	minus, plain, sum := 0, 0, int64(0)
	for _, l := range lines {
		a, ok := l.lastPrice()
		if !ok || l.exact {
			continue
		}
		value := a.value
		if attachedMinus.MatchString(l.text[:a.start]) {
			value = -abs(value)
		}
		switch {
		case l.kind == kindTotal && value < 0 && (minus > plain || sum == value):
			countMinus(lines)
			return
		case l.kind == kindTotal:
			return
		case l.kind == kindNone && value < 0:
			minus++
			sum += value
		case l.kind == kindNone:
			plain++
			sum += value
		}
	}
}

// countMinus finds the amounts of lines again, with their minus signs.
func countMinus(lines []*line) {
	for _, l := range lines {
		l.refund = true
		l.amounts = findAmounts(l)
	}
}

// signRows makes the minus signs count in the readings of single rows, if the receipt is a refund. The rows alone do not show that.
func signRows(readings []Reading) []Reading {
	refund := false
	for _, r := range readings {
		refund = refund || len(r.lines) > 0 && r.lines[0].refund && !r.rowsOnly
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
