package booking

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// link gives the transactions that rows match the external ids of the rows, and their payee and
// notes if the transactions have none. A row whose transaction was deleted or has an external id
// meanwhile is booked.
func (c *chunk) link(ctx context.Context, tx pgx.Tx) error {
	var rows []*staging.Row
	var links []link
	for i := range c.rows {
		if r := &c.rows[i]; r.Status == staging.Matched && r.TransactionID == nil {
			rows = append(rows, r)
			links = append(links,
				link{deref(r.DuplicateOf), r.ExternalID, r.BookedPayee(), r.BookedNotes()})
		}
	}
	if len(links) == 0 {
		return nil
	}
	found, err := linkTransactions(ctx, tx, c.OwnerID, c.ID, links, c.now)
	if err != nil {
		return err
	}
	for _, l := range found {
		r := rows[l.Position-1]
		r.TransactionID, r.FilledPayee, r.FilledNotes = r.DuplicateOf, l.Payee, l.Notes
	}
	for _, r := range rows {
		if r.TransactionID == nil {
			r.Status, r.DuplicateOf = staging.Ready, nil
		}
	}
	return nil
}

// skipExisting marks the rows whose external id a transaction of their wallet has: another import
// has created it since the preview. A wallet has an external id once, so a row is booked without it
// if the user books the row anyway, or if an earlier row of the same import has it. Two accounts of
// a file whose banks use the same ids may belong to one wallet.
func (c *chunk) skipExisting(ctx context.Context, tx pgx.Tx) error {
	var wallets []uuid.UUID
	var externals []string
	taken := map[uuid.UUID]bool{}
	for _, r := range c.rows {
		switch {
		case r.Status == staging.Matched:
			taken[deref(r.TransactionID)] = true
		case r.Status == staging.Ready && r.ExternalID != "" && r.WalletID != nil:
			wallets, externals = append(wallets, *r.WalletID), append(externals, r.ExternalID)
		}
	}
	if len(wallets) == 0 {
		return nil
	}
	found, err := selectExternal(ctx, tx, c.OwnerID, c.ID, wallets, externals)
	if err != nil {
		return err
	}
	seen := map[external]bool{}
	for i := range c.rows {
		r := &c.rows[i]
		key := external{deref(r.WalletID), r.ExternalID}
		if r.Status != staging.Ready || r.ExternalID == "" {
			continue
		}
		t, exists := found[key]
		switch {
		case exists && !t.Own && !taken[t.ID] && r.Action != staging.ActionBook:
			r.Status, r.DuplicateOf = staging.Duplicate, &t.ID
		case exists || seen[key]:
			r.ExternalID = ""
		default:
			seen[key] = true
		}
	}
	return nil
}

func deref(id *uuid.UUID) uuid.UUID {
	if id == nil {
		return uuid.Nil
	}
	return *id
}
