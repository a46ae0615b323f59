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
// import has the status updating, which rejects all other changes.
func (s *Imports) derive(
	ctx context.Context, tx pgx.Tx, e staging.Import, details *ledgerv1.Import, mapped bool,
) (u update, err error) {
	last, err := staging.LastRow(ctx, tx, e.OwnerID, e.ID)
	if err != nil {
		return update{}, err
	}
	before := e.Details
	mapped = mapped || e.Mapped()
	if u.started = last > s.inlineRows; !u.started {
		if err := resolving.All(ctx, tx, s.key, e.OwnerID, e.ID, details, mapped); err != nil {
			return update{}, err
		}
		e.Underived, e.Change = false, nil
		if e.Status == staging.Preview {
			e.Problem = ""
		}
	}
	if err := e.SetDetails(details); err != nil {
		return update{}, err
	}
	if u.started {
		e.Begin(before, mapped, s.NewID(), last)
		u.problem = e.Change.Problem
	}
	u.Import, err = s.write(ctx, tx, e)
	return u, err
}

// await wakes the job of an update and waits for it, up to d. u is not started any more if it has
// succeeded.
func (s *Imports) await(ctx context.Context, u *update, d time.Duration) error {
	if !u.started {
		return nil
	}
	s.Jobs.Wake()
	e, err := s.wait(ctx, u.Import, d, func(now staging.Import) bool {
		return now.Status != staging.Updating || now.Change.Restoring
	})
	if err != nil {
		return err
	}
	u.Import = e
	u.started = e.Status == staging.Updating || e.Problem != u.problem
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
