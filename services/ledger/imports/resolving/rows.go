package resolving

import (
	"context"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/services/ledger/imports/duplicates"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
	"github.com/coffer-budget/coffer/services/ledger/rules"
)

// Rows derives the given rows of an import again and then finds their duplicates. before are the
// same rows before the user's change. The details of the import stay, because only All counts the
// rows of accounts and categories.
func Rows(
	ctx context.Context, tx pgx.Tx, imp staging.Import, owned Owned, rows, before []staging.Row,
) error {
	details, err := imp.ReadDetails()
	if err != nil {
		return err
	}
	resolver, err := loadResolver(ctx, tx, imp.OwnerID, details, owned)
	if err != nil {
		return err
	}
	resolver.rules.Limit(rules.RequestSteps)
	resolver.kept = suggestions(rows, before)
	ns := make([]int32, len(rows))
	for i := range rows {
		resolver.resolve(ctx, &rows[i])
		if resolver.failed != nil {
			return resolver.failed
		}
		ns[i] = rows[i].N
	}
	if err := staging.ReplaceRows(ctx, tx, imp.OwnerID, imp.ID, rows); err != nil {
		return err
	}
	return duplicates.Find(ctx, tx, imp.OwnerID, imp.ID, imp.Format, ns)
}

// historyDecides reports whether the owner's history may decide the category of a row.
func historyDecides(r staging.Row) bool {
	return r.ChosenCategoryID == nil && r.ChosenWalletID == nil && r.Category == "" &&
		len(r.Splits) == 0
}

// suggestionApplies reports whether the history has decided the category of a row, or has suggested
// none. It returns false if a rule has decided, because the rule may have been deleted.
func suggestionApplies(r staging.Row) bool {
	return historyDecides(r) && r.TransferWalletID == nil &&
		!strings.HasPrefix(r.CategoryFrom, staging.FromRule)
}

// suggestions returns the categories that the history has suggested for rows whose texts are the
// same as before the change, by their numbers. It is the nil UUID if the history has suggested
// none.
func suggestions(rows, before []staging.Row) map[int32]uuid.UUID {
	kept := map[int32]uuid.UUID{}
	for i, row := range rows {
		b := before[i]
		if !suggestionApplies(b) || row.BookedPayee() != b.BookedPayee() ||
			row.BookedDescription() != b.BookedDescription() {
			continue
		}
		kept[row.N] = uuid.Nil
		if b.CategoryFrom == staging.FromHistory && b.CategoryID != nil {
			kept[row.N] = *b.CategoryID
		}
	}
	return kept
}
