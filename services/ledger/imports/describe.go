package imports

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/accounts"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats"
)

// finish describes the import of a staged file and resolves its rows. e is visible afterwards.
func (s *Imports) finish(ctx context.Context, tx pgx.Tx, e *entry, f form, facts formats.Facts) error {
	details := &ledgerv1.Import{Format: e.Format, Defaults: &ledgerv1.ImportDefaults{}, Warnings: facts.Warnings}
	earlier, err := selectCommitted(ctx, tx, e.OwnerID, e.SHA256)
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
		if details.Heading, err = headingOf(ctx, tx, e, toMapping(details.GetMapping())); err != nil {
			return err
		}
	}
	if f.wallet != nil {
		details.Defaults.WalletId = f.wallet.String()
	}
	o, err := selectOwned(ctx, tx, e.OwnerID)
	if err != nil {
		return err
	}
	if details.Accounts, err = s.accountsOf(ctx, tx, e, f, o, facts.Accounts); err != nil {
		return err
	}
	details.Categories = categoriesOf(o, facts.Categories)
	if err := resolveAll(ctx, tx, e.OwnerID, e.ID, details, true); err != nil {
		return err
	}
	if err := e.describe(details); err != nil {
		return err
	}
	e.Status, e.UpdatedAt = preview, s.Now()
	return updateImport(ctx, tx, *e)
}

// mappingOf returns the mapping that was saved for the heading of a CSV file, or otherwise the proposed one.
func (s *Imports) mappingOf(ctx context.Context, tx pgx.Tx, e *entry, proposed *formats.Mapping) (*ledgerv1.ImportMapping, error) {
	heading, err := headingOf(ctx, tx, e, proposed)
	if err != nil || heading == nil {
		return fromMapping(proposed), err
	}
	p, err := selectProfile(ctx, tx, e.OwnerID, heading)
	if errors.Is(err, pgx.ErrNoRows) {
		return fromMapping(proposed), nil
	}
	if err != nil {
		return nil, err
	}
	saved := *proposed
	if err := json.Unmarshal(p.Mapping, &saved); err != nil {
		return nil, fmt.Errorf("decoding import profile %s: %w", p.ID, err)
	}
	return fromMapping(&saved), nil
}

// headingOf returns the cells of the heading, or nil if the file has none.
func headingOf(ctx context.Context, q pg.Querier, e *entry, m *formats.Mapping) ([]string, error) {
	if m.Format != formats.CSV || !m.Header {
		return nil, nil
	}
	rows, err := selectRowsAfter(ctx, q, e.OwnerID, e.ID, int32(m.SkipRows), 1)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0].Cells, nil
}

// maxPosition is the maximum position of a wallet.
const maxPosition = 1_000_000

// accountsOf returns the accounts of a file with their wallets: the one of the form, or the one of an earlier import of the account. resolver
// adds the wallets of the same name.
func (s *Imports) accountsOf(ctx context.Context, tx pgx.Tx, e *entry, f form, o owned, found []formats.Account) ([]*ledgerv1.ImportAccount, error) {
	macs := make([][]byte, len(found))
	for i, a := range found {
		macs[i] = s.mac(a.Key)
	}
	known, err := selectAccountWallets(ctx, tx, e.OwnerID, macs)
	if err != nil {
		return nil, err
	}
	c := newResolver(&ledgerv1.Import{Format: e.Format}, o)
	var all []*ledgerv1.ImportAccount
	for i, a := range found {
		account := &ledgerv1.ImportAccount{Key: a.Key, Name: a.Name, Last4: a.Last4, Currency: a.Currency}
		if account.Name == "" {
			account.Name = a.Key
		}
		account.Color, account.Icon, _ = accounts.Appearance(a.Color, a.Icon, "")
		if account.Archived = a.Archived; a.Position != nil && *a.Position >= 0 && *a.Position <= maxPosition {
			account.Position = a.Position
		}
		account.OpeningBalance, account.ClosingBalance = balance(a.Opening), balance(a.Closing)
		if !a.ClosingDate.IsZero() {
			account.ClosingDate = day(&a.ClosingDate)
		}
		wallet, remembered := known[string(macs[i])]
		switch {
		case f.wallet != nil:
			account.WalletId = f.wallet.String()
		case remembered:
			account.WalletId = wallet.String()
		default:
			c.adopt(account)
		}
		all = append(all, account)
	}
	return all, nil
}

// categoriesOf returns the categories that a file describes: the owner's of the same name, or one that the commit creates.
func categoriesOf(o owned, found []formats.Category) []*ledgerv1.ImportCategory {
	c := newResolver(&ledgerv1.Import{}, o)
	for _, f := range found {
		if f.Name != "" {
			n := c.category(f.Name)
			n.Color, n.Icon, n.Kind = accounts.Appearance(f.Color, f.Icon, f.Kind)
		}
	}
	return slices.Collect(maps.Values(c.categories))
}

// balance returns a balance in a file, or nil if it states none.
func balance(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
