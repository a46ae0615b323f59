// Package money represents amounts as 64-bit counts of a currency's minor unit, and converts them
// from and to decimals exactly.
//
// ParseCurrency returns one of the active ISO 4217 currencies (currencies.go). Currency.Parse reads
// an amount from a JSON number and never rounds: a number with too many decimals is an error.
// Currency.Format writes it back with exactly the currency's decimals. No code outside of this
// package needs to know how many decimals a currency has, and no code uses floats for money.
package money

import (
	"errors"
	"strconv"
	"strings"
)

// Problems that Parse reports.
var (
	ErrSyntax   = errors.New("must be a number")
	ErrDecimals = errors.New("must not have more decimals than the currency")
	ErrRange    = errors.New("must be between -999999999999.99 and 999999999999.99")
)

// PositiveProblem returns the problem of an amount that must be positive and was parsed from
// number, or "". A negative number is never reported as out of range or too precise, because a
// correction within that range would not be valid either.
func PositiveProblem(number string, n int64, err error) string {
	switch {
	case errors.Is(err, ErrSyntax):
		return err.Error()
	case strings.HasPrefix(number, "-"):
		return "must be greater than 0"
	case errors.Is(err, ErrRange):
		return "must be greater than 0 and at most 999999999999.99"
	case err != nil:
		return err.Error()
	case n <= 0:
		return "must be greater than 0"
	}
	return ""
}

// MaxDecimals is the maximum number of decimals of a currency.
const MaxDecimals = 4

// maxMajor is the largest amount in major units. It is small enough that a bigint can hold the sum
// of 900 such amounts in any currency.
const maxMajor = 999_999_999_999

// Currency is an active ISO 4217 currency. The zero value is not a currency.
type Currency struct {
	code     string
	decimals int
}

// Code returns the three upper-case letters.
func (c Currency) Code() string { return c.code }

// Decimals returns the number of digits of the minor unit: JPY 0, USD 2, BHD 3.
func (c Currency) Decimals() int { return c.decimals }

// ParseCurrency returns the currency with a code. It ignores case and surrounding space.
func ParseCurrency(code string) (Currency, bool) {
	code = strings.ToUpper(strings.TrimSpace(code))
	decimals, ok := currencies[code]
	return Currency{code: code, decimals: decimals}, ok
}

// CurrencyOf returns the currency with a code that was validated before, such as one from the
// database.
func CurrencyOf(code string) Currency {
	c, _ := ParseCurrency(code)
	return c
}

// Parse converts a JSON number (RFC 8259, including exponents) to minor units of c, without
// rounding. It returns ErrSyntax, ErrDecimals or ErrRange.
func (c Currency) Parse(number string) (int64, error) {
	digits, exponent, negative, ok := scan(number)
	if !ok {
		return 0, ErrSyntax
	}
	digits = strings.TrimLeft(digits, "0")
	for strings.HasSuffix(digits, "0") {
		digits = digits[:len(digits)-1]
		exponent++
	}
	if digits == "" {
		return 0, nil
	}
	if exponent < -c.decimals {
		return 0, ErrDecimals
	}
	// maxMajor has 12 digits before the point. The check also keeps "1e400" from allocating.
	if len(digits)+exponent > 12 {
		return 0, ErrRange
	}
	minor, err := strconv.ParseInt(digits+strings.Repeat("0", exponent+c.decimals), 10, 64)
	if err != nil || minor > c.max() {
		return 0, ErrRange
	}
	if negative {
		minor = -minor
	}
	return minor, nil
}

// ParseDecimal converts a JSON number, such as a percentage, to n / 10^decimals. Errors and limits
// are those of Currency.Parse.
func ParseDecimal(number string, decimals int) (int64, error) {
	return Currency{decimals: decimals}.Parse(number)
}

// max returns the largest amount in minor units: 999,999,999,999.99 with the currency's number of
// decimals.
func (c Currency) max() int64 {
	m := int64(maxMajor)
	for i := range c.decimals {
		m *= 10
		if i < 2 {
			m += 9
		}
	}
	return m
}

// Format returns minor units of c as a decimal with exactly the currency's decimals: 1230 USD is
// "12.30".
func (c Currency) Format(minor int64) string {
	return Decimal(minor, c.decimals)
}

// Decimal returns n / 10^decimals with all decimals.
func Decimal(n int64, decimals int) string {
	digits := strconv.FormatInt(n, 10)
	if decimals == 0 {
		return digits
	}
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	if len(digits) <= decimals {
		digits = strings.Repeat("0", decimals-len(digits)+1) + digits
	}
	return sign + digits[:len(digits)-decimals] + "." + digits[len(digits)-decimals:]
}

// scan splits a JSON number into its digits without the point, the power of ten to multiply them
// by, and its sign.
func scan(s string) (digits string, exponent int, negative, ok bool) {
	s, negative = strings.CutPrefix(s, "-")
	mantissa, exp, hasExp := strings.Cut(strings.ToLower(s), "e")
	if hasExp {
		n, err := strconv.Atoi(strings.TrimPrefix(exp, "+"))
		if err != nil || strings.HasPrefix(exp, "+-") {
			return "", 0, false, false
		}
		// A larger exponent changes no result: every number except zero is out of range or has too
		// many decimals. The limit prevents integer overflows below.
		exponent = max(min(n, 1_000_000), -1_000_000)
	}
	whole, frac, hasPoint := strings.Cut(mantissa, ".")
	if whole == "" || len(whole) > 1 && whole[0] == '0' || hasPoint && frac == "" ||
		!isDigits(whole+frac) {
		return "", 0, false, false
	}
	return whole + frac, exponent - len(frac), negative, true
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}
