// Package goals serves goals: amounts that users want to save (ADR 143), alone or with the members
// of a shared goal (ADR 149).
//
// Money is assigned to goals within wallets. An assignment moves nothing: the ledger and the bank
// decide the balance of a wallet, and a wallet may have less than is assigned. The list of goals
// compares both, with one call to the ledger.
//
// It guarantees that the assigned money of a wallet in a goal is never negative, also with
// concurrent writers: the table goal_wallets has a row for each such sum, and a constraint on
// it decides. A user sees no wallet of another user, and the members of a goal have the only
// assignments to it: those of a member who leaves are deleted with the membership. A change, its
// event and the notification of a reached target commit together. The target is reported once, also
// if money is taken back and assigned again.
//
//   - goals.go: the RPCs that change goals; read.go: those that read them
//   - assignments.go: the RPCs of assignments; members.go: those of members
//   - projection.go: the progress of a goal, a pure rule; parse.go: the fields of requests
//   - store_goals.go, store_assignments.go: the statements
package goals

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/etag"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/page"
	"github.com/coffer-budget/coffer/internal/pg"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/notification"
	"github.com/coffer-budget/coffer/services/budget/internal/sharing"
)

// maxGoals is the maximum number of goals that a user owns.
const maxGoals = 200

// Dependencies are the parts of the process that the package uses.
type Dependencies struct {
	DB            *pgxpool.Pool
	Ledger        ledgerv1.LedgerServiceClient
	Members       *sharing.Members
	Notifications *notification.Server
	Cursors       page.Cursors
	Log           *slog.Logger
	Now           func() time.Time
	NewID         func() uuid.UUID
}

// Server implements GoalService.
type Server struct {
	budgetv1.UnsafeGoalServiceServer
	Dependencies
}

var _ budgetv1.GoalServiceServer = (*Server)(nil)

