package merchant

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMerchantNameRepairsLegalForm(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Green & Co Sdn. -Wl}s":              "Green & Co SDN BHD",
		"GREEN & CO SON 3HD":                 "GREEN & CO SDN BHD",
		"GREEN & CO (KL) SUN RHD (123456-X)": "GREEN & CO (KL) SDN BHD",
		"GREEN & CO $/B 123456-X (KL1)":      "GREEN & CO S/B",
		"GREEN & CO SDN BHD (Co":             "GREEN & CO SDN BHD",
		"GOLDEN SUN BED":                     "GOLDEN SUN BED",
		"GREEN & SON BAR":                    "GREEN & SON BAR",
		"B & GREEN":                          "B & GREEN",
	} {
		require.Equal(t, want, merchantName(text))
	}
}

func TestMerchantNameJoinsSpacedLetters(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"A L D I":          "ALDI",
		"R E W E Markt":    "REWE Markt",
		"Café D E L I":     "Café DELI",
		"Bakery J R Smith": "Bakery J R Smith",
		"B & Q":            "B & Q",
		"H & M Hennes":     "H & M Hennes",
		// Single letters at the beginning may be dirt.
		"J R Smith": "Smith",
	} {
		require.Equal(t, want, merchantName(text), text)
	}
}
