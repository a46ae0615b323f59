// Package goals serves goals: amounts that a user wants to save (ADR 143).
//
// Money is assigned to goals within wallets. An assignment moves nothing: the ledger and the bank
// decide the balance of a wallet, and a wallet may have less than is assigned. The list of goals
// compares both, with one call to the ledger.
//
// It guarantees that the assigned money of a wallet in a goal is never negative, also with
// concurrent writers: the table goal_wallets has a row for each such sum, and a constraint on
// it decides. A change, its event and the notification of a reached target commit together. The
// target is reported once, also if money is taken back and assigned again.
//
//   - goals.go: the RPCs that change goals; read.go: those that read them
//   - assignments.go: the RPCs of assignments
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
)

// maxGoals is the maximum number of goals of a user.
const maxGoals = 200

// Dependencies are the parts of the process that the package uses.
type Dependencies struct {
	DB            *pgxpool.Pool
	Ledger        ledgerv1.LedgerServiceClient
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
	resp.Goal = created.proto(created.progress(savings{}, s.Now(), s.timeZone(ctx)))
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
		event := &budgetv1.GoalCreated{Goal: created.proto(nil)}
		return s.Notifications.Publish(ctx, tx, event, created.OwnerID)
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// UpdateGoal changes one of the acting user's goals. A lower target may be reached by the change.
// Errors: EMPTY_UPDATE, GOAL_NOT_FOUND and VERSION_MISMATCH.
func (s *Server) UpdateGoal(
	ctx context.Context, req *budgetv1.UpdateGoalRequest,
) (*budgetv1.UpdateGoalResponse, error) {
	id, err := parseGoalID(req.GetId())
	if err != nil {
		return nil, err
	}
	if err := apierr.CheckChange(req); err != nil {
		return nil, err
	}
	zone := s.timeZone(ctx)
	resp := &budgetv1.UpdateGoalResponse{}
	err = pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		before, err := lockMatching(ctx, tx, id, req.GetIfMatch())
		if err != nil {
			return err
		}
		after, err := applyUpdate(before, req)
		if err != nil {
			return err
		}
		after.Version, after.UpdatedAt = before.Version+1, s.Now().UTC()
		if err := updateGoal(ctx, tx, after); err != nil {
			return err
		}
		event := &budgetv1.GoalUpdated{Before: before.proto(nil), After: after.proto(nil)}
		if err := s.Notifications.Publish(ctx, tx, event, after.OwnerID); err != nil {
			return err
		}
		saved, err := s.reach(ctx, tx, &after)
		if err != nil {
			return err
		}
		resp.Goal = after.proto(after.progress(saved, s.Now(), zone))
		resp.Etag = etag.Format(after.Version)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// DeleteGoal deletes one of the acting user's goals with its assignments. Errors: GOAL_NOT_FOUND
// and VERSION_MISMATCH.
func (s *Server) DeleteGoal(
	ctx context.Context, req *budgetv1.DeleteGoalRequest,
) (*budgetv1.DeleteGoalResponse, error) {
	id, err := parseGoalID(req.GetId())
	if err != nil {
		return nil, err
	}
	err = pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		g, err := lockMatching(ctx, tx, id, req.GetIfMatch())
		if err != nil {
			return err
		}
		if err := deleteGoal(ctx, tx, g.OwnerID, g.ID); err != nil {
			return err
		}
		event := &budgetv1.GoalDeleted{Goal: g.proto(nil)}
		return s.Notifications.Publish(ctx, tx, event, g.OwnerID)
	})
	if err != nil {
		return nil, err
	}
	return &budgetv1.DeleteGoalResponse{Id: id.String()}, nil
}

// reach returns the savings of a locked goal. If they reach the target for the first time, it
// records the time and notifies the owner.
func (s *Server) reach(ctx context.Context, tx pgx.Tx, g *goal) (savings, error) {
	all, err := selectSavings(ctx, tx, g.OwnerID, []uuid.UUID{g.ID})
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
	event := &budgetv1.GoalReached{Goal: g.proto(nil), Saved: g.money().Format(saved.Minor)}
	return saved, s.Notifications.Publish(ctx, tx, event, g.OwnerID)
}

// lockMatching locks one of the acting user's goals, and returns it if its version matches
// If-Match.
func lockMatching(ctx context.Context, tx pgx.Tx, id uuid.UUID, ifMatch string) (goal, error) {
	g, err := lockGoal(ctx, tx, caller.ID(ctx), id)
	if err != nil {
		return goal{}, pg.IfNoRows(err, errGoalNotFound)
	}
	if !etag.Matches(ifMatch, g.Version) {
		return goal{}, apierr.VersionMismatch
	}
	return g, nil
}
