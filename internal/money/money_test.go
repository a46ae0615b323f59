package money

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		currency, number string
		minor            int64
		err              error
	}{
		{"USD", "12.30", 1230, nil},
		{"USD", "-0.01", -1, nil},
		{"USD", "0", 0, nil},
		{"USD", "-0", 0, nil},
		{"USD", "1.2e1", 1200, nil},
		{"USD", "1E+2", 10000, nil},
		{"USD", "1000e-2", 1000, nil},
		{"USD", "1.10000", 110, nil},
		{"USD", "999999999999.99", 99999999999999, nil},
		{"USD", "1000000000000", 0, ErrRange},
		{"USD", "1e400", 0, ErrRange},
		{"USD", "1e99999999999999999999", 0, ErrSyntax},
		{"USD", "1e-400", 0, ErrDecimals},
		{"USD", "10.005", 0, ErrDecimals},
		{"USD", "1.00000000000000000001", 0, ErrDecimals},
		{"JPY", "100", 100, nil},
		{"JPY", "100.5", 0, ErrDecimals},
		{"BHD", "1.234", 1234, nil},
		{"BHD", "999999999999.99", 999999999999990, nil},
		{"BHD", "999999999999.991", 0, ErrRange},
		{"CLF", "999999999998.1234", 9999999999981234, nil},
		{"USD", "", 0, ErrSyntax},
		{"USD", "NaN", 0, ErrSyntax},
		{"USD", "Infinity", 0, ErrSyntax},
		{"USD", "01", 0, ErrSyntax},
		{"USD", ".5", 0, ErrSyntax},
		{"USD", "5.", 0, ErrSyntax},
		{"USD", "+5", 0, ErrSyntax},
		{"USD", "--5", 0, ErrSyntax},
		{"USD", "1e+-2", 0, ErrSyntax},
		{"USD", "0x10", 0, ErrSyntax},
		{"USD", "1,5", 0, ErrSyntax},
		{"USD", "1 ", 0, ErrSyntax},
	} {
		t.Run(tc.currency+" "+tc.number, func(t *testing.T) {
			t.Parallel()
			c, ok := ParseCurrency(tc.currency)
			require.True(t, ok)
			minor, err := c.Parse(tc.number)
			require.ErrorIs(t, err, tc.err)
			require.Equal(t, tc.minor, minor)
		})
	}
}

func TestFormatRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		code := rapid.SampledFrom([]string{"JPY", "USD", "BHD", "CLF"}).Draw(t, "currency")
		c, _ := ParseCurrency(code)
		minor := rapid.Int64Range(-c.max(), c.max()).Draw(t, "minor")
		back, err := c.Parse(c.Format(minor))
		require.NoError(t, err)
		require.Equal(t, minor, back)
	})
}

func TestParseCurrency(t *testing.T) {
	t.Parallel()
	c, ok := ParseCurrency(" eur ")
	require.True(t, ok)
	require.Equal(t, "EUR", c.Code())
	require.Equal(t, 2, c.Decimals())
	for _, bad := range []string{"", "EU", "EURO", "XXX", "XAU", "DEM", "€"} {
		_, ok := ParseCurrency(bad)
		require.False(t, ok, bad)
	}
}

func TestPositiveProblem(t *testing.T) {
	t.Parallel()
	usd, _ := ParseCurrency("USD")
	for number, want := range map[string]string{
		"0.01": "", "999999999999.99": "", "0": "must be greater than 0",
		"-0.01": "must be greater than 0", "x": "must be a number",
		"1e12":  "must be greater than 0 and at most 999999999999.99",
		"-1e12": "must be greater than 0", "-0.001": "must be greater than 0",
		"-x":    "must be a number",
		"0.001": "must not have more decimals than the currency",
	} {
		n, err := usd.Parse(number)
		require.Equal(t, want, PositiveProblem(number, n, err), number)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"1", "-1.5", "1e3", "1e-3", "1e400", "0.1000"} {
		f.Add(s)
	}
	usd, _ := ParseCurrency("USD")
	f.Fuzz(func(t *testing.T, s string) {
		minor, err := usd.Parse(s)
		if err != nil {
			return
		}
		want, ok := new(big.Rat).SetString(s)
		require.True(t, ok, "accepted %q, which is no number", s)
		require.Zero(t, want.Cmp(big.NewRat(minor, 100)), "%q became %d", s, minor)
	})
}

// TestAll requires a name for each currency, and no name without one.
func TestAll(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, c := range All() {
		_, known := currencies[c.Code()]
		require.True(t, known, c.Code())
		require.Equal(t, currencies[c.Code()], c.Decimals())
		require.NotEmpty(t, c.Name, c.Code())
		require.False(t, seen[c.Code()], c.Code())
		seen[c.Code()] = true
	}
	require.Len(t, seen, len(currencies))
}
