package staging

import (
	"cmp"
	"slices"
	"strings"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// FromAssumptions returns assumptions as the API shows them.
func FromAssumptions(assumptions []statement.Assumption) []*ledgerv1.ImportAssumption {
	var out []*ledgerv1.ImportAssumption
	for _, a := range assumptions {
		m := &ledgerv1.ImportAssumption{
			Code: a.Code, Evidence: a.Evidence.Sentence(), Reason: a.Evidence.Code,
			Parameters: a.Evidence.Parameters,
		}
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

// ReadUnit sets the currency in the evidence of a unit that several currencies have, and reports
// whether the file has such a unit. If currency is empty, the unit is read as its usual currency.
func ReadUnit(details *ledgerv1.Import, currency string) bool {
	for _, a := range details.GetAssumptions() {
		if a.GetReason() != statement.UnitShared {
			continue
		}
		unit := a.GetParameters()["unit"]
		usual := written.CurrencyOf(strings.Trim(unit, `"`))
		evidence := statement.Shows(statement.UnitShared,
			"unit", unit, "currency", cmp.Or(currency, usual))
		a.Evidence, a.Parameters = evidence.Sentence(), evidence.Parameters
		return true
	}
	return false
}

// Withdraw removes warnings and their evidence from an import.
func Withdraw(details *ledgerv1.Import, codes ...string) {
	details.Warnings = slices.DeleteFunc(details.GetWarnings(), func(code string) bool {
		return slices.Contains(codes, code)
	})
	details.Assumptions = slices.DeleteFunc(details.GetAssumptions(),
		func(a *ledgerv1.ImportAssumption) bool { return slices.Contains(codes, a.GetCode()) })
}

// Accept makes the user's confirmation of warnings take effect: the guesses among them disappear,
// and those that are kept do not block the commit any more.
func Accept(details *ledgerv1.Import, codes ...string) {
	Withdraw(details, slices.DeleteFunc(slices.Clone(codes), func(code string) bool {
		return slices.Contains(statement.Kept, code)
	})...)
	for _, a := range details.GetAssumptions() {
		a.Accepted = a.GetAccepted() || slices.Contains(codes, a.GetCode())
	}
}

// Blocks returns the warnings that block the commit of an import.
func Blocks(details *ledgerv1.Import) []string {
	var codes []string
	for _, code := range details.GetWarnings() {
		accepted := slices.ContainsFunc(details.GetAssumptions(),
			func(a *ledgerv1.ImportAssumption) bool {
				return a.GetCode() == code && a.GetAccepted()
			})
		if _, ok := statement.Blocking[code]; ok && !accepted {
			codes = append(codes, code)
		}
	}
	return codes
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
