package printed

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestJoinThousands(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]int64{
		"Varav 1 240,50":       {1_240_500},
		"ÖSSZESEN 1 234 567":   {1_234_567_000},
		"ÖSSZESEN -4 985":      {-4_985_000},
		"ALV 2   249,00":       {2_000, 249_000},
		"Celkem 12 49,00":      {12_000, 49_000},
		"Varav 12 varor 240,5": {12_000, 240_500},
		"Total 1 240,50":       {1_000, 240_500},
		"ALV 14% 240,50":       {14_000, 240_500},
	} {
		lines := Lines(FromText(text))
		JoinThousands(lines)
		var got []int64
		for _, a := range lines[0].Amounts {
			got = append(got, a.Value)
		}
		require.Equal(t, want, got, text)
	}
}
