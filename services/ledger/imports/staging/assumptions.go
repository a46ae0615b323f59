package staging

import (
	"slices"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
)

// FromAssumptions returns assumptions as the API shows them.
func FromAssumptions(assumptions []statement.Assumption) []*ledgerv1.ImportAssumption {
	var out []*ledgerv1.ImportAssumption
	for _, a := range assumptions {
		m := &ledgerv1.ImportAssumption{Code: a.Code, Evidence: a.Evidence}
		for _, n := range a.Rows {
			m.Rows = append(m.Rows, int32(n))
		}
		out = append(out, m)
	}
	return out
}

// Assume adds a warning with its evidence to an import.
func Assume(details *ledgerv1.Import, a statement.Assumption) {
	details.Warnings = append(details.GetWarnings(), a.Code)
	slices.Sort(details.Warnings)
	details.Assumptions = append(details.GetAssumptions(),
		FromAssumptions([]statement.Assumption{a})...)
}

// Withdraw removes warnings and their evidence from an import.
func Withdraw(details *ledgerv1.Import, codes ...string) {
	details.Warnings = slices.DeleteFunc(details.GetWarnings(), func(code string) bool {
		return slices.Contains(codes, code)
	})
	details.Assumptions = slices.DeleteFunc(details.GetAssumptions(),
		func(a *ledgerv1.ImportAssumption) bool { return slices.Contains(codes, a.GetCode()) })
}

// HeadingAccount returns the account number that stands for the rows without an account in all
// files with the same heading. It is empty for a file without a heading.
func HeadingAccount(details *ledgerv1.Import) string {
	if len(details.GetHeading()) == 0 {
		return ""
	}
	// No account number in a file has a control character.
	return "\x1e" + string(headingHash(details.GetMapping().GetFormat(), details.GetHeading()))
}
