package booking

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/imports/resolving"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// derive runs the next step of the derivation of all rows, if one is due: for an update of the
// import, or because a commit has created wallets or categories. finished reports whether none is
// due any more. It does not need the owner's lock, because it changes staged rows only.
func (x *executor) derive(
	ctx context.Context, j jobs.Job, pace *jobs.Pace,
) (finished bool, err error) {
	var d *derivation
	err = pg.InTx(ctx, x.DB, func(tx pgx.Tx) error {
		e, err := renewLease(ctx, tx, j)
		switch {
		case err != nil:
			return err
		case e.Status != j.Status:
			// The previous release deletes an import that is updating.
			return jobs.ErrLostLease
		case e.Status != staging.Updating && !e.Underived:
			finished = true
			return nil
		}
		if d, err = x.derivations.take(ctx, tx, x.key, e); err != nil {
			return err
		}
		limit := pace.Rows()
		if d.Position() < e.Derived {
			return d.Replay(ctx, tx, min(limit, int(e.Derived-d.Position())))
		}
		finished, err = x.step(ctx, tx, e, d, limit)
		return err
	})
	if err == nil && d != nil && !finished {
		x.derivations.put(j.ID, kept{d, d.Position(), x.Now()})
	}
	return finished, err
}

// step runs a step of a derivation, and stores its position. New accounts and categories are stored
// at once, so that a derivation that replays the rows assigns them in the same way. An amended
// derivation cannot be replayed, so it becomes a new one, which others begin with the first row.
func (x *executor) step(
	ctx context.Context, tx pgx.Tx, e staging.Import, d *derivation, limit int,
) (finished bool, err error) {
	named, amended := d.Named(), d.Amended()
	if finished, err = d.Step(ctx, tx, limit); err != nil {
		return false, err
	}
	e.Details, e.Derived = nil, d.Position()
	if d.Amended() {
		e.Derived = 0
	}
	if d.Amended() && !amended {
		d.id = x.NewID()
		e.Derivation = &d.id
	}
	if finished || d.Named() > named {
		if err := e.SetDetails(d.Details()); err != nil {
			return false, err
		}
	}
	if finished {
		return true, x.endDerivation(ctx, tx, e)
	}
	return false, setDerived(ctx, tx, e, x.Now())
}

// endDerivation stores that all rows of an import were derived. It ends the job of an update.
func (x *executor) endDerivation(ctx context.Context, tx pgx.Tx, e staging.Import) error {
	e.Underived, e.UpdatedAt = false, x.Now()
	if e.Status != staging.Updating {
		e.Change, e.Derivation, e.Derived = nil, nil, 0
		return staging.UpdateImport(ctx, tx, e)
	}
	e.Settle("")
	if err := staging.UpdateImport(ctx, tx, e); err != nil {
		return err
	}
	return staging.EndLease(ctx, tx, e.OwnerID, e.ID)
}

// failUpdate makes an update that cannot continue return to the details before it. If that cannot
// continue either, for example because the rules take too long, the import keeps rows that were not
// derived with its details, and the next update or commit derives them.
func (x *executor) failUpdate(
	ctx context.Context, tx pgx.Tx, e staging.Import, reason string,
) error {
	e.UpdatedAt = x.Now()
	if e.Change.Restoring {
		e.Abandon(reason, x.NewID())
	} else {
		e.Restore(reason, x.NewID())
	}
	if err := staging.UpdateImport(ctx, tx, e); err != nil {
		return err
	}
	return staging.EndLease(ctx, tx, e.OwnerID, e.ID)
}

const (
	// maxDerivations is the maximum number of derivations that a replica remembers. Each knows the
	// owner's history, and the open transfers and external ids of up to 200 000 rows.
	maxDerivations = 3
	// leftTime is the time after which a derivation whose job has not run seems to be left: its job
	// ended on another replica, or was canceled. The pause after an error is shorter.
	leftTime = 2 * time.Minute
)

// derivations remembers the derivations of imports between the turns of their jobs. Without it,
// each turn would replay all rows before it. It is safe for concurrent use.
type derivations struct {
	mu   sync.Mutex
	open map[uuid.UUID]kept
}

// derivation is a derivation, and its id in the import.
type derivation struct {
	*resolving.Derivation
	id uuid.UUID
}

// kept is a derivation that waits for the next turn of its job.
type kept struct {
	*derivation
	// rows is the number of rows that a new derivation would have to replay.
	rows int32
	at   time.Time
}

// take removes and returns the derivation of an import. A new one, or one that another replica has
// overtaken, is behind the import and must replay rows.
func (s *derivations) take(
	ctx context.Context, tx pgx.Tx, key staging.AccountKey, e staging.Import,
) (*derivation, error) {
	s.mu.Lock()
	d := s.open[e.ID].derivation
	delete(s.open, e.ID)
	s.mu.Unlock()
	id := deref(e.Derivation)
	if d != nil && d.id == id && (d.Position() <= e.Derived || d.Amended() && e.Derived == 0) {
		return d, nil
	}
	details, err := e.ReadDetails()
	if err != nil {
		return nil, err
	}
	begun, err := resolving.Begin(ctx, tx, key, e.OwnerID, e.ID, details, e.Mapped())
	if err != nil {
		return nil, err
	}
	return &derivation{begun, id}, nil
}

// put stores a derivation whose step was committed. If there are too many, it removes one that is
// left, or the one with the fewest rows to replay. So the imports with the most rows keep
// their derivations until they are finished, and the others follow.
func (s *derivations) put(id uuid.UUID, d kept) {
	s.mu.Lock()
	defer s.mu.Unlock()
	cost := func(other uuid.UUID) int32 {
		if d.at.Sub(s.open[other].at) > leftTime {
			return -1
		}
		return s.open[other].rows
	}
	for len(s.open) >= maxDerivations {
		delete(s.open, slices.MinFunc(slices.Collect(maps.Keys(s.open)),
			func(a, b uuid.UUID) int { return cmp.Compare(cost(a), cost(b)) }))
	}
	s.open[id] = d
}
