package booking

import (
	"context"

	"github.com/jackc/pgx/v5"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// deletedRows is the number of rows that are deleted in about the time in which one is booked.
const deletedRows = 10

// deleteChunk removes the import's id from the next transactions. When none is left it deletes the
// next rows, and finally the import. A foreign key with ON DELETE would do all of that in one long
// statement.
func (x *executor) deleteChunk(
	ctx context.Context, job jobs.Job, pace *jobs.Pace,
) (finished bool, err error) {
	err = x.inChunk(ctx, job, func(tx pgx.Tx, imp staging.Import) error {
		limit := deletedRows * pace.Rows()
		n, err := detachTransactions(ctx, tx, job.OwnerID, job.ID, limit)
		if err != nil {
			return err
		}
		if n == 0 {
			if n, err = deleteRows(ctx, tx, job.OwnerID, job.ID, limit); err != nil {
				return err
			}
		}
		if n > 0 {
			return addProgress(ctx, tx, imp, staging.Counts{}, n, x.Now())
		}
		finished = true
		return staging.DeleteImport(ctx, tx, job.OwnerID, job.ID)
	})
	return finished, err
}

// completeUndo ends the job. It follows the last deletion, so an import that is undone has left
// nothing that is not in use.
func (x *executor) completeUndo(ctx context.Context, job jobs.Job) error {
	return pg.InTx(ctx, x.DB, func(tx pgx.Tx) error {
		e, err := renewLease(ctx, tx, job)
		if err != nil {
			return err
		}
		if err := setStatus(ctx, tx, e, staging.Undone, "", x.Now()); err != nil {
			return err
		}
		m, err := summary(ctx, tx, job.OwnerID, job.ID)
		if err != nil {
			return err
		}
		return x.Publish(ctx, tx, job.OwnerID,
			&ledgerv1.ImportUndone{OwnerId: job.OwnerID.String(), Import: m})
	})
}

// deleteCreated deletes the next wallet or category that the import created, and reports whether
// there was one. One that something uses stays, and another undo tries it again.
func (x *executor) deleteCreated(
	ctx context.Context, job jobs.Job, progress *progress,
) (found bool, err error) {
	creation, found, err := staging.NextCreation(ctx, x.DB, job.OwnerID, job.ID, progress.deleted)
	if err != nil || !found {
		return false, err
	}
	if _, err := renewLease(ctx, x.DB, job); err != nil {
		return false, err
	}
	if id := creation.ID.String(); creation.Kind == staging.CreatedWallet {
		_, err = x.accounts.DeleteWallet(ctx, &ledgerv1.DeleteWalletRequest{Id: id})
	} else {
		_, err = x.accounts.DeleteCategory(ctx, &ledgerv1.DeleteCategoryRequest{Id: id})
	}
	switch {
	case err == nil, hasCode(err, codes.NotFound):
		// The user may have deleted it, and so may an attempt that was interrupted here.
		err = staging.DeleteCreation(ctx, x.DB, job.OwnerID, job.ID, creation.ID)
	case hasCode(err, codes.FailedPrecondition), hasCode(err, codes.AlreadyExists):
		err = nil
	}
	if err != nil {
		return false, err
	}
	progress.deleted = creation.ID
	return true, nil
}

// hasCode reports whether an error is a public one with a code.
func hasCode(err error, code codes.Code) bool {
	e := apierr.From(err)
	return e != nil && e.Code == code
}
