package imports

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"
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
	ctx context.Context, tx pgx.Tx, e *staging.Import, f form, facts formats.Facts,
) error {
	details := &ledgerv1.Import{
		Format: e.Format, Defaults: &ledgerv1.ImportDefaults{}, Warnings: facts.Warnings,
	}
	earlier, err := staging.SelectCommitted(ctx, tx, e.OwnerID, e.SHA256)
	switch {
	case err == nil && f.reject:
		return errDuplicate
	case err == nil:
		details.Warnings = append(details.Warnings, "DUPLICATE_OF:"+earlier.String())
	case !errors.Is(err, pgx.ErrNoRows):
		return err
	}
	if facts.Mapping != nil {
		if details.Mapping, err = s.mappingOf(ctx, tx, e, facts.Mapping); err != nil {
			return err
		}
		m := staging.ToMapping(details.GetMapping())
		if details.Heading, err = staging.Heading(ctx, tx, e, m); err != nil {
			return err
		}
	}
	if f.wallet != nil {
		details.Defaults.WalletId = f.wallet.String()
	}
	o, err := resolving.SelectOwned(ctx, tx, e.OwnerID)
	if err != nil {
		return err
	}
	assigned, err := s.assigned(ctx, tx, e, f, facts.Accounts)
	if err != nil {
		return err
	}
	details.Accounts = resolving.Accounts(e.Format, o, facts.Accounts, assigned)
	details.Categories = resolving.Categories(o, facts.Categories)
	if err := resolving.All(ctx, tx, e.OwnerID, e.ID, details, true); err != nil {
		return err
	}
	if err := e.SetDetails(details); err != nil {
		return err
	}
	e.Status, e.UpdatedAt = staging.Preview, s.Now()
	return staging.UpdateImport(ctx, tx, *e)
}

// mappingOf returns the mapping that was saved for the heading of a CSV file, or otherwise the
// proposed one. Fields that the saved mapping lacks, because an older release saved it, are taken
// from the proposal, and so is a currency that the file states.
func (s *Imports) mappingOf(
	ctx context.Context, tx pgx.Tx, e *staging.Import, proposed *mapping.Mapping,
) (*ledgerv1.ImportMapping, error) {
	heading, err := staging.Heading(ctx, tx, e, proposed)
	if err != nil || heading == nil {
		return staging.FromMapping(proposed), err
	}
	p, err := staging.SelectProfile(ctx, tx, e.OwnerID, heading)
	if errors.Is(err, pgx.ErrNoRows) {
		return staging.FromMapping(proposed), nil
	}
	if err != nil {
		return nil, err
	}
	saved := *proposed
	if err := json.Unmarshal(p.Mapping, &saved); err != nil {
		return nil, fmt.Errorf("decoding import profile %s: %w", p.ID, err)
	}
	if proposed.Currency != "" {
		saved.Currency = proposed.Currency
	}
	return staging.FromMapping(&saved), nil
}

// assigned returns the wallets of accounts, by their keys: the one of the form, or those of earlier
// imports of the accounts.
func (s *Imports) assigned(
	ctx context.Context, tx pgx.Tx, e *staging.Import, f form, found []statement.Account,
) (map[string]uuid.UUID, error) {
	macs := make([][]byte, len(found))
	for i, a := range found {
		macs[i] = s.key.MAC(a.Key)
	}
	known, err := staging.SelectAccountWallets(ctx, tx, e.OwnerID, macs)
	if err != nil {
		return nil, err
	}
	assigned := map[string]uuid.UUID{}
	for i, a := range found {
		if wallet, ok := known[string(macs[i])]; ok {
			assigned[a.Key] = wallet
		}
		if f.wallet != nil {
			assigned[a.Key] = *f.wallet
		}
	}
	return assigned, nil
}
