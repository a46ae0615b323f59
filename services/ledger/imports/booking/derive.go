package booking

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

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
	ctx context.Context, job jobs.Job, pace *jobs.Pace,
) (finished bool, err error) {
	var derived *derivation
	err = pg.InTx(ctx, x.DB, func(tx pgx.Tx) error {
		imp, err := renewLease(ctx, tx, job)
		switch {
		case err != nil:
			return err
		case imp.Status != job.Status:
			// The previous release deletes an import that is updating.
			return jobs.ErrLostLease
		case imp.Status != staging.Updating && !imp.Underived:
			finished = true
			return nil
		}
		if derived, err = x.derivations.take(ctx, tx, x.key, imp); err != nil {
			return err
		}
		if to := derivedOf(imp); derived.Position().Before(to) {
			pace.Rows()
			return derived.Replay(ctx, tx, to, replayedRows)
		}
		finished, err = x.step(ctx, tx, imp, derived, pace.Rows())
		return err
	})
	if err == nil && derived != nil && !finished {
		err = x.keep(ctx, job.ID, derived)
	}
	return finished, err
}

// replayedRows is the number of rows that a chunk replays. It writes none, and holds no lock of the
// owner.
const replayedRows = 2000

// derivedOf returns the progress of the derivation of an import.
func derivedOf(e staging.Import) resolving.Position {
	p := resolving.Position{Row: e.Derived}
	if deref(e.AmendedBy) == deref(e.Derivation) {
		p.Amended = e.Amended
	}
	return p
}

// step runs a step of a derivation, and stores its position. New accounts and categories are stored
// at once, so that a derivation that replays the rows assigns them in the same way.
func (x *executor) step(
	ctx context.Context, tx pgx.Tx, imp staging.Import, derived *derivation, limit int,
) (finished bool, err error) {
	named := derived.Named()
	if finished, err = derived.Step(ctx, tx, limit); err != nil {
		return false, err
	}
	imp.Details, imp.Derived = nil, derived.Position().Row
	imp.AmendedBy, imp.Amended = imp.Derivation, derived.Position().Amended
	if finished || derived.Named() > named {
		if err := imp.SetDetails(derived.Details()); err != nil {
			return false, err
		}
	}
	if finished {
		return true, x.endDerivation(ctx, tx, imp)
	}
	return false, setDerived(ctx, tx, imp, x.Now())
}

// endDerivation stores that all rows of an import were derived. It ends the job of an update.
func (x *executor) endDerivation(ctx context.Context, tx pgx.Tx, imp staging.Import) error {
	imp.Underived, imp.UpdatedAt = false, x.Now()
	if imp.Status != staging.Updating {
		imp.Change, imp.Derivation, imp.Derived = nil, nil, 0
		return staging.UpdateImport(ctx, tx, imp)
	}
	imp.Settle("")
	if err := staging.UpdateImport(ctx, tx, imp); err != nil {
		return err
	}
	return staging.EndLease(ctx, tx, imp.OwnerID, imp.ID)
}

// failUpdate makes an update that cannot continue return to the details before it. If that cannot
// continue either, for example because the rules take too long, the import keeps rows that were not
// derived with its details, and the next update or commit derives them.
func (x *executor) failUpdate(
	ctx context.Context, tx pgx.Tx, imp staging.Import, reason string,
) error {
	imp.UpdatedAt = x.Now()
	if imp.Restoring() {
		imp.Abandon(reason, x.NewID())
	} else {
		imp.Restore(reason, x.NewID())
	}
	if err := staging.UpdateImport(ctx, tx, imp); err != nil {
		return err
	}
	return staging.EndLease(ctx, tx, imp.OwnerID, imp.ID)
}

// keep stores a derivation whose step was committed until the next turn of its job. If there are
// too many, it first removes those that have ended: on another replica, or because the user has
// canceled the update.
func (x *executor) keep(ctx context.Context, id uuid.UUID, derived *derivation) error {
	if owners, imports := x.derivations.list(); len(imports) >= maxDerivations {
		active, err := selectDerivations(ctx, x.DB, owners, imports)
		if err != nil {
			return err
		}
		x.derivations.retain(active)
	}
	x.derivations.put(id, kept{derived, derived.Position().Row + derived.Position().Amended})
	return nil
}

// maxDerivations is the maximum number of derivations that a replica remembers. Each knows the
// owner's history, and the open transfers and external ids of up to 200 000 rows.
const maxDerivations = 3

// derivations remembers the derivations of imports between the turns of their jobs. Without it,
// each turn would replay all rows before it. It is safe for concurrent use.
type derivations struct {
	mu   sync.Mutex
	open map[uuid.UUID]kept
}

// derivation is a derivation of an owner's import, and its id there.
type derivation struct {
	*resolving.Derivation
	id, owner uuid.UUID
}

// kept is a derivation that waits for the next turn of its job.
type kept struct {
	*derivation
	// rows is the number of rows that a new derivation would have to replay.
	rows int32
}

// take removes and returns the derivation of an import. A new one, or one that another replica has
// overtaken, is behind the import and must replay rows.
func (s *derivations) take(
	ctx context.Context, tx pgx.Tx, key staging.AccountKey, imp staging.Import,
) (*derivation, error) {
	s.mu.Lock()
	derived := s.open[imp.ID].derivation
	delete(s.open, imp.ID)
	s.mu.Unlock()
	id := deref(imp.Derivation)
	if derived != nil && derived.id == id && !derivedOf(imp).Before(derived.Position()) {
		return derived, nil
	}
	details, err := imp.ReadDetails()
	if err != nil {
		return nil, err
	}
	begun, err := resolving.Begin(ctx, tx, key, imp.OwnerID, imp.ID, details, imp.Mapped())
	if err != nil {
		return nil, err
	}
	return &derivation{begun, id, imp.OwnerID}, nil
}

// list returns the imports of all derivations, and their owners.
func (s *derivations) list() (owners, imports []uuid.UUID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, d := range s.open {
		owners, imports = append(owners, d.owner), append(imports, id)
	}
	return owners, imports
}

// retain removes all derivations but the active ones.
func (s *derivations) retain(active map[uuid.UUID]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.open, func(_ uuid.UUID, d kept) bool { return !active[d.id] })
}

// put stores a derivation. If there are too many, it removes the one with the fewest rows to
// replay. So the imports with the most rows keep their derivations until they are finished, and the
// others follow.
func (s *derivations) put(id uuid.UUID, d kept) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.open) >= maxDerivations {
		delete(s.open, slices.MinFunc(slices.Collect(maps.Keys(s.open)), func(a, b uuid.UUID) int {
			return cmp.Compare(s.open[a].rows, s.open[b].rows)
		}))
	}
	s.open[id] = d
}
