package imports

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// undoChunk deletes the next transactions of an import, newest first, and ends the job if there are none. before is the id of the last
// transaction that was considered. Transactions that were changed since the import, or have attachments, are kept unless the undo is
// forced.
func (s *Imports) undoChunk(ctx context.Context, j job, before *uuid.UUID) (finished bool, err error) {
	position := *before
	err = pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		if err := posting.ShareOwner(ctx, tx, j.OwnerID); err != nil {
			return err
		}
		e, err := renewLease(ctx, tx, j)
		if err != nil {
			return err
		}
		ts, err := lockImported(ctx, tx, j.OwnerID, j.ID, *before, chunkRows)
		if err != nil {
			return err
		}
		if finished = len(ts) == 0; finished {
			return s.completeUndo(ctx, tx, j, e)
		}
		position = ts[len(ts)-1].ID
		return s.remove(ctx, tx, e, ts)
	})
	if err != nil || !finished {
		*before = position
		return false, err
	}
	return true, s.deleteCreated(ctx, j)
}

// remove deletes transactions, and both legs of a transfer together.
func (s *Imports) remove(ctx context.Context, tx pgx.Tx, e entry, ts []posting.Transaction) error {
	legs, err := lockOtherLegs(ctx, tx, e.OwnerID, ts)
	if err != nil {
		return err
	}
	kept := map[uuid.UUID]bool{}
	all := append(ts, legs...)
	for _, t := range all {
		if !e.UndoForce && (t.Version > 1 || t.AttachmentCount > 0) {
			kept[t.ID] = true
			if t.TransferID != nil {
				kept[*t.TransferID] = true
			}
		}
	}
	var removed []posting.Transaction
	for _, t := range all {
		if !kept[t.ID] && (t.TransferID == nil || !kept[*t.TransferID]) {
			removed = append(removed, t)
		}
	}
	if err := posting.AddDetails(ctx, tx, e.OwnerID, removed); err != nil {
		return err
	}
	ids := make([]uuid.UUID, len(removed))
	for i, t := range removed {
		ids[i] = t.ID
	}
	if err := deleteTransactions(ctx, tx, e.OwnerID, ids); err != nil {
		return err
	}
	if err := posting.Remove(ctx, tx, removed...); err != nil {
		return err
	}
	var keptIDs []uuid.UUID
	for _, t := range all {
		if kept[t.ID] || t.TransferID != nil && kept[*t.TransferID] {
			keptIDs = append(keptIDs, t.ID)
		}
	}
	undoneRows, err := setUndone(ctx, tx, e.OwnerID, e.ID, ids, keptIDs)
	if err != nil {
		return err
	}
	if err := addProgress(ctx, tx, e, undoneRows, int64(undoneRows.Undone+undoneRows.Skipped), s.Now()); err != nil {
		return err
	}
	if len(removed) == 0 {
		return nil
	}
	event := &ledgerv1.TransactionsImportUndone{OwnerId: e.OwnerID.String(), ImportId: e.ID.String(), Count: int32(len(removed))}
	event.WalletIds, event.CategoryIds, event.FirstDate, event.LastDate = concerned(removed)
	return s.Publish(ctx, tx, e.OwnerID, event)
}

// completeUndo removes the external ids that the commit gave to existing transactions, and ends the job.
func (s *Imports) completeUndo(ctx context.Context, tx pgx.Tx, j job, e entry) error {
	if err := unlinkTransactions(ctx, tx, j.OwnerID, j.ID, s.Now()); err != nil {
		return err
	}
	if err := setStatus(ctx, tx, e, undone, "", s.Now()); err != nil {
		return err
	}
	m, err := s.current(ctx, tx, j)
	if err != nil {
		return err
	}
	return s.Publish(ctx, tx, j.OwnerID, &ledgerv1.ImportUndone{OwnerId: j.OwnerID.String(), Import: m})
}

// deleteCreated deletes the wallets and categories that the import created, unless something uses them.
func (s *Imports) deleteCreated(ctx context.Context, j job) error {
	m, err := s.current(ctx, s.DB, j)
	if err != nil {
		return err
	}
	for _, a := range m.GetAccounts() {
		if a.GetCreate() && a.GetWalletId() != "" {
			if _, err := s.accounts.DeleteWallet(ctx, &ledgerv1.DeleteWalletRequest{Id: a.GetWalletId()}); err != nil && !inUse(err) {
				return err
			}
		}
	}
	for _, c := range m.GetCategories() {
		if c.GetCreate() && c.GetCategoryId() != "" {
			if _, err := s.accounts.DeleteCategory(ctx, &ledgerv1.DeleteCategoryRequest{Id: c.GetCategoryId()}); err != nil && !inUse(err) {
				return err
			}
		}
	}
	return nil
}

// inUse reports whether a wallet or category was not deleted because something uses it, or because it is gone already.
func inUse(err error) bool {
	e := apierr.From(err)
	return e != nil && (e.Code == codes.NotFound || e.Code == codes.FailedPrecondition || e.Code == codes.AlreadyExists)
}
