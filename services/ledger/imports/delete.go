package imports

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// DeleteImport deletes an import. Its transactions stay.
func (s *Imports) DeleteImport(ctx context.Context, req *ledgerv1.DeleteImportRequest) (*ledgerv1.DeleteImportResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidID
	}
	owner := caller.Owner(ctx)
	err := pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		// The transactions lose their import id, so this is a write of the owner's transactions.
		if err := posting.ShareOwner(ctx, tx, owner); err != nil {
			return err
		}
		e, err := unknown(lockImport(ctx, tx, owner, id))
		if err != nil {
			return err
		}
		if e.working() {
			return errState
		}
		return deleteImport(ctx, tx, owner, id)
	})
	if err != nil {
		return nil, err
	}
	return &ledgerv1.DeleteImportResponse{Id: id.String()}, nil
}
