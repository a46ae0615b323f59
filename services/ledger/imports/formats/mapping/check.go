package mapping

import (
	"fmt"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/balances"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// Check compares the balances of records with their amounts. Its zero value has no records.
type Check struct{ trail balances.Trail }

// Add adds the next record of the file, as a Reader has filled it.
func (c *Check) Add(r *statement.Record) {
	switch {
	case r.Skip, r.Opening, r.Status == written.Void:
	case r.Problem != "", r.Status == written.Pending:
		// Some banks count a pending payment in the balance, and others do not.
		c.trail.Interrupt()
	default:
		c.trail.Add(balances.Row{
			N: r.N, Account: r.Account + "\x00" + r.Currency, Date: r.Date,
			Amount: written.SumOf(r.Amount), Balance: written.SumOf(r.Balance),
			Stated: r.Balance != "",
		})
	}
}

// Mismatch returns the evidence that amounts are wrong, if the balances contradict them. inverted
// is the Invert of the mapping.
func (c *Check) Mismatch(inverted bool) (statement.Assumption, bool) {
	v := c.trail.Verdict()
	if !v.Contradicts(inverted) {
		return statement.Assumption{}, false
	}
	before, _ := v.First.Before.Text()
	balance, _ := v.First.Balance.Text()
	return statement.Assumption{
		Code: statement.BalanceMismatch,
		Evidence: fmt.Sprintf("The balance of row %d is %s and that of row %d is %s, but the "+
			"amounts do not add up to the difference.",
			v.First.Previous, before, v.First.Row, balance),
		Rows: []int{v.First.Previous, v.First.Row},
	}, true
}
