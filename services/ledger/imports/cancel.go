package imports

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/etag"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/booking"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// CancelImport stops the job of an import. It waits for the lock of the import, which the running
// chunk holds, and ends the lease, so no further chunk commits. A commit ends as failed and an undo
// as done, like after an error: the next one continues. An update derives all rows again with the
// details before it, because chunks have changed some of them. Another update may replace that. The
// choices for rows that started it stay. Without a job, CancelImport has no effect.
func (s *Imports) CancelImport(
	ctx context.Context, req *ledgerv1.CancelImportRequest,
) (*ledgerv1.CancelImportResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidID
	}
	resp := &ledgerv1.CancelImportResponse{}
	call := idem.Call{Owner: caller.ID(ctx), Key: req.GetIdempotencyKey(), Request: req}
	var err error
	resp.Replayed, err = idem.InTx(ctx, s.DB, call, resp, func(tx pgx.Tx) error {
		imp, err := lock(ctx, tx, id, "")
		if err != nil {
			return err
		}
		if !imp.Working() || imp.Restoring() {
			resp.Code, resp.Message = codeFetched, "Import fetched"
			resp.Etag = etag.Format(imp.Version)
			resp.Import, err = imp.Proto()
			return err
		}
		resp.Code, resp.Message = codeCanceled, "Import canceled"
		if err := staging.EndLease(ctx, tx, imp.OwnerID, imp.ID); err != nil {
			return err
		}
		switch imp.Status {
		case staging.Updating:
			imp.Restore(problemCanceled, s.NewID())
			resp.Import, resp.Etag, err = s.save(ctx, tx, imp)
			return err
		case staging.Undoing:
			err = booking.End(ctx, tx, s.Ledger, imp, staging.Done, problemCanceled)
		default:
			err = booking.End(ctx, tx, s.Ledger, imp, staging.Failed, problemCanceled)
		}
		if err != nil {
			return err
		}
		stored, err := staging.SelectImport(ctx, tx, imp.OwnerID, imp.ID)
		if err != nil {
			return err
		}
		resp.Etag = etag.Format(stored.Version)
		resp.Import, err = stored.Proto()
		return err
	})
	if err != nil {
		return nil, err
	}
	s.Jobs.Wake()
	return resp, nil
}
