package resolving

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/money"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// transfer identifies the transfers that two rows of a file describe: by the id in the file, or
// otherwise by everything else.
type transfer struct {
	id                 string
	day                time.Time
	from, to           uuid.UUID
	out, in            int64
	currency, arriving string
	// incoming is set for the side that receives the amount. It distinguishes the two sides.
	incoming bool
}

// otherAccount returns the account at the other side of a row's transfer. ok is false if the row is
// no transfer, or if it has an id and the file has no other row with this id: an export of one
// wallet has one leg of each transfer.
func (c *resolver) otherAccount(r *staging.Row) (a *ledgerv1.ImportAccount, ok bool) {
	if r.Transfer == nil {
		return nil, false
	}
	key := r.Transfer.Account
	if r.Transfer.ID != "" {
		if key, ok = c.otherAccounts[r.N]; !ok {
			return nil, false
		}
	}
	c.others[key] = true
	return c.account(key), true
}

// transferOf sets the wallet at the other side of a transfer.
func (c *resolver) transferOf(r *staging.Row) {
	switch {
	case r.ChosenWalletID != nil:
		r.TransferWalletID = r.ChosenWalletID
	case r.ChosenCategoryID == nil:
		if a, ok := c.otherAccount(r); ok {
			r.TransferWalletID = c.walletOf(a)
		}
	}
	if r.TransferWalletID != nil && r.WalletID != nil && *r.TransferWalletID == *r.WalletID {
		r.TransferWalletID = nil
	}
}

// remember pairs a row that is one side of a transfer with the other side, if the file has a row
// for it.
func (c *resolver) remember(r *staging.Row) {
	if r.TransferWalletID == nil || r.WalletID == nil || r.AmountMinor == nil ||
		r.Transfer == nil || !r.Transfer.Paired || r.ChosenWalletID != nil {
		return
	}
	t := transferKey(r)
	opposite := t
	opposite.incoming = !t.incoming
	if waiting := c.unpaired[opposite]; len(waiting) > 0 {
		c.unpaired[opposite] = waiting[1:]
		c.pairs[waiting[0]], c.pairs[r.N] = r.N, waiting[0]
		return
	}
	c.unpaired[t] = append(c.unpaired[t], r.N)
}

// transferKey returns the key of the transfer that a row is a side of.
func transferKey(r *staging.Row) transfer {
	own, other := *r.AmountMinor, -*r.AmountMinor
	if r.Transfer.ID != "" {
		return transfer{id: r.Transfer.ID, incoming: own > 0}
	}
	currency := r.BookedCurrency
	if r.Transfer.Amount != "" {
		record := statement.Record{
			Amount: r.Transfer.Amount, Currency: cmp.Or(r.Transfer.Currency, currency),
		}
		if minor, parsed, err := record.Minor(money.Currency{}); err == nil {
			other, currency = minor, parsed.Code()
		}
	}
	if own > 0 {
		return transfer{
			day: r.Date.UTC(), from: *r.TransferWalletID, to: *r.WalletID, out: other, in: own,
			currency: currency, arriving: r.BookedCurrency, incoming: true,
		}
	}
	return transfer{
		day: r.Date.UTC(), from: *r.WalletID, to: *r.TransferWalletID, out: own, in: other,
		currency: r.BookedCurrency, arriving: currency,
	}
}

// pair writes the pairs. A row whose other side should be in the file, but is not, cannot be read.
func (c *resolver) pair(ctx context.Context, tx pgx.Tx, owner, id uuid.UUID) error {
	var ns, others, alone []int32
	for n, other := range c.pairs {
		ns, others = append(ns, n), append(others, other)
	}
	for _, waiting := range c.unpaired {
		alone = append(alone, waiting...)
	}
	return writePairs(ctx, tx, owner, id, ns, others, alone)
}
