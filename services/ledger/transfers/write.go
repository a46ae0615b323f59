package transfers

import (
	"cmp"
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// change writes the next version of both legs of a transfer, corrects balances and totals, adds the
// event, and returns the new version. unlocking decides about locked legs. The caller holds the
// locks of both rows.
func (s *Transfers) change(
	ctx context.Context, tx pgx.Tx, before, after Transfer, unlocking posting.Unlocking,
) (Transfer, error) {
	err := cmp.Or(unlocking.Change(before.Out, &after.Out), unlocking.Change(before.In, &after.In))
	if err != nil {
		return Transfer{}, err
	}
	after, event := Next(before, after, s.Now())
	if err := write(ctx, tx, before, after); err != nil {
		return Transfer{}, err
	}
	if err := unlocking.Write(ctx, tx, after.Out.OwnerID); err != nil {
		return Transfer{}, err
	}
	return after, s.Publish(ctx, tx, after.Out.OwnerID, event)
}

// Next returns a changed transfer with its next version, and the event of the change. Both legs get
// one version, so that the ETag of the transfer is the ETag of each leg.
func Next(before, after Transfer, now time.Time) (Transfer, *ledgerv1.TransferUpdated) {
	after = after.next(before, now)
	return after, &ledgerv1.TransferUpdated{
		OwnerId: after.Out.OwnerID.String(), Before: before.Proto(), After: after.Proto(),
	}
}

// remove deletes both legs of a transfer, corrects balances and totals, and adds the event. The
// caller holds the locks of both rows.
func (s *Transfers) remove(
	ctx context.Context, tx pgx.Tx, t Transfer, unlocking posting.Unlocking,
) error {
	if err := cmp.Or(unlocking.Delete(t.Out), unlocking.Delete(t.In)); err != nil {
		return err
	}
	if err := posting.Delete(ctx, tx, t.legs()...); err != nil {
		return err
	}
	if err := posting.Remove(ctx, tx, t.legs()...); err != nil {
		return err
	}
	if err := unlocking.Write(ctx, tx, t.Out.OwnerID); err != nil {
		return err
	}
	return s.Publish(ctx, tx, t.Out.OwnerID, t.Deleted())
}

// Deleted returns the event of the deletion of t.
func (t Transfer) Deleted() *ledgerv1.TransferDeleted {
	return &ledgerv1.TransferDeleted{OwnerId: t.Out.OwnerID.String(), Transfer: t.Proto()}
}

// Match makes a transfer of an expense and an income, corrects balances and totals, and adds the
// events of the transfer and of both transactions: consumers that follow the spending need the
// latter. The caller holds the locks of both rows, and has checked that the two fit.
func Match(
	ctx context.Context, tx pgx.Tx, ledger *posting.Ledger, before Transfer, now time.Time,
) (Transfer, error) {
	id, after := ledger.NewID(), before
	after.Out.TransferID, after.In.TransferID = &id, &id
	after.Out.CategoryID, after.In.CategoryID = nil, nil
	after = after.next(before, now)
	if err := write(ctx, tx, before, after); err != nil {
		return Transfer{}, err
	}
	owner := after.Out.OwnerID
	created := &ledgerv1.TransferCreated{OwnerId: owner.String(), Transfer: after.Proto()}
	if err := ledger.Publish(ctx, tx, owner, created); err != nil {
		return Transfer{}, err
	}
	return after, ledger.PublishUpdates(ctx, tx, before.legs(), after.legs())
}

// write writes both rows, and corrects balances and totals with one statement for both, so that a
// sum that both legs concern changes once.
func write(ctx context.Context, tx pgx.Tx, before, after Transfer) error {
	if err := posting.Update(ctx, tx, after.legs()...); err != nil {
		return posting.ClientError(err)
	}
	return posting.Replace(ctx, tx, before.legs(), after.legs())
}
