package money

import "math"

// Percentage returns an amount as a percentage of a total in the same unit, rounded to two
// decimals. It is 100 only if the amount reaches the total: below, it is at most 99.99. The total
// must be greater than 0.
func Percentage(amount, total int64) float64 {
	// The sum with 0 is 0 for -0, which JSON would contain as -0.
	percentage := math.Round(float64(amount)/float64(total)*10_000)/100 + 0
	if amount < total {
		return min(percentage, 99.99)
	}
	return percentage
}
