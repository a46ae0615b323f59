package receipts

import (
	"cmp"
	"errors"
	"strings"

	"github.com/coffer-budget/coffer/internal/money"
	ocrv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ocr/v1"
)

// parseBill parses the amounts of a recognized receipt. It returns errOCRResponse if an amount is not a number,
// money.ErrDecimals if the total has more decimals than the currency, and errOCRParse if the total is missing or out of range.
// If a line has too many decimals or is out of range, the bill can still become one transaction for the total, but not one per
// line.
func parseBill(r *ocrv1.Receipt, currency money.Currency) (bill, error) {
	var malformed bool
	b := bill{merchant: describe(r.GetMerchant(), "Receipt")}
	parse := func(s string) (int64, bool) {
		n, err := currency.Parse(s)
		malformed = malformed || s != "" && errors.Is(err, money.ErrSyntax)
		return n, err == nil
	}
	adjustment := func(s string) int64 {
		n, ok := parse(s)
		b.unreadable = b.unreadable || s != "" && !ok
		return n
	}
	b.tax, b.tip = adjustment(r.GetTax()), adjustment(r.GetTip())
	b.discount, b.rounding = adjustment(r.GetDiscount()), adjustment(r.GetRounding())
	for _, l := range r.GetLines() {
		amount, ok := parse(l.GetAmount())
		b.unreadable = b.unreadable || !ok
		b.lines = append(b.lines, billLine{description: describe(l.GetDescription(), "Item"), amount: amount})
		// A bill does not contain quantities, prices or the subtotal. They are parsed only to recognize a malformed response.
		parse(l.GetQuantity())
		parse(l.GetUnitPrice())
	}
	parse(r.GetSubtotal())
	parse(r.GetTotal())
	if malformed {
		return bill{}, errOCRResponse
	}
	var err error
	b.total, err = currency.Parse(r.GetTotal())
	switch {
	case errors.Is(err, money.ErrDecimals):
		return bill{}, err
	case err != nil:
		return bill{}, errOCRParse
	}
	return b, nil
}

// describe returns a recognized text as the description of a transaction: without null characters, which PostgreSQL rejects, and at
// most maxLineDescription characters long. It returns otherwise for an empty text.
func describe(s, otherwise string) string {
	s = strings.TrimSpace(strings.ReplaceAll(s, "\x00", ""))
	if runes := []rune(s); len(runes) > maxLineDescription {
		s = strings.TrimSpace(string(runes[:maxLineDescription]))
	}
	return cmp.Or(s, otherwise)
}
