package booking

import (
	"context"
	"maps"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/services/ledger/imports/duplicates"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
	"github.com/coffer-budget/coffer/services/ledger/transfers"
)

// recognize marks rows that are transfers as matched if the file of the other account has created
// their leg since the preview: another transfer would change both wallets twice. A search of
// duplicates does the same for the preview. A leg is one payment, so a leg that another row of the
// import matches stays with it.
func (c *chunk) recognize(ctx context.Context, tx pgx.Tx) error {
	var rows []*staging.Row
	for i := range c.rows {
		r := &c.rows[i]
		if r.Status == staging.Ready && r.Action == "" && r.TransferWalletID != nil &&
			r.WalletID != nil && r.AmountMinor != nil && r.Date != nil {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	legs := make([]transfers.Leg, len(rows))
	for i, r := range rows {
		legs[i] = transfers.Leg{
			WalletID: *r.WalletID, OtherWalletID: *r.TransferWalletID, Currency: r.BookedCurrency,
			AmountMinor: *r.AmountMinor, Date: *r.Date,
		}
	}
	found, err := transfers.FindLegs(ctx, tx, c.OwnerID, c.ID, legs, nil)
	if err != nil || len(found) == 0 {
		return err
	}
	used, err := duplicates.SelectTaken(ctx, tx, c.OwnerID, c.ID)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(slices.Collect(maps.Values(found)), func(id uuid.UUID) bool {
		return used[id]
	}) {
		if found, err = transfers.FindLegs(ctx, tx, c.OwnerID, c.ID, legs, used); err != nil {
			return err
		}
	}
	for i, id := range found {
		rows[i].Status, rows[i].DuplicateOf = staging.Matched, &id
	}
	return nil
}

// linkPairs links ready rows whose other side exists as a leg of a transfer with their wallet to
// the other leg of it. A search of duplicates does the same for the preview.
func (c *chunk) linkPairs(ctx context.Context, tx pgx.Tx) error {
	var rows []*staging.Row
	var transactions, wallets []uuid.UUID
	for i := range c.rows {
		r := &c.rows[i]
		if r.Status != staging.Ready || r.Action != "" || r.WalletID == nil {
			continue
		}
		if partner := c.partner(r); exists(partner) {
			rows = append(rows, r)
			transactions = append(transactions, deref(partner.DuplicateOf))
			wallets = append(wallets, *r.WalletID)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	found, err := duplicates.SelectOtherLegs(ctx, tx, c.OwnerID, c.ID, transactions, wallets)
	if err != nil || len(found) == 0 {
		return err
	}
	used, err := duplicates.SelectTaken(ctx, tx, c.OwnerID, c.ID)
	if err != nil {
		return err
	}
	for _, leg := range found {
		if r := rows[leg.Position-1]; !used[leg.ID] {
			r.Status, r.DuplicateOf, used[leg.ID] = staging.Matched, &leg.ID, true
		}
	}
	return c.link(ctx, tx)
}
