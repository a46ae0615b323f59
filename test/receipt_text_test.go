package test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCreateTransactionsFromReceiptText uploads receipts as text. Text contains no OCR errors, so
// no amount is corrected.
func TestCreateTransactionsFromReceiptText(t *testing.T) {
	t.Parallel()
	const head = "CORNER SHOP\n2026-03-18\n"
	for name, tc := range map[string]struct {
		text     string
		amounts  []string
		currency string
		warnings []string
	}{
		"lines that add up": {
			"Bread 5.00\nMilk 3.00\nTotal EUR 8.00\n", []string{"-5.00", "-3.00"}, "EUR", nil,
		},
		"tax, tip and discount": {
			"Bread 5.00\nMilk 3.00\nDiscount -1.00\nSubtotal 7.00\nTax 0.70\nTip 1.30\nTotal EUR " +
				"9.00\n",
			[]string{"-5.00", "-3.00", "1.00", "-0.70", "-1.30"},
			"EUR", nil,
		},
		"lines that do not add up": {
			"Bread 5.00\nMilk 3.00\nTotal EUR 9.00\n",
			[]string{"-9.00"},
			"EUR",
			[]string{"LINES_NOT_RECONCILED"},
		},
		"a refund line is positive": {
			"Bread 5.00\nReturned milk -2.00\nTotal EUR 3.00\n",
			[]string{"-5.00", "2.00"},
			"EUR", nil,
		},
		"a receipt of a refund": {
			"Returned milk -2.00\nTotal EUR -2.00\n", []string{"2.00"}, "EUR", nil,
		},
		"yen have no decimals": {
			"Tea 500\nCake 700\nTotal JPY 1200\n", []string{"-500", "-700"}, "JPY", nil,
		},
		"an even exchange": {
			"Blue jacket 50.00\nRed jacket -50.00\nTotal $0.00\n",
			[]string{"-50.00", "50.00"},
			"USD", nil,
		},
		"a coupon for all of it": {
			"Paper 12.00\nSubtotal 12.00\nCoupon -12.00\nTotal USD 0.00\n",
			[]string{"-12.00", "12.00"},
			"USD", nil,
		},
		"thousands without cents": {
			"Rent $1,250\nTotal $1,250\n", []string{"-1250.00"}, "USD", nil,
		},
		"dinars have 3 decimals": {
			"Tea 0.500\nCake 1.255\nTotal BHD 1.755\n", []string{"-0.500", "-1.255"}, "BHD", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			reply := u.upload("", []byte(head+tc.text), "walletId", u.wallet("EUR", "0"),
				"categoryId", u.category("Food")).created("RECEIPT_TRANSACTIONS_CREATED")
			var amounts, warnings []string
			for _, made := range reply.list("transactions") {
				amounts = append(amounts,
					made.(object)["amount"].(interface{ String() string }).String())
				require.Equal(t, tc.currency, made.(object)["currency"])
			}
			for _, w := range reply.list("receipt.warnings") {
				warnings = append(warnings, w.(object)["code"].(string))
			}
			require.Equal(t, tc.amounts, amounts, "%s", reply.raw)
			require.Equal(t, tc.warnings, warnings, "%s", reply.raw)
		})
	}
}

// TestCreateTransactionsFromReceiptCurrencyMismatch uploads a receipt with cents for a wallet in
// yen.
func TestCreateTransactionsFromReceiptCurrencyMismatch(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	text := []byte("CORNER SHOP\n2026-03-18\nTea 5.50\nTotal 5.50\n")
	u.upload("", text, "walletId", u.wallet("JPY", "0"), "categoryId", u.category("Food")).
		fails(400, "RECEIPT_CURRENCY_MISMATCH")
}