// CreateGoal creates a goal of the acting user. Errors: UNSUPPORTED_CURRENCY and LIMIT_REACHED.
func (s *Server) CreateGoal(
	ctx context.Context, req *budgetv1.CreateGoalRequest,
) (*budgetv1.CreateGoalResponse, error) {
	created, err := parseCreate(req)
	if err != nil {
		return nil, err
	}
	owner := caller.ID(ctx)
	call := idem.Call{Scope: owner.String(), Key: req.GetIdempotencyKey(), Request: req}
	resp := &budgetv1.CreateGoalResponse{}
	// A repetition must not call the ledger.
	if replayed, err := idem.Replay(ctx, s.DB, call, resp); err != nil || replayed {
		resp.Replayed = replayed
		return resp, err
	}
	created.OwnerID, created.ID, created.Version = owner, s.NewID(), 1
	created.CreatedAt = s.Now().UTC()
	created.UpdatedAt = created.CreatedAt
	resp.Goal = created.seenByOwner().proto(
		created.progress(savings{}, s.Now(), s.timeZone(ctx)), nil)
	resp.Etag = etag.Format(created.Version)
	resp.Replayed, err = idem.InTx(ctx, s.DB, call, resp, func(tx pgx.Tx) error {
		n, err := countGoals(ctx, tx, created.OwnerID)
		if err != nil {
			return err
		}
		if n >= maxGoals {
			return errGoalLimit
		}
		if err := insertGoal(ctx, tx, created); err != nil {
			return err
		}
		event := &budgetv1.GoalCreated{Goal: created.snapshot()}
		return s.Notifications.Publish(ctx, tx, event, created.OwnerID)
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// UpdateGoal changes a goal. The owner and editors may do it. A lower target may be reached by the
// change. Errors: EMPTY_UPDATE, GOAL_NOT_FOUND, INSUFFICIENT_PERMISSIONS and VERSION_MISMATCH.
func (s *Server) UpdateGoal(
	ctx context.Context, req *budgetv1.UpdateGoalRequest,
) (*budgetv1.UpdateGoalResponse, error) {
	id, err := s.Members.ParseID(req.GetId())
	if err != nil {
		return nil, err
	}
	if err := apierr.CheckChange(req); err != nil {
		return nil, err
	}
	var after seenGoal
	var saved savings
	err = pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		after, saved, err = s.change(ctx, tx, id, req)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &budgetv1.UpdateGoalResponse{
		Goal: s.detail(ctx, after, saved), Etag: etag.Format(after.Version),
	}, nil
}

// change applies the changes of a request to the locked goal, and returns it with its savings.
func (s *Server) change(
	ctx context.Context, tx pgx.Tx, id uuid.UUID, req *budgetv1.UpdateGoalRequest,
) (seenGoal, savings, error) {
	g, err := s.lockMatching(ctx, tx, id, req.GetIfMatch(), sharing.Change)
	if err != nil {
		return seenGoal{}, savings{}, err
	}
	before := g.goal
	g.goal, err = applyUpdate(before, req)
	if err != nil {
		return seenGoal{}, savings{}, err
	}
	g.Version, g.UpdatedAt = before.Version+1, s.Now().UTC()
	if err := updateGoal(ctx, tx, g.goal); err != nil {
		return seenGoal{}, savings{}, err
	}
	readers, err := s.readers(ctx, tx, g.goal)
	if err != nil {
		return seenGoal{}, savings{}, err
	}
	event := &budgetv1.GoalUpdated{
		Before: before.snapshot(), After: g.snapshot(), UpdatedBy: g.UserID.String(),
	}
	if err := s.Notifications.Publish(ctx, tx, event, readers...); err != nil {
		return seenGoal{}, savings{}, err
	}
	saved, err := s.reach(ctx, tx, &g.goal, readers)
	return g, saved, err
}

// DeleteGoal deletes a goal with its members and assignments. Only the owner may do it. Errors:
// GOAL_NOT_FOUND, INSUFFICIENT_PERMISSIONS and VERSION_MISMATCH.
func (s *Server) DeleteGoal(
	ctx context.Context, req *budgetv1.DeleteGoalRequest,
) (*budgetv1.DeleteGoalResponse, error) {
	id, err := s.Members.ParseID(req.GetId())
	if err != nil {
		return nil, err
	}
	err = pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		g, err := s.lockMatching(ctx, tx, id, req.GetIfMatch(), sharing.Delete)
		if err != nil {
			return err
		}
		events, err := s.delete(ctx, tx, g)
		if err != nil {
			return err
		}
		return s.Notifications.PublishEach(ctx, tx, events...)
	})
	if err != nil {
		return nil, err
	}
	return &budgetv1.DeleteGoalResponse{Id: id.String()}, nil
}

// delete deletes a locked goal and returns the events for its owner and members.
func (s *Server) delete(
	ctx context.Context, tx pgx.Tx, g seenGoal,
) ([]notification.Addressed, error) {
	deleted := &budgetv1.GoalDeleted{Goal: g.snapshot()}
	return s.Members.Delete(ctx, tx, g.thing(), deleted, func() error {
		return deleteGoal(ctx, tx, g.OwnerID, g.ID)
	})
}

// DeleteAll deletes the goals of an owner whose account is deleted, and returns the events of the
// deletions.
func (s *Server) DeleteAll(
	ctx context.Context, tx pgx.Tx, owner uuid.UUID,
) ([]notification.Addressed, error) {
	goals, err := lockGoalsOf(ctx, tx, owner)
	if err != nil {
		return nil, err
	}
	var events []notification.Addressed
	for _, g := range goals {
		deleted, err := s.delete(ctx, tx, g.seenByOwner())
		if err != nil {
			return nil, err
		}
		events = append(events, deleted...)
	}
	return events, nil
}

// readers returns the owner and the accepted members of a goal, who receive its events.
func (s *Server) readers(ctx context.Context, tx pgx.Tx, g goal) ([]uuid.UUID, error) {
	members, err := s.Members.Accepted(ctx, tx, g.ID)
	return append([]uuid.UUID{g.OwnerID}, members...), err
}

// reach returns the savings of a locked goal. If they reach the target for the first time, it
// records the time and notifies the readers.
func (s *Server) reach(
	ctx context.Context, tx pgx.Tx, g *goal, readers []uuid.UUID,
) (savings, error) {
	all, err := selectSavings(ctx, tx, *g)
	if err != nil {
		return savings{}, err
	}
	saved := all[g.ID]
	if g.ReachedAt != nil || saved.Minor < g.TargetMinor {
		return saved, nil
	}
	now := s.Now().UTC()
	g.ReachedAt = &now
	if err := updateReached(ctx, tx, *g); err != nil {
		return savings{}, err
	}
	event := &budgetv1.GoalReached{Goal: g.snapshot(), Saved: g.money().Format(saved.Minor)}
	return saved, s.Notifications.Publish(ctx, tx, event, readers...)
}

// goalFor returns a goal if the acting user's role permits the action.
func (s *Server) goalFor(
	ctx context.Context, q pg.Querier, id uuid.UUID, do sharing.Action,
) (seenGoal, error) {
	g, err := selectGoal(ctx, q, id, caller.ID(ctx))
	if err != nil {
		return seenGoal{}, pg.IfNoRows(err, errGoalNotFound)
	}
	return g, s.Members.Check(g.role(), do)
}

// lockedGoal returns a goal like goalFor, and serializes the changes of the goal, its members and
// its assignments until tx ends.
func (s *Server) lockedGoal(
	ctx context.Context, tx pgx.Tx, id uuid.UUID, do sharing.Action,
) (seenGoal, error) {
	if err := s.Members.Lock(ctx, tx, id); err != nil {
		return seenGoal{}, err
	}
	return s.goalFor(ctx, tx, id, do)
}

// lockMatching returns a goal like lockedGoal if its version matches If-Match.
func (s *Server) lockMatching(
	ctx context.Context, tx pgx.Tx, id uuid.UUID, ifMatch string, do sharing.Action,
) (seenGoal, error) {
	g, err := s.lockedGoal(ctx, tx, id, do)
	if err == nil && !etag.Matches(ifMatch, g.Version) {
		err = apierr.VersionMismatch
	}
	return g, err
}
