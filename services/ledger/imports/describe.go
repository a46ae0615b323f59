package imports

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/resolving"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// finish describes the import of a staged file and resolves its rows. The import becomes visible
// with the status preview when the transaction of tx commits. A file whose hash an earlier commit
// has is reported or rejected, as the form requests; its rows would only be duplicates.
func (s *Imports) finish(
	ctx context.Context, tx pgx.Tx, imp *staging.Import, form form, facts formats.Facts,
) error {
	details := &ledgerv1.Import{
		Format: imp.Format, Defaults: &ledgerv1.ImportDefaults{}, Warnings: facts.Warnings,
		Assumptions: staging.FromAssumptions(facts.Assumptions),
	}
	earlier, err := staging.SelectCommitted(ctx, tx, imp.OwnerID, imp.SHA256)
	switch {
	case err == nil && form.reject:
		return errDuplicate
	case err == nil:
		details.Warnings = append(details.Warnings, "DUPLICATE_OF:"+earlier.String())
	case !errors.Is(err, pgx.ErrNoRows):
		return err
	}
	known := false
	if facts.Mapping != nil {
		if known, err = s.setMapping(ctx, tx, imp, details, facts.Mapping); err != nil {
			return err
		}
		m := staging.ToMapping(details.GetMapping())
		if details.Heading, err = staging.Heading(ctx, tx, imp, m); err != nil {
			return err
		}
	}
	if form.wallet != nil {
		details.Defaults.WalletId = form.wallet.String()
	}
	owned, err := resolving.SelectOwned(ctx, tx, imp.OwnerID)
	if err != nil {
		return err
	}
	assigned, err := s.assigned(ctx, tx, imp, form, facts.Accounts)
	if err != nil {
		return err
	}
	details.Accounts = resolving.Accounts(imp.Format, owned, facts.Accounts, assigned)
	details.Categories = resolving.Categories(owned, facts.Categories)
	err = staging.CopyReconciliations(ctx, tx, imp.OwnerID, imp.ID, facts.Reconciliations)
	if err != nil {
		return err
	}
	if known && form.wallet == nil {
		if err := s.assumeWallet(ctx, tx, imp.OwnerID, details, owned); err != nil {
			return err
		}
	}
	if err := resolving.All(ctx, tx, s.key, imp.OwnerID, imp.ID, details, true); err != nil {
		return err
	}
	if err := imp.SetDetails(details); err != nil {
		return err
	}
	imp.Status, imp.UpdatedAt = staging.Preview, s.Now()
	return staging.UpdateImport(ctx, tx, *imp)
}

// withdraw removes the warnings about guesses that a saved mapping confirms.
func withdraw(details *ledgerv1.Import, unread mapping.Unread) {
	keepsDates := unread.Dates || slices.ContainsFunc(details.GetAssumptions(),
		func(a *ledgerv1.ImportAssumption) bool {
			return strings.HasPrefix(a.GetReason(), statement.YearsPrefix)
		})
	for _, code := range statement.Confirmed {
		isDates := code == statement.DateOrderAssumed || code == statement.DateOrderInferred
		if isDates && keepsDates || code == statement.AmountAssumed && unread.New {
			continue
		}
		staging.Withdraw(details, code)
	}
}

// assumeYears replaces the warnings about dates without a year if a saved mapping reads them in
// another order than the proposal. The years that the file shows are those of the other order.
func assumeYears(details *ledgerv1.Import, saved *mapping.Mapping) {
	for _, a := range details.GetAssumptions() {
		if !strings.HasPrefix(a.GetReason(), statement.YearsPrefix) {
			continue
		}
		staging.Withdraw(details, statement.DateOrderAssumed, statement.DateOrderInferred)
		staging.Assume(details, statement.Assumption{
			Code: statement.DateOrderAssumed,
			Evidence: statement.Shows("YEARS_ASSUMED", "example", a.GetParameters()["example"],
				"layout", saved.DateLayout, "until", saved.DatesUntil),
		})
		return
	}
}

// setMapping sets the mapping that was saved for the heading of a CSV file or workbook, or
// otherwise the proposed one. Fields that the saved mapping lacks, because an older release saved
// it, are taken from the proposal, and so is a currency that only this file shows (see
// adoptCurrency). A saved mapping is confirmed, so the guesses of the proposal need no warning,
// except for the year of dates without one, which is another one in each file. known reports
// whether a mapping was saved.
func (s *Imports) setMapping(
	ctx context.Context, tx pgx.Tx, imp *staging.Import, details *ledgerv1.Import,
	proposed *mapping.Mapping,
) (known bool, err error) {
	details.Mapping = staging.FromMapping(proposed)
	heading, err := staging.Heading(ctx, tx, imp, proposed)
	if err != nil || heading == nil {
		return false, err
	}
	profile, err := staging.SelectProfile(ctx, tx, imp.OwnerID, proposed.Format, heading)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	saved := *proposed
	saved.Columns, saved.Empty = nil, nil
	if err := json.Unmarshal(profile.Mapping, &saved); err != nil {
		return false, fmt.Errorf("decoding import profile %s: %w", profile.ID, err)
	}
	adoptCurrency(details, &saved, proposed)
	unread := saved.Adopt(proposed)
	details.Mapping = staging.FromMapping(&saved)
	withdraw(details, unread)
	if unread.Order {
		assumeYears(details, &saved)
	}
	evidence := func(columns []int) statement.Evidence {
		return statement.Shows("SAVED_MAPPING", "columns", columnNames(heading, columns))
	}
	if len(unread.Amounts) > 0 {
		staging.Withdraw(details, statement.AmountAssumed)
		staging.Assume(details, statement.Assumption{
			Code:     statement.AmountAssumed,
			Evidence: evidence(unread.Amounts),
		})
	}
	if len(unread.Texts) > 0 {
		staging.Assume(details, statement.Assumption{
			Code:     statement.ColumnsUnread,
			Evidence: evidence(unread.Texts),
		})
	}
	return true, nil
}

// adoptCurrency completes the currency of a saved mapping, and says where it comes from. A currency
// that the file states replaces the saved one. If the file has a unit of several currencies, the
// saved one stays, because the user has accepted it.
func adoptCurrency(details *ledgerv1.Import, saved, proposed *mapping.Mapping) {
	if staging.ReadUnit(details, saved.Currency) {
		return
	}
	if proposed.Currency != "" {
		saved.Currency = proposed.Currency
	}
	if !slices.Contains(details.GetWarnings(), statement.CurrencyAssumed) || saved.Currency == "" ||
		saved.Currency == proposed.Currency {
		return
	}
	staging.Withdraw(details, statement.CurrencyAssumed)
	staging.Assume(details, statement.Assumption{
		Code:     statement.CurrencyAssumed,
		Evidence: statement.Shows("EARLIER_CURRENCY", "currency", saved.Currency),
	})
}

// columnNames returns the headings of columns for a sentence.
func columnNames(heading []string, columns []int) string {
	var names []string
	for _, i := range columns {
		if i < len(heading) && heading[i] != "" {
			names = append(names, fmt.Sprintf("%q", statement.Cut(heading[i], statement.MaxName)))
		} else {
			names = append(names, strconv.Itoa(i+1))
		}
	}
	return strings.Join(names, ", ")
}
