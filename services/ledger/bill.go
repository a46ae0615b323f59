package ledger

import (
	"cmp"
	"errors"
	"strings"

	"github.com/coffer-budget/coffer/internal/money"
	ocrv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ocr/v1"
)

// parseBill reads a receipt's amounts. A text that is no number at all is nonsense of the recogniser; a total that is
// missing or that money cannot hold cannot be booked; the same of a line only spoils the split.
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
	total, ok := parse(r.GetTotal())
	b.total = total
	switch {
	case nonsense:
		return bill{}, errOCRResponse
	case !ok:
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
