// Package booking runs the jobs of imports: an update, a commit, an undo or a deletion, in chunks
// of one database transaction each. It guarantees that each row of a committed import is booked
// exactly once, even if replicas are killed or two of them commit: the transactions of a chunk, the
// outcome of its rows, the progress of the job and one event commit together. Wallets and
// categories are recorded when they are created (import_creations), and the status undone follows
// their deletion, so an undo leaves none that is not in use.
//
//   - run.go: the steps of a job. store_jobs.go: its lease, progress and status, in its row of
//     imports. Package jobs decides which job runs
//   - derive.go: derives all rows again, for an update or a commit
//   - prepare.go: creates wallets and categories before the first chunk of a commit
//   - book.go: a chunk of a commit. existing.go: its rows whose transaction exists already.
//     replace.go: its rows whose payment was pending in an earlier file, and their undo.
//     transaction.go: the transactions of a row. pair.go: rows whose transfer has its other leg
//     already. legs.go: rows that are a leg already
//   - reconcile.go: the reconciliations of a commit, and their deletion by an undo
//   - undo.go: a chunk of an undo. delete.go: a chunk of a deletion
package booking

import (
	"context"
	"log/slog"
	"math"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/accounts"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// executor executes the jobs of imports: an update, a commit, an undo or a deletion.
type executor struct {
	*posting.Ledger
	accounts    *accounts.Accounts
	key         staging.AccountKey
	derivations derivations
}

// NewQueue returns the queue of the jobs of imports. The jobs wait until Run is called.
func NewQueue(a *accounts.Accounts, key staging.AccountKey, log *slog.Logger) *jobs.Queue {
	x := &executor{
		Ledger: a.Ledger, accounts: a, key: key,
		derivations: derivations{open: map[uuid.UUID]kept{}},
	}
	return jobs.NewQueue(jobTable, jobs.Handler{Chunks: x.chunks, Fail: x.fail}, a.DB, a.Now, log)
}

// chunks returns the function that runs the chunks of a job.
func (x *executor) chunks(j jobs.Job) jobs.Chunk {
	p := &progress{undone: math.MaxInt32, unreconciled: math.MaxInt32}
	return func(ctx context.Context, pace *jobs.Pace) (finished bool, err error) {
		return x.runChunk(ctx, &j, p, pace)
	}
}

// progress holds the numbers of the last rows that this lease of a job considered. The commit reads
// the rows forward and the undo backward. Without the numbers, each chunk would read all rows that
// are finished.
type progress struct {
	committed, undone int32
	// created is set if the commit has created all wallets and categories.
	created bool
	// unreconciled is the last reconciliation that the undo considered, and unlocked is set if it
	// has considered all of them.
	unreconciled int32
	unlocked     bool
	// emptied is set if the undo has considered all rows.
	emptied bool
	// deleted is the last creation that the undo considered. It does not try one again that is in
	// use.
	deleted uuid.UUID
}

// runChunk runs one step of a job in a database transaction.
func (x *executor) runChunk(
	ctx context.Context, job *jobs.Job, progress *progress, pace *jobs.Pace,
) (finished bool, err error) {
	switch job.Status {
	case staging.Updating:
		return x.derive(ctx, *job, pace)
	case staging.Queued:
		if !progress.created {
			progress.created, err = x.createChunk(ctx, *job, pace)
			return false, err
		}
		if derived, err := x.derive(ctx, *job, pace); err != nil || !derived {
			return false, err
		}
		if err := x.prepare(ctx, *job); err != nil {
			return false, err
		}
		job.Status = staging.Running
		return false, nil
	case staging.Running:
		return x.commitChunk(ctx, *job, &progress.committed, pace)
	case staging.Undoing:
		return x.undoChunk(ctx, *job, progress, pace)
	default:
		return x.deleteChunk(ctx, *job, pace)
	}
}

// fail ends a job with an error. Another commit continues a commit that has failed.
func (x *executor) fail(ctx context.Context, j jobs.Job, reason string) error {
	return pg.InTx(ctx, x.DB, func(tx pgx.Tx) error {
		imp, err := renewLease(ctx, tx, j)
		if err != nil {
			return err
		}
		status := staging.Failed
		switch imp.Status {
		case staging.Updating:
			return x.failUpdate(ctx, tx, imp, reason)
		case staging.Undoing:
			// The remaining transactions can be undone again.
			status = staging.Done
		}
		return End(ctx, tx, x.Ledger, imp, status, reason)
	})
}

// End ends a commit or an undo with a problem, and adds the event. It does not count the rows,
// which may be deleted if the import was undone before.
func End(
	ctx context.Context, tx pgx.Tx, ledger *posting.Ledger, imp staging.Import, status,
	problem string,
) error {
	if err := setStatus(ctx, tx, imp, status, problem, ledger.Now()); err != nil {
		return err
	}
	m, err := summary(ctx, tx, imp.OwnerID, imp.ID)
	if err != nil {
		return err
	}
	return ledger.Publish(ctx, tx, imp.OwnerID,
		&ledgerv1.ImportFailed{OwnerId: imp.OwnerID.String(), Import: m})
}

// summary returns an import as events show it: without the mapping, the heading, the assumptions
// and the names in the file, which can be larger than the largest event.
func summary(ctx context.Context, tx pgx.Tx, owner, id uuid.UUID) (*ledgerv1.Import, error) {
	e, err := staging.SelectImport(ctx, tx, owner, id)
	if err != nil {
		return nil, err
	}
	m, err := e.Proto()
	if err != nil {
		return nil, err
	}
	m.Mapping, m.Heading, m.Assumptions, m.Accounts, m.Categories = nil, nil, nil, nil, nil
	return m, nil
}
