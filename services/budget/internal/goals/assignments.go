package goals

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/page"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/text"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// maxAssignments is the maximum number of assignments of a goal.
const maxAssignments = 1000

// CreateAssignment assigns money of a wallet to one of the acting user's goals, or takes it back.
// The ledger checks the wallet before the transaction starts, unless money is taken back: the
// wallet may have been deleted. Errors: GOAL_NOT_FOUND, WALLET_NOT_FOUND, ASSIGNMENT_EXCEEDS_GOAL,
// LIMIT_REACHED, and SERVICE_UNAVAILABLE if the ledger cannot be reached.
func (s *Server) CreateAssignment(
	ctx context.Context, req *budgetv1.CreateAssignmentRequest,
) (*budgetv1.CreateAssignmentResponse, error) {
	id, err := parseGoalID(req.GetGoalId())
	if err != nil {
		return nil, err
	}
	owner := caller.ID(ctx)
	call := idem.Call{Scope: owner.String(), Key: req.GetIdempotencyKey(), Request: req}
	resp := &budgetv1.CreateAssignmentResponse{}
	if replayed, err := idem.Replay(ctx, s.DB, call, resp); err != nil || replayed {
		resp.Replayed = replayed
		return resp, err
	}
	g, err := selectGoal(ctx, s.DB, owner, id)
	if err != nil {
		return nil, pg.IfNoRows(err, errGoalNotFound)
	}
	created, err := parseAssignment(req, g.money())
	if err != nil {
		return nil, err
	}
	created.OwnerID, created.GoalID, created.ID = owner, id, s.NewID()
	created.CreatedAt = s.Now().UTC()
	if created.AmountMinor > 0 {
		_, err := s.Ledger.CheckReferences(ctx, &ledgerv1.CheckReferencesRequest{
			OwnerId: owner.String(), WalletId: created.WalletID.String(),
		})
		if err != nil {
			return nil, err
		}
	}
	resp.Assignment = created.proto(g.money())
	resp.Replayed, err = idem.InTx(ctx, s.DB, call, resp, func(tx pgx.Tx) error {
		return s.assign(ctx, tx, created)
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// assign inserts an assignment under the lock of its goal.
func (s *Server) assign(ctx context.Context, tx pgx.Tx, a assignment) error {
	g, err := lockGoal(ctx, tx, a.OwnerID, a.GoalID)
	if err != nil {
		return pg.IfNoRows(err, errGoalNotFound)
	}
	inserted, err := insertAssignment(ctx, tx, a)
	if err != nil {
		return err
	}
	if !inserted {
		return errAssignmentLimit
	}
	if err := addAssigned(ctx, tx, a, a.AmountMinor); err != nil {
		return exceeds(err)
	}
	event := &budgetv1.AssignmentCreated{Assignment: a.proto(g.money())}
	if err := s.Notifications.Publish(ctx, tx, event, a.OwnerID); err != nil {
		return err
	}
	saved, err := s.reach(ctx, tx, &g)
	if err != nil {
		return err
	}
	return saved.check("amount", g.money())
}

// check returns an error with the field of a request if the sum exceeds the largest amount of the
// currency. Each write that adds to the sum must call it: sums over all goals must fit into bigint.
func (s savings) check(field string, currency money.Currency) error {
	if _, err := currency.Parse(currency.Format(s.Minor)); err != nil {
		return apierr.Invalid(field,
			"must not bring the savings of the goal above 999999999999.99")
	}
	return nil
}

// ListAssignments returns a page of the assignments of one of the acting user's goals, the newest
// first. Errors: GOAL_NOT_FOUND.
func (s *Server) ListAssignments(
	ctx context.Context, req *budgetv1.ListAssignmentsRequest,
) (*budgetv1.ListAssignmentsResponse, error) {
	id, err := parseGoalID(req.GetGoalId())
	if err != nil {
		return nil, err
	}
	owner := caller.ID(ctx)
	var currency money.Currency
	rows, pagination, err := page.List(s.Cursors, page.Query[assignment, uuid.UUID]{
		Scope: "assignments " + owner.String() + " " + id.String(),
		Limit: req.Limit, Cursor: req.GetCursor(), First: uuid.Max,
		Position: func(a assignment) uuid.UUID { return a.ID },
		Select: func(before uuid.UUID, limit int) ([]assignment, error) {
			g, err := selectGoal(ctx, s.DB, owner, id)
			if err != nil {
				return nil, pg.IfNoRows(err, errGoalNotFound)
			}
			currency = g.money()
			return selectAssignments(ctx, s.DB, g, before, limit)
		},
	})
	if err != nil {
		return nil, err
	}
	resp := &budgetv1.ListAssignmentsResponse{Pagination: pagination}
	for _, a := range rows {
		resp.Assignments = append(resp.Assignments, a.proto(currency))
	}
	return resp, nil
}

// DeleteAssignment deletes an assignment of one of the acting user's goals. Errors: GOAL_NOT_FOUND,
// ASSIGNMENT_NOT_FOUND and ASSIGNMENT_EXCEEDS_GOAL.
func (s *Server) DeleteAssignment(
	ctx context.Context, req *budgetv1.DeleteAssignmentRequest,
) (*budgetv1.DeleteAssignmentResponse, error) {
	goalID, err := parseGoalID(req.GetGoalId())
	if err != nil {
		return nil, err
	}
	id, ok := text.ID(req.GetAssignmentId())
	if !ok {
		return nil, errInvalidID
	}
	err = pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		g, err := lockGoal(ctx, tx, caller.ID(ctx), goalID)
		if err != nil {
			return pg.IfNoRows(err, errGoalNotFound)
		}
		deleted, err := deleteAssignment(ctx, tx, g, id)
		if err != nil {
			return pg.IfNoRows(err, errAssignmentNotFound)
		}
		if err := addAssigned(ctx, tx, deleted, -deleted.AmountMinor); err != nil {
			return exceeds(err)
		}
		event := &budgetv1.AssignmentDeleted{Assignment: deleted.proto(g.money())}
		if err := s.Notifications.Publish(ctx, tx, event, g.OwnerID); err != nil {
			return err
		}
		// Money that was taken back counts again.
		saved, err := s.reach(ctx, tx, &g)
		if err != nil {
			return err
		}
		return saved.check("assignmentId", g.money())
	})
	if err != nil {
		return nil, err
	}
	return &budgetv1.DeleteAssignmentResponse{Id: id.String()}, nil
}

// exceeds returns the public error for a sum below 0, and any other error unchanged.
func exceeds(err error) error {
	if pg.IsViolation(err, assignedRange) {
		return errExceedsGoal
	}
	return err
}

func (a assignment) proto(currency money.Currency) *budgetv1.Assignment {
	return &budgetv1.Assignment{
		Id: a.ID.String(), GoalId: a.GoalID.String(), WalletId: a.WalletID.String(),
		Amount: currency.Format(a.AmountMinor), Date: a.Day.Format(calendar.DateLayout),
		CreatedAt: calendar.FormatTime(a.CreatedAt),
	}
}
