package receipts

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPayee(t *testing.T) {
	t.Parallel()
	for merchant, want := range map[string]string{
		"": "", " ": "", "\u200b": "", "Cafe\u0301\x00 ": "Caf\u00e9",
		strings.Repeat("u\u0308", 300): strings.Repeat("\u00fc", 200),
	} {
		require.Equal(t, want, payee(merchant), "%q", merchant)
	}
	require.Equal(t, "Item", describe("\u200b", "Item"))
}
