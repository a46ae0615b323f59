package booking

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// link gives the transactions that rows match the external ids of the rows, and their payee and
// notes if the transactions have none. A booked row clears its transaction. A row whose transaction
// was deleted is booked, and so is one whose transaction has an external id meanwhile, unless the
// user has chosen the transaction.
func (c *chunk) link(ctx context.Context, tx pgx.Tx) error {
	var rows []*staging.Row
	var links []link
	for i := range c.rows {
		if r := &c.rows[i]; r.Status == staging.Matched && r.TransactionID == nil {
			rows = append(rows, r)
			links = append(links, link{
				deref(r.DuplicateOf), r.ExternalID, r.BookedPayee(), r.BookedNotes(),
				r.Action == staging.ActionMatch, r.Clears(),
			})
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
		r.FilledCleared = l.Cleared
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
	var rows []*staging.Row
	var wallets []uuid.UUID
	var externals []*string
	for i := range c.rows {
		r := &c.rows[i]
		if r.Status == staging.Ready && r.ExternalID != "" && r.WalletID != nil {
			rows = append(rows, r)
			wallets, externals = append(wallets, *r.WalletID), append(externals, &r.ExternalID)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	found, err := posting.SelectExternal(ctx, tx, c.OwnerID, wallets, externals)
	if err != nil {
		return err
	}
	own, err := c.own(ctx, tx, found)
	if err != nil {
		return err
	}
	for _, t := range found {
		r := rows[t.Position-1]
		if own[t.ID] || r.Action == staging.ActionBook {
			r.ExternalID = ""
			continue
		}
		r.Status, r.DuplicateOf = staging.Duplicate, &t.ID
	}
	type key struct {
		wallet uuid.UUID
		id     string
	}
	seen := map[key]bool{}
	for _, r := range rows {
		k := key{*r.WalletID, r.ExternalID}
		if r.Status != staging.Ready || r.ExternalID == "" {
			continue
		}
		if seen[k] {
			r.ExternalID = ""
		}
		seen[k] = true
	}
	return nil
}

// own returns those of the transactions that this import has created or matched.
func (c *chunk) own(
	ctx context.Context, tx pgx.Tx, ts []posting.External,
) (map[uuid.UUID]bool, error) {
	own := map[uuid.UUID]bool{}
	for _, r := range c.rows {
		if r.Status == staging.Matched {
			own[deref(r.TransactionID)] = true
		}
	}
	var others []uuid.UUID
	for _, t := range ts {
		if deref(t.ImportID) == c.ID {
			own[t.ID] = true
		} else {
			others = append(others, t.ID)
		}
	}
	if len(others) == 0 {
		return own, nil
	}
	matched, err := selectMatched(ctx, tx, c.OwnerID, c.ID, others)
	for _, id := range matched {
		own[id] = true
	}
	return own, err
}

func deref(id *uuid.UUID) uuid.UUID {
	if id == nil {
		return uuid.Nil
	}
	return *id
}
