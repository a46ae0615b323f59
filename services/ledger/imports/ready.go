package imports

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// checkReady returns IMPORT_NOT_READY with a line for each reason why the import cannot be
// committed. A row of an account whose wallet the commit creates is ready without a wallet. force
// only ignores warnings that block: the other reasons would fail the job.
func (s *Imports) checkReady(ctx context.Context, tx pgx.Tx, imp staging.Import, force bool) error {
	details, err := imp.ReadDetails()
	if err != nil {
		return err
	}
	created := []string{}
	for _, a := range details.GetAccounts() {
		if a.GetCreate() {
			created = append(created, a.GetKey())
		}
	}
	reasons, err := selectUnready(ctx, tx, imp.OwnerID, imp.ID, created)
	if err != nil {
		return err
	}
	var problem *apierr.Error
	add := func(field, message string) {
		if problem == nil {
			problem = errNotReady
		}
		problem = problem.With(field, message)
	}
	for _, unready := range reasons {
		switch {
		case unready.Wallet:
			add("accounts",
				fmt.Sprintf("account %q has no wallet (%d rows)", unready.Account, unready.Count))
		case unready.Amount:
			add("defaults.currency",
				fmt.Sprintf("account %q has no currency (%d rows)", unready.Account, unready.Count))
		default:
			add("defaults",
				fmt.Sprintf("%d rows of account %q have no category", unready.Count,
					unready.Account))
		}
	}
	if imp.Ready+imp.Matched+imp.Duplicate+imp.Booked == 0 {
		add("rows",
			fmt.Sprintf("none of %d rows can be committed", imp.Pending+imp.Invalid+imp.Skipped))
	}
	if !force {
		for _, code := range staging.Blocks(details) {
			add("force", statement.Blocking[code]+", or commit with force=true")
		}
	}
	if problem == nil {
		return nil
	}
	return problem
}
