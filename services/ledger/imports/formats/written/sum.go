package written

import (
	"math"
	"strconv"
	"strings"

	"github.com/coffer-budget/coffer/internal/money"
)

// sumDecimals is the number of decimals of sums. No currency has more than four.
const sumDecimals = 4

// Sum adds canonical amounts exactly. Its zero value is 0. After an amount that it cannot represent
// it is unknown, and an unknown sum Differs from no other: it must not cause a warning about
// balances.
type Sum struct {
	Units   int64
	Unknown bool
}

// Units returns an amount in units of 0.0001.
func units(amount string) (int64, bool) {
	amount = TrimDecimals(amount)
	whole, frac, _ := strings.Cut(Absolute(amount), ".")
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

// Add adds a canonical amount.
func (s *Sum) Add(amount string) {
	n, ok := units(amount)
	if !ok || s.Units > math.MaxInt64/2 || s.Units < math.MinInt64/2 {
		s.Unknown = true
	}
	if !s.Unknown {
		s.Units += n
	}
}

// Plus returns the total of two sums.
func (s Sum) Plus(other Sum) Sum {
	if s.Unknown || other.Unknown || s.Units > math.MaxInt64/2 || s.Units < math.MinInt64/2 ||
		other.Units > math.MaxInt64/2 || other.Units < math.MinInt64/2 {
		return Sum{Unknown: true}
	}
	return Sum{Units: s.Units + other.Units}
}

// Negated returns the sum with the other sign.
func (s Sum) Negated() Sum { return Sum{-s.Units, s.Unknown} }

// Differs reports whether both sums are known and not equal.
func (s Sum) Differs(other Sum) bool {
	return !s.Unknown && !other.Unknown && s.Units != other.Units
}

// SumOf adds up canonical amounts.
func SumOf(amounts ...string) Sum {
	var s Sum
	for _, a := range amounts {
		s.Add(a)
	}
	return s
}

// Text returns the sum as a canonical amount with as few decimals as possible, at least two unless
// it has none.
func (s Sum) Text() (string, bool) {
	if s.Unknown {
		return "", false
	}
	text := TrimDecimals(money.Decimal(s.Units, sumDecimals))
	if _, frac, ok := strings.Cut(text, "."); ok && len(frac) == 1 {
		text += "0"
	}
	return text, true
}
