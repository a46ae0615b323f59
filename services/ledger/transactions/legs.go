package transactions

import (
	"cmp"
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/etag"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/request"
	"github.com/coffer-budget/coffer/services/ledger/transfers"
)

// locked is a transaction that a request names and has locked. other is the other leg if it is a
// leg of a transfer, and nil otherwise. Both legs are locked together, because a change of one may
// change the other.
type locked struct {
	posting.Transaction
	other *posting.Transaction
}

// lockedOf returns the transaction with an id and its other leg from the rows that posting.Lock
// returned. It reports whether the transaction is among them.
func lockedOf(rows []posting.Transaction, id uuid.UUID) (l locked, ok bool) {
	for i := range rows {
		if rows[i].ID == id {
			l.Transaction, ok = rows[i], true
		} else {
			l.other = &rows[i]
		}
	}
	return l, ok
}

// lockForChange locks the caller's transaction, and the other leg if it is a leg of a transfer. It
// returns them if the version of the transaction matches If-Match. It shares the owner's lock
// first, like each database transaction that writes totals (see ownerLock).
func lockForChange(ctx context.Context, tx pgx.Tx, id uuid.UUID, ifMatch string) (locked, error) {
	owner := caller.ID(ctx)
	if err := posting.ShareOwner(ctx, tx, owner); err != nil {
		return locked{}, err
	}
	rows, err := posting.Lock(ctx, tx, owner, id)
	if err != nil {
		return locked{}, err
	}
	l, ok := lockedOf(rows, id)
	if !ok {
		return locked{}, notFound(ctx, tx, owner, id)
	}
	if !etag.Matches(ifMatch, l.Version) {
		return locked{}, apierr.VersionMismatch
	}
	err = addDetails(ctx, tx, &l.Transaction)
	return l, err
}

func (l locked) transfer() transfers.Transfer { return transfers.Of(l.Transaction, *l.other) }

// changeLeg changes a leg of a transfer and returns it. The fields that both legs share change in
// both of them, and the payee only in the named leg. Other fields fail with
// TRANSACTION_IS_TRANSFER; the problems p of the request take precedence over that error.
func (s *Transactions) changeLeg(
	ctx context.Context, tx pgx.Tx, locked locked, changes changes, p apierr.Problems,
) (posting.Transaction, error) {
	if err := cmp.Or(p.Err(), changes.checkLeg(locked.Transaction)); err != nil {
		return posting.Transaction{}, err
	}
	legs := []posting.Transaction{locked.Transaction, *locked.other}
	if err := posting.AddDetails(ctx, tx, locked.OwnerID, legs); err != nil {
		return posting.Transaction{}, err
	}
	named, before := legs[0], transfers.Of(legs[0], legs[1])
	for i := range legs {
		changes.applyShared(&legs[i])
	}
	request.Set(&legs[0].Payee, changes.payee)
	if changes.tags != nil {
		if err := posting.UseTags(ctx, tx, locked.OwnerID, s.Now(), legs); err != nil {
			return posting.Transaction{}, err
		}
	}
	after, err := transfers.Change(ctx, tx, s.Ledger, before, transfers.Of(legs[0], legs[1]))
	if err != nil {
		return posting.Transaction{}, err
	}
	if after.In.ID == named.ID {
		return after.In, nil
	}
	return after.Out, nil
}

// checkLeg returns TRANSACTION_IS_TRANSFER if the changes contain a field that a request can only
// change in the transfer.
func (c changes) checkLeg(transaction posting.Transaction) error {
	var fields []apierr.Field
	for _, field := range []struct {
		name string
		set  bool
	}{
		{"amount", c.amount != nil},
		{"currency", c.currency != nil},
		{"walletId", c.wallet != nil},
		{"categoryId", c.category != nil},
		{"type", c.kind != nil},
		{"splits", c.splits != nil},
	} {
		if field.set {
			fields = append(fields,
				apierr.Field{Name: field.name, Message: "must be changed in the transfer"})
		}
	}
	if len(fields) == 0 {
		return nil
	}
	e := errTransactionIsTransfer.WithMessage("The transaction is part of transfer " +
		transaction.TransferID.String())
	e.Fields = fields
	return e
}

func (c changes) applyShared(t *posting.Transaction) {
	request.Set(&t.Description, c.description)
	request.Set(&t.Date, c.date)
	request.Set(&t.Notes, c.notes)
	request.Set(&t.TagNames, c.tags)
}
