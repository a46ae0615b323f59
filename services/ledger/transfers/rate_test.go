package transfers

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRate(t *testing.T) {
	t.Parallel()
	for want, tc := range map[string]struct {
		out         int64
		outDecimals int
		in          int64
		inDecimals  int
	}{
		"1":            {1250, 2, 1250, 2},
		"150":          {1000, 2, 1500, 0},
		"0.0025131632": {12345, 0, 31025, 3},
		"0.3333333333": {300, 2, 100, 2},
		"0.6666666667": {300, 2, 200, 2},
		"3.333333333":  {3, 0, 10, 0},
		"0":            {9_000_000_000_000, 0, 1, 3},
		"33333333330":  {3, 0, 100_000_000_000, 0},
		"1.000000002":  {10_000_000_000, 0, 10_000_000_015, 0},
		"1.000000004":  {10_000_000_000, 0, 10_000_000_035, 0},
		"9999999999":   {1, 0, 9_999_999_999, 0},
	} {
		require.Equal(t, want, rate(tc.out, tc.outDecimals, tc.in, tc.inDecimals))
	}
}
