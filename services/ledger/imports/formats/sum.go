package formats

import (
	"math"
	"strconv"
	"strings"

	"github.com/coffer-budget/coffer/internal/money"
)

// sumDecimals is the number of decimals of sums. No currency has more than four.
const sumDecimals = 4

// sum adds canonical amounts exactly. Its zero value is 0. After an amount that it cannot represent it is unknown, and an unknown sum
// differs from no other: it must not cause a warning about balances.
type sum struct {
	units   int64
	unknown bool
}

// units returns an amount in units of 0.0001.
func units(amount string) (int64, bool) {
	amount = trimDecimals(amount)
	whole, frac, _ := strings.Cut(absolute(amount), ".")
	if len(frac) > sumDecimals {
		return 0, false
	}
	n, err := strconv.ParseInt(whole+frac+strings.Repeat("0", sumDecimals-len(frac)), 10, 64)
	if err != nil || n > math.MaxInt64/4 {
		return 0, false
	}
	if strings.HasPrefix(amount, "-") {
		n = -n
	}
	return n, true
}

// add adds a canonical amount.
func (s *sum) add(amount string) {
	n, ok := units(amount)
	if !ok || s.units > math.MaxInt64/2 || s.units < math.MinInt64/2 {
		s.unknown = true
	}
	if !s.unknown {
		s.units += n
	}
}

// differs reports whether both sums are known and not equal.
func (s sum) differs(other sum) bool {
	return !s.unknown && !other.unknown && s.units != other.units
}

// sumOf adds up canonical amounts.
func sumOf(amounts ...string) sum {
	var s sum
	for _, a := range amounts {
		s.add(a)
	}
	return s
}

// text returns the sum as a canonical amount with as few decimals as possible, at least two unless it has none.
func (s sum) text() (string, bool) {
	if s.unknown {
		return "", false
	}
	text := trimDecimals(money.Decimal(s.units, sumDecimals))
	if _, frac, ok := strings.Cut(text, "."); ok && len(frac) == 1 {
		text += "0"
	}
	return text, true
}
