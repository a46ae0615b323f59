package imports

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/etag"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// The codes of responses that start a job or find it started.
const (
	codeStarted     = "IMPORT_STARTED"
	codeUndoStarted = "IMPORT_UNDO_STARTED"
	codeFetched     = "IMPORT_FETCHED"
	codeCanceled    = "IMPORT_CANCELED"
)

// problemCanceled is the problem of an import whose job the user has canceled.
var problemCanceled = restv1.Reason_CANCELED.String()

// CommitImport queues the job that creates transactions. The status in the database is the queue: a
// replica that ends loses no job, and another replica finds it when it polls. CommitImport has no
// effect if the import is queued, running or done.
func (s *Imports) CommitImport(
	ctx context.Context, req *ledgerv1.CommitImportRequest,
) (*ledgerv1.CommitImportResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidID
	}
	resp := &ledgerv1.CommitImportResponse{}
	call := idem.Call{Owner: caller.ID(ctx), Key: req.GetIdempotencyKey(), Request: req}
	var err error
	resp.Replayed, err = idem.InTx(ctx, s.DB, call, resp, func(tx pgx.Tx) error {
		imp, err := lock(ctx, tx, id, "")
		if err != nil {
			return err
		}
		resp.Code, resp.Message = codeStarted, "Import started"
		switch imp.Status {
		case staging.Queued, staging.Running, staging.Done:
			resp.Code = codeFetched
			resp.Message = "Import fetched"
			resp.Etag = etag.Format(imp.Version)
			resp.Import, err = imp.Proto()
			return err
		case staging.Preview, staging.Failed:
		default:
			return errState
		}
		if err := s.checkReady(ctx, tx, imp, req.GetForce()); err != nil {
			return err
		}
		imp.Status, imp.Problem = staging.Queued, ""
		resp.Import, resp.Etag, err = s.save(ctx, tx, imp)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.Jobs.Wake()
	return resp, nil
}

// UndoImport queues the job that deletes the transactions, and then the wallets and categories that
// the commit created. It has no effect if the import is being undone, or was undone completely. If
// wallets or categories of it were in use, it queues the job again.
func (s *Imports) UndoImport(
	ctx context.Context, req *ledgerv1.UndoImportRequest,
) (*ledgerv1.UndoImportResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidID
	}
	resp := &ledgerv1.UndoImportResponse{}
	call := idem.Call{Owner: caller.ID(ctx), Key: req.GetIdempotencyKey(), Request: req}
	var err error
	resp.Replayed, err = idem.InTx(ctx, s.DB, call, resp, func(tx pgx.Tx) error {
		imp, err := lock(ctx, tx, id, "")
		if err != nil {
			return err
		}
		resp.Code, resp.Message = codeUndoStarted, "Undo of the import started"
		left := true
		switch imp.Status {
		case staging.Undoing:
			left = false
		case staging.Undone:
			if _, left, err = staging.NextCreation(ctx, tx, imp.OwnerID, imp.ID,
				uuid.Nil); err != nil {
				return err
			}
		case staging.Done, staging.Failed:
		default:
			return errState
		}
		if !left {
			resp.Code = codeFetched
			resp.Message = "Import fetched"
			resp.Etag = etag.Format(imp.Version)
			resp.Import, err = imp.Proto()
			return err
		}
		if err := staging.StartUndo(ctx, tx, imp, req.GetForce(), s.Now()); err != nil {
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

// DeleteImport hides an import, and queues the job that deletes it. Its transactions stay.
func (s *Imports) DeleteImport(
	ctx context.Context, req *ledgerv1.DeleteImportRequest,
) (*ledgerv1.DeleteImportResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidID
	}
	err := s.change(ctx, id, req.GetIfMatch(), func(tx pgx.Tx, e staging.Import) error {
		if e.Working() {
			return errState
		}
		return staging.MarkDeleted(ctx, tx, e, s.Now())
	})
	if err != nil {
		return nil, err
	}
	s.Jobs.Wake()
	return &ledgerv1.DeleteImportResponse{Id: id.String()}, nil
}
