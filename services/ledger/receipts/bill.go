package receipts

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/text"
	ocrv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ocr/v1"
)

// correctedBill replaces the corrected amounts of a receipt and returns its bill. If the lines were
// corrected, they must add up to the total.
func (u upload) correctedBill(
	recognized *ocrv1.Receipt, currency money.Currency, printed bool,
) (bill, error) {
	if err := u.corrections.applyAmounts(recognized, currency); err != nil {
		return bill{}, err
	}
	result, err := parseBill(recognized, currency)
	switch {
	case errors.Is(err, money.ErrDecimals):
		return bill{}, u.currencyMismatch(recognized, currency, printed)
	case err != nil:
		return bill{}, err
	}
	for i, category := range u.corrections.categories {
		result.lines[i].category = category
	}
	if len(u.corrections.categories) > 0 && !result.reconciles() {
		return bill{}, errReceiptSumMismatch.With("corrections.lines", result.mismatch(currency))
	}
	return result, nil
}

func (b bill) mismatch(currency money.Currency) string {
	if b.unreadable {
		return "cannot be added up: the tax, tip, discount or rounding that was read " +
			"is not an amount in " + currency.Code()
	}
	sum := b.sum()
	return fmt.Sprintf("must add up to the total %s: "+
		"with tax, tip, discount and rounding the sum is %s, the difference is %s",
		currency.Format(b.total), currency.Format(sum), currency.Format(b.total-sum))
}

// parseBill parses the amounts of a recognized receipt. It returns errOCRResponse if an amount is
// not a number, money.ErrDecimals if the total has more decimals than the currency, and errOCRParse
// if the total is missing or out of range. If a line has too many decimals or is out of range, the
// bill can still become one transaction for the total, but not one per line.
func parseBill(recognized *ocrv1.Receipt, currency money.Currency) (bill, error) {
	var malformed bool
	result := bill{merchant: describe(recognized.GetMerchant(), "Receipt")}
	parse := func(s string) (int64, bool) {
		n, err := currency.Parse(s)
		malformed = malformed || s != "" && errors.Is(err, money.ErrSyntax)
		return n, err == nil
	}
	adjustment := func(s string) int64 {
		n, ok := parse(s)
		result.unreadable = result.unreadable || s != "" && !ok
		return n
	}
	result.tax, result.tip = adjustment(recognized.GetTax()), adjustment(recognized.GetTip())
	result.discount = adjustment(recognized.GetDiscount())
	result.rounding = adjustment(recognized.GetRounding())
	for _, l := range recognized.GetLines() {
		amount, ok := parse(l.GetAmount())
		result.unreadable = result.unreadable || !ok
		result.lines = append(result.lines,
			billLine{description: describe(l.GetDescription(), "Item"), amount: amount})
		// A bill does not contain quantities, prices or the subtotal. They are parsed only to
		// recognize a malformed response.
		parse(l.GetQuantity())
		parse(l.GetUnitPrice())
	}
	parse(recognized.GetSubtotal())
	parse(recognized.GetTotal())
	if malformed {
		return bill{}, errOCRResponse
	}
	var err error
	result.total, err = currency.Parse(recognized.GetTotal())
	switch {
	case errors.Is(err, money.ErrDecimals):
		return bill{}, err
	case err != nil:
		return bill{}, errOCRParse
	}
	return result, nil
}

// describe returns a recognized text as the description of a transaction, and otherwise for a text
// without a visible character.
func describe(s, otherwise string) string {
	return cmp.Or(storable(s, maxLineDescription), otherwise)
}

// payee returns a recognized merchant as the payee of a transaction. It is empty if none is
// printed.
func payee(merchant string) string { return storable(merchant, maxPayee) }

// storable returns a recognized text, cut to a number of characters, without null characters,
// because PostgreSQL rejects them.
func storable(s string, limit int) string {
	return text.Fit(strings.ReplaceAll(s, "\x00", ""), limit)
}

// currencyMismatch returns the error of a total with more decimals than its currency allows. It
// names the field to change: the corrected currency, the receipt if the currency is printed, and
// otherwise the wallet, whose currency was assumed.
func (u upload) currencyMismatch(
	recognized *ocrv1.Receipt, currency money.Currency, printed bool,
) error {
	if u.corrections.ReceiptCorrections != nil && u.corrections.Currency != nil {
		return errReceiptCurrencyMismatch.With("corrections.currency",
			fmt.Sprintf("must permit the total %s: %s permits %d decimals", recognized.GetTotal(),
				currency.Code(), currency.Decimals()))
	}
	if printed {
		return errReceiptCurrencyMismatch.With("receipt",
			fmt.Sprintf("has the total %s, and %s permits %d decimals", recognized.GetTotal(),
				currency.Code(), currency.Decimals()))
	}
	return errReceiptCurrencyMismatch.With("walletId",
		fmt.Sprintf("must be a wallet in the receipt's currency: no currency is printed, "+
			"the total is %s, and the wallet's currency %s permits %d decimals",
			recognized.GetTotal(), currency.Code(), currency.Decimals()))
}

// splitError returns the reason why a bill cannot be split in the mode of the request. It is a
// validation error if another mode or another correction is possible, and otherwise
// OCR_PARSE_FAILED.
func (u upload) splitError(bill bill) error {
	switch {
	case u.mode == modeItems:
		return apierr.Invalid("mode",
			"cannot be items: the receipt's lines do not add up to its total")
	case u.mode == modeSingle && bill.reconciles():
		return apierr.Invalid("mode", "cannot be single: the receipt's total is zero")
	case u.corrections.ReceiptCorrections != nil:
		return apierr.Invalid("corrections.total",
			"must not be zero without lines that add up to zero")
	}
	return errOCRParse
}

// totalMissing is the warning for a receipt whose total was not found.
const totalMissing = "TOTAL_MISSING"

// withoutTotal returns a legible receipt without a total as the draft of a dry run, corrected but
// without transactions. Otherwise it returns an error that names the fields that were read.
func (u upload) withoutTotal(
	found *ocrv1.Receipt, before *ocrv1.RecognizedFields, currency money.Currency,
) (reading, error) {
	if u.dryRun {
		if err := u.corrections.applyAmounts(found, currency); err != nil {
			return reading{}, err
		}
		if len(u.corrections.changed(before, found)) > 0 {
			found.Recognized = before
		}
		warn(found, totalMissing, "The total was not found")
		return reading{upload: u, receipt: found}, nil
	}
	var read []string
	for _, field := range [][2]string{
		{"merchant", before.GetMerchant()},
		{"date", before.GetDate()},
		{"currency", before.GetCurrency()},
	} {
		if field[1] != "" {
			read = append(read, field[0]+" "+field[1])
		}
	}
	if n := len(before.GetLines()); n > 0 {
		read = append(read, fmt.Sprintf("%d lines", n))
	}
	if len(read) == 0 {
		return reading{}, errOCRParse
	}
	return reading{}, errOCRParse.With("corrections.total",
		"is required: the total was not found, only "+strings.Join(read, ", "))
}
