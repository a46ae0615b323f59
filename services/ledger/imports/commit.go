package imports

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// The codes of responses that start a job or find it started.
const (
	codeStarted     = "IMPORT_STARTED"
	codeUndoStarted = "IMPORT_UNDO_STARTED"
	codeFetched     = "IMPORT_FETCHED"
)

// CommitImport queues the job that creates transactions. It has no effect if the import is queued, running or done.
func (s *Imports) CommitImport(ctx context.Context, req *ledgerv1.CommitImportRequest) (*ledgerv1.CommitImportResponse, error) {
	resp := &ledgerv1.CommitImportResponse{Code: codeStarted, Message: "Import started"}
	err := s.queue(ctx, req.GetId(), func(tx pgx.Tx, e staging.Import) (m *ledgerv1.Import, err error) {
		switch e.Status {
		case staging.Queued, staging.Running, staging.Done:
			resp.Code, resp.Message = codeFetched, "Import fetched"
			return e.Proto()
		case staging.Preview, staging.Failed:
		default:
			return nil, errState
		}
		if err := s.checkReady(ctx, tx, e, req.GetForce()); err != nil {
			return nil, err
		}
		e.Status, e.Problem, e.JobDone, e.JobTotal = staging.Queued, "", int64(e.Booked+e.Duplicate), int64(e.Ready+e.Matched+e.Booked+e.Duplicate)
		return s.save(ctx, tx, e)
	}, &resp.Import)
	return resp, err
}

// UndoImport queues the job that deletes the transactions. It has no effect if the import is being undone, or was undone.
func (s *Imports) UndoImport(ctx context.Context, req *ledgerv1.UndoImportRequest) (*ledgerv1.UndoImportResponse, error) {
	resp := &ledgerv1.UndoImportResponse{Code: codeUndoStarted, Message: "Undo of the import started"}
	err := s.queue(ctx, req.GetId(), func(tx pgx.Tx, e staging.Import) (*ledgerv1.Import, error) {
		switch e.Status {
		case staging.Undoing, staging.Undone:
			resp.Code, resp.Message = codeFetched, "Import fetched"
			return e.Proto()
		case staging.Done, staging.Failed:
		default:
			return nil, errState
		}
		e.Status, e.Problem, e.UndoForce, e.JobDone, e.JobTotal = staging.Undoing, "", req.GetForce(), 0, int64(e.Booked)
		return s.save(ctx, tx, e)
	}, &resp.Import)
	return resp, err
}

// queue changes an import with fn, stores the result in m and wakes the worker. The status in the database is the queue: a replica that
// ends loses no job, and another replica finds it when it polls.
func (s *Imports) queue(ctx context.Context, id string, fn func(tx pgx.Tx, e staging.Import) (*ledgerv1.Import, error), m **ledgerv1.Import) error {
	parsed, ok := text.ID(id)
	if !ok {
		return errInvalidID
	}
	err := s.change(ctx, parsed, func(tx pgx.Tx, e staging.Import) (err error) {
		*m, err = fn(tx, e)
		return err
	})
	if err != nil {
		return err
	}
	s.Jobs.Wake()
	return nil
}

// DeleteImport hides an import, and queues the job that deletes it. Its transactions stay.
func (s *Imports) DeleteImport(ctx context.Context, req *ledgerv1.DeleteImportRequest) (*ledgerv1.DeleteImportResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, errInvalidID
	}
	err := s.change(ctx, id, func(tx pgx.Tx, e staging.Import) error {
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
