package ledger

import (
	"cmp"
	"errors"
	"strings"

	"github.com/coffer-budget/coffer/internal/money"
	ocrv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ocr/v1"
)

// parseBill parses a receipt's amounts. It returns errOCRResponse if a text is not a number, money.ErrDecimals if the total has
// more decimals than the currency, and errOCRParse if the total is missing or out of range. A line with one of the latter two
// problems only prevents the split into items.
func parseBill(r *ocrv1.Receipt, currency money.Currency) (bill, error) {
	var nonsense bool
	b := bill{merchant: describe(r.GetMerchant(), "Receipt")}
	parse := func(s string) (int64, bool) {
		n, err := currency.Parse(s)
		nonsense = nonsense || s != "" && errors.Is(err, money.ErrSyntax)
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
		parse(l.GetQuantity())
		parse(l.GetUnitPrice())
	}
	parse(r.GetSubtotal())
	parse(r.GetTotal())
	if nonsense {
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

// describe makes a transaction's description of what stood on paper.
func describe(s, otherwise string) string {
	s = strings.TrimSpace(strings.ReplaceAll(s, "\x00", ""))
	if runes := []rune(s); len(runes) > maxLineDescription {
		s = strings.TrimSpace(string(runes[:maxLineDescription]))
	}
	return cmp.Or(s, otherwise)
}
