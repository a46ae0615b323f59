package imports

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/jobs"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/resolving"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

const (
	// inlineRows is the number of rows up to which a request derives all rows itself. That takes
	// about a quarter of a second.
	inlineRows = 2 * staging.PageRows
	// updateWait is the time for which an update waits for its job, so that clients see the result
	// of most updates at once. It is within the deadline of an ordinary request, also on a busy
	// machine.
	updateWait = 4 * time.Second
)

const (
	codeUpdateStarted    = "IMPORT_UPDATE_STARTED"
	messageUpdateStarted = "Update of the import started"
)

// update is an import that was changed.
type update struct {
	staging.Import

	// started is set if a job derives the rows. problem is the one of the import if it succeeds.
	started bool
	problem string
}

// derive stores changed details or changed rows of an import, and derives all rows. It starts a job
// for a large import: within a request, its rows would exceed the deadline. Until the job ends, the
// import has the status updating, which rejects all other changes. Only while a canceled update is
// taken back, another one may replace that (see replaceRestoring).
func (s *Imports) derive(
	ctx context.Context, tx pgx.Tx, imp staging.Import, details *ledgerv1.Import, mapped bool,
) (result update, err error) {
	last, err := staging.LastRow(ctx, tx, imp.OwnerID, imp.ID)
	if err != nil {
		return update{}, err
	}
	before := imp.Details
	mapped = mapped || imp.Mapped()
	if result.started = last > s.inlineRows; !result.started {
		if err := resolving.All(ctx, tx, s.key, imp.OwnerID, imp.ID, details, mapped); err != nil {
			return update{}, err
		}
		imp.Underived, imp.Change = false, nil
		if imp.Status == staging.Preview {
			imp.Problem = ""
		}
	}
	if err := imp.SetDetails(details); err != nil {
		return update{}, err
	}
	if result.started {
		imp.Begin(before, mapped, s.NewID(), last)
		result.problem = imp.Change.Problem
	}
	result.Import, err = s.write(ctx, tx, imp)
	return result, err
}

// replaceRestoring ends the job that takes a canceled update back, if a request changes rows: that
// derives all rows, too. Thus a user who has stopped an update can correct it at once. It does
// nothing for other imports and other requests.
func (s *Imports) replaceRestoring(
	ctx context.Context, tx pgx.Tx, imp *staging.Import, changes bool,
) error {
	if !changes || !imp.Restoring() {
		return nil
	}
	imp.Abandon("", s.NewID())
	return staging.EndLease(ctx, tx, imp.OwnerID, imp.ID)
}

// await wakes the job of an update and waits for it, up to duration. update is not started any more
// if it has succeeded.
func (s *Imports) await(ctx context.Context, update *update, duration time.Duration) error {
	if !update.started {
		return nil
	}
	s.Jobs.Wake()
	e, err := s.wait(ctx, update.Import, duration, func(now staging.Import) bool {
		return now.Status != staging.Updating || now.Restoring()
	})
	if err != nil {
		return err
	}
	update.Import = e
	update.started = e.Status == staging.Updating || e.Problem != update.problem
	return nil
}

// wait reads an import again until a condition is met or a time has passed, and returns it.
func (s *Imports) wait(
	ctx context.Context, e staging.Import, d time.Duration, met func(now staging.Import) bool,
) (staging.Import, error) {
	read := func() (staging.Import, error) {
		return unknown(staging.SelectImport(ctx, s.DB, e.OwnerID, e.ID))
	}
	return jobs.Wait(ctx, d, e, read, met)
}
