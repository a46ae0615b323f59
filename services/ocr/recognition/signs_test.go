package recognition

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

func TestWithSigns(t *testing.T) {
	t.Parallel()
	at := func(x int, text string) printed.Word {
		return printed.Word{
			Text: text, Box: printed.Box{X: x, Y: 10, W: 10 * len([]rune(text)), H: 20},
		}
	}
	for name, tc := range map[string]struct{ neural, witness, want string }{
		"umlaut":                    {"Brotchen", "Brötchen", "Brötchen"},
		"capital with an accent":    {"FERRETERIA", "FERRETERÍA", "FERRETERÍA"},
		"sharp s":                   {"StraBe", "Straße", "Straße"},
		"euro read as a letter":     {"12,50E", "12,50€", "12,50€"},
		"euro not read":             {"12,50", "12,50€", "12,50€"},
		"digit is no euro":          {"12,506", "12,50€", "12,506"},
		"other digits":              {"12,50", "12,58€", "12,50"},
		"letter that it knows":      {"Kase", "Käse", "Kase"},
		"different word":            {"Brot", "Brötchen", "Brot"},
		"witness lacks the umlauts": {"Kuche", "Kuche", "Kuche"},
	} {
		got := withSigns([]printed.Word{at(0, tc.neural)}, []printed.Word{at(0, tc.witness)})
		require.Len(t, got, 1, name)
		require.Equal(t, tc.want, got[0].Text, name)
	}
	got := withSigns([]printed.Word{at(0, "12,50")},
		[]printed.Word{at(0, "12,50"), at(80, "€"), at(120, "Ö")})
	require.Len(t, got, 2)
	require.Equal(t, "€", got[1].Text)
	require.Equal(t, "12,50", withSigns([]printed.Word{at(0, "12,50")},
		[]printed.Word{at(200, "12,50€")})[0].Text, "elsewhere")
}
