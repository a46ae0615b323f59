package imports

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// deletedRows is the number of rows that a chunk of a deletion writes.
const deletedRows = 5000

// DeleteImport hides an import, and queues the job that deletes it. Its transactions stay.
func (s *Imports) DeleteImport(ctx context.Context, req *ledgerv1.DeleteImportRequest) (*ledgerv1.DeleteImportResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidID
	}
	err := s.change(ctx, id, func(tx pgx.Tx, e entry) error {
		if e.working() {
			return errState
		}
		return markDeleted(ctx, tx, e, s.Now())
	})
	if err != nil {
		return nil, err
	}
	s.wake()
	return &ledgerv1.DeleteImportResponse{Id: id.String()}, nil
}

// deleteChunk removes the import's id from the next transactions, and then deletes the next rows, and then the import.
func (s *Imports) deleteChunk(ctx context.Context, j job) (finished bool, err error) {
	err = pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		if err := posting.ShareOwner(ctx, tx, j.OwnerID); err != nil {
			return err
		}
		e, err := renewLease(ctx, tx, j)
		if err != nil {
			return err
		}
		n, err := detachTransactions(ctx, tx, j.OwnerID, j.ID, deletedRows)
		if err != nil {
			return err
		}
		if n == 0 {
			if n, err = deleteRows(ctx, tx, j.OwnerID, j.ID, deletedRows); err != nil {
				return err
			}
		}
		if n > 0 {
			return addProgress(ctx, tx, e, counts{}, n, s.Now())
		}
		finished = true
		return deleteImport(ctx, tx, j.OwnerID, j.ID)
	})
	return finished, err
}
