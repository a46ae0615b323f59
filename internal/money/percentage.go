package money

import "math/bits"

// Percentage returns an amount as a percentage of a total in the same unit, rounded down to two
// decimals. So it is 100 only if the amount reaches the total. The total must be greater than 0.
func Percentage(amount, total int64) float64 {
	whole, rest := amount/total, amount%total
	// The remainder of a negative amount is negative.
	if rest < 0 {
		whole, rest = whole-1, rest+total
	}
	// The product may exceed 64 bits.
	high, low := bits.Mul64(uint64(rest), 10_000)
	hundredths, _ := bits.Div64(high, low, uint64(total))
	return (float64(whole)*10_000 + float64(hundredths)) / 100
}
