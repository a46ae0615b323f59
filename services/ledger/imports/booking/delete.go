package booking

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/jobs"
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
