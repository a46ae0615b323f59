package mapping

import (
	"strconv"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/balances"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// Check compares the balances of records with their amounts. Its zero value has no records.
type Check struct {
	trail  balances.Trail
	totals balances.Totals
	edges  edges
}

// Add adds the next record of the file, as a Reader has filled it.
func (c *Check) Add(r *statement.Record) {
	switch {
	case r.Skip, r.Opening, r.Status == written.Void:
	case r.Problem != "", r.Status == written.Pending:
		// Some banks count a pending payment in the balance, and others do not.
		c.trail.Interrupt()
	default:
		row := balances.Row{
			N: r.N, Account: r.Account + "\x00" + r.Currency, Date: r.Date,
			Amount: written.SumOf(r.Amount), Balance: written.SumOf(r.Balance),
			Stated: r.Balance != "",
		}
		c.trail.Add(row)
		c.totals.Add(row)
		c.edges.add(r)
	}
}

// MayOwe reports whether balances may be debts, which rise with money out: the mapping knows the
// direction of each amount.
func (m *Mapping) MayOwe() bool { return m.Invert || m.AmountMode != Signed }

// Debt returns the assumption that the balances are debts, if all of them are.
func (c *Check) Debt() (statement.Assumption, bool) {
	v := c.trail.Verdict()
	if v.Opposed == 0 || v.Agreed+v.Other > 0 {
		return statement.Assumption{}, false
	}
	return statement.Assumption{
		Code: statement.SignAssumed, Evidence: statement.Shows("BALANCES_OF_DEBT"),
		Rows: []int{v.First.Previous, v.First.Row},
	}, true
}

// Mismatch returns the evidence that amounts are wrong, if the balances contradict them, if rows
// without a balance seem to be totals, or if the first or the last row seems to be a balance.
// mayOwe is that of the mapping.
func (c *Check) Mismatch(mayOwe bool) (statement.Assumption, bool) {
	v := c.trail.Verdict()
	if n := c.totals.Last(); n > 0 {
		return statement.Assumption{
			Code:     statement.BalanceMismatch,
			Evidence: statement.Shows("ROW_OF_TOTAL", "row", strconv.Itoa(n)),
			Rows:     []int{n},
		}, true
	}
	if n := c.totals.Edge(); n > 0 && v.Agreed > 1 && !c.edges.pays(n) {
		return rowOfBalance(n), true
	}
	if !v.Contradicts(mayOwe) {
		n := c.edges.bare()
		return rowOfBalance(n), n > 0
	}
	before, _ := v.First.Before.Text()
	balance, _ := v.First.Balance.Text()
	return statement.Assumption{
		Code: statement.BalanceMismatch,
		Evidence: statement.Shows("BALANCES_OF_ROWS",
			"previous", strconv.Itoa(v.First.Previous), "before", before,
			"row", strconv.Itoa(v.First.Row), "balance", balance),
		Rows: []int{v.First.Previous, v.First.Row},
	}, true
}

// rowOfBalance returns the assumption that a row which seems to state a balance is a payment.
func rowOfBalance(n int) statement.Assumption {
	return statement.Assumption{
		Code:     statement.BalanceMismatch,
		Evidence: statement.Shows("ROW_OF_BALANCE", "row", strconv.Itoa(n)),
		Rows:     []int{n},
	}
}
