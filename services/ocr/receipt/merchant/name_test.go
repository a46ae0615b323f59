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
