package rules

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/services/ledger/request"
	"github.com/coffer-budget/coffer/services/ledger/rules/matching"
)

// checkOwned returns the problems of a request as one error, including a problem for each
// reference of rule that does not belong to the owner. Malformed ids are among the problems
// already.
func checkOwned(ctx context.Context, tx pgx.Tx, problems apierr.Problems, rule Rule) error {
	var categories []uuid.UUID
	if rule.CategoryID != nil {
		categories = append(categories, *rule.CategoryID)
	}
	owned, err := request.SelectOwned(ctx, tx, rule.OwnerID, rule.wallets(), categories)
	if err != nil {
		return err
	}
	unknown := func(s string) bool {
		id, err := uuid.Parse(s)
		return err == nil && id != uuid.Nil && !slices.Contains(owned.Wallets, id)
	}
	for i, c := range rule.Conditions {
		if c.Field == matching.WalletID && slices.ContainsFunc(c.Values, unknown) {
			path := fmt.Sprintf("conditions[%d].values", i)
			problems.Add(request.ErrWalletNotFound.With(path, "names an unknown wallet"))
		}
	}
	for i, a := range rule.Actions {
		path := fmt.Sprintf("actions[%d].value", i)
		switch {
		case a.Kind == matching.TransferTo && unknown(a.Value):
			problems.Add(request.ErrWalletNotFound.With(path, "is unknown"))
		case a.Kind == matching.SetCategory && rule.CategoryID != nil &&
			!slices.Contains(owned.Categories, *rule.CategoryID):
			problems.Add(request.ErrCategoryNotFound.With(path, "is unknown"))
		}
	}
	return problems.Err()
}

// checkSteps returns errTooManySteps if a change of a rule brings the patterns of the owner's rules
// above the maximum. A change that takes no more steps than before is accepted: rules that are
// older than the maximum may exceed it. The caller shares the owner's lock, so that simultaneous
// changes cannot exceed the maximum together. Rules that are not enabled count, too.
func checkSteps(ctx context.Context, tx pgx.Tx, rule, before Rule) error {
	steps := matching.Steps(rule.Conditions)
	if steps <= matching.Steps(before.Conditions) {
		return nil
	}
	others, err := selectPatterns(ctx, tx, rule.OwnerID, rule.ID)
	if err != nil {
		return err
	}
	for _, other := range others {
		steps += matching.Steps(other.Conditions)
	}
	if steps > matching.MaxSteps {
		return errTooManySteps
	}
	return nil
}
