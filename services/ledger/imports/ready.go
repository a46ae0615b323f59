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
func (s *Imports) checkReady(ctx context.Context, tx pgx.Tx, e staging.Import, force bool) error {
	details, err := e.ReadDetails()
	if err != nil {
		return err
	}
	created := []string{}
	for _, a := range details.GetAccounts() {
		if a.GetCreate() {
			created = append(created, a.GetKey())
		}
	}
	reasons, err := selectUnready(ctx, tx, e.OwnerID, e.ID, created)
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
	for _, r := range reasons {
		switch {
		case r.Wallet:
			add("accounts", fmt.Sprintf("account %q has no wallet (%d rows)", r.Account, r.Count))
		case r.Amount:
			add("defaults.currency",
				fmt.Sprintf("account %q has no currency (%d rows)", r.Account, r.Count))
		default:
			add("defaults",
				fmt.Sprintf("%d rows of account %q have no category", r.Count, r.Account))
		}
	}
	if e.Ready+e.Matched+e.Duplicate+e.Booked == 0 {
		add("rows", fmt.Sprintf("none of %d rows can be committed", e.Pending+e.Invalid+e.Skipped))
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
