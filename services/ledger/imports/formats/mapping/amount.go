package mapping

import (
	"slices"
	"strings"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// missingAmount is the problem of a row without an amount.
const missingAmount = "the amount is missing"

// signedAmount returns the signed amount of a row, the unit written with it, and a problem.
func (r *Reader) signedAmount(cells []string) (amount, unit, problem string) {
	switch r.Mapping.AmountMode {
	case DebitCredit:
		amount, unit, problem = r.debitCredit(cells)
	default:
		amount, unit, problem = r.amount(r.cell(cells, FieldAmount))
		if problem == "" && r.Mapping.AmountMode == TypeColumn {
			negative, known := r.isNegative(r.cell(cells, FieldType))
			switch {
			case !known:
				return amount, unit, "the value of the type column is unknown"
			case negative:
				// Some banks write the sign as well as the type. A reversal then has a sign against
				// its type.
				amount = written.Negate(written.Absolute(amount))
			default:
				amount = written.Absolute(amount)
			}
		}
	}
	if r.Mapping.Invert && amount != "" {
		amount = written.Negate(amount)
	}
	if fee := r.cell(cells, FieldFee); problem == missingAmount && written.HasNonzero(fee) {
		// Some banks write a fee on its own in the column of fees only.
		amount, problem = r.lessFee("0", fee)
	} else if problem == "" {
		amount, problem = r.lessFee(amount, fee)
	}
	return amount, unit, problem
}

// amount returns the amount of a cell, the unit written with it, and a problem.
func (r *Reader) amount(cell string) (amount, unit, problem string) {
	amount, unit, ok := r.Amount(cell)
	switch {
	case ok:
		return amount, unit, ""
	case cell == "":
		return "", "", missingAmount
	}
	return "", "", "the amount cannot be read"
}

// lessFee returns an amount that is lowered by a fee. Some banks write fees as negative numbers.
func (r *Reader) lessFee(amount, cell string) (lower, problem string) {
	if !written.HasNonzero(cell) {
		return amount, ""
	}
	fee, _, ok := r.Amount(cell)
	if !ok {
		return amount, "the fee cannot be read"
	}
	lower, ok = written.SumOf(amount, written.Negate(written.Absolute(fee))).Text()
	if !ok {
		return amount, "the fee cannot be subtracted"
	}
	return lower, ""
}

// debitCredit returns the amount of a row with two columns. A debit lowers the balance whatever its
// sign: some banks write debits as negative numbers. A zero in one column is ignored if the other
// one has an amount.
func (r *Reader) debitCredit(cells []string) (amount, unit, problem string) {
	total, found := "", false
	for _, field := range []string{FieldDebit, FieldCredit} {
		cell := r.cell(cells, field)
		if cell == "" {
			continue
		}
		value, currency, ok := r.Amount(cell)
		if !ok {
			if strings.ContainsAny(cell, "0123456789") {
				return "", "", "the amount cannot be read"
			}
			continue
		}
		isZero := strings.Trim(value, "-0.") == ""
		if found && !isZero && strings.Trim(total, "-0.") != "" {
			return "", "", "the row has a debit and a credit"
		}
		if !found || !isZero {
			unit = currency
			if total = written.Absolute(value); field == FieldDebit {
				total = written.Negate(total)
			}
		}
		found = true
	}
	if !found {
		return "", "", missingAmount
	}
	return total, unit, ""
}

// isNegative reports whether a value of the type column means money out. If the column has the
// amounts, only those with a mark are money in, such as "+12.50" and "12.50 CR".
func (r *Reader) isNegative(value string) (negative, known bool) {
	if slices.Equal(r.columns[FieldType], r.columns[FieldAmount]) {
		n, ok := written.ScanNumber(value)
		return n.Negative || !n.Signed, ok
	}
	if len(r.negative) > 0 {
		return r.negative[written.Fold(value)], true
	}
	return written.SignOf(value)
}
