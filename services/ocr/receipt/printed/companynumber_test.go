package printed

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFindCurrencyOfCompanyNumber(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"VAT: DE123456789":               "EUR",
		"VAT DE 123 456 789":             "EUR",
		"TVA FR 40 303265045":            "EUR",
		"VAT NO: GB 123 4567 89":         "GBP",
		"CVR DK-12345678":                "DKK",
		"Momsreg.nr SE556012345601":      "SEK",
		"Org.nr 912 345 678 MVA":         "NOK",
		"NIP 123-456-32-18":              "PLN",
		"DIC: CZ12345678":                "CZK",
		"12345678-2-41":                  "HUF",
		"ABN 51 824 753 556":             "AUD",
		"GST/HST 123456789 RT0001":       "CAD",
		"CNPJ 12.345.678/0001-95":        "BRL",
		"T1234567890123":                 "JPY",
		"GST Reg No. M2-1234567-8":       "SGD",
		"IBAN DE89 3704 0044 0532 01":    "",
		"Order 123456789":                "",
		"CODE 123456789":                 "",
		"DE123456789 Total £5.00":        "GBP",
		"Buyer GB123456789 Total 5.00 €": "EUR",
		// The wallet's currency is more likely than the first of two.
		"Seller DE123456789\nBuyer CZ12345678": "",
		"DE123456789\nCZ12345678\nTotal RON 5": "RON",
	} {
		lines := Lines(FromText(text))
		Classify(lines)
		require.Equal(t, want, FindCurrency(lines).Value, text)
	}
}
