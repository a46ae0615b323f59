package goals

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

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
	"github.com/coffer-budget/coffer/services/budget/internal/notification"
	"github.com/coffer-budget/coffer/services/budget/internal/sharing"
)

// maxAssignments is the maximum number of assignments of a goal.
const maxAssignments = 1000

// CreateAssignment assigns money of one of the acting user's wallets to a goal, or takes it back.
// The owner and editors may assign money, and each member may take the own money back. The ledger
// checks the wallet before the transaction starts, unless money is taken back: the wallet may have
// been deleted. Errors: GOAL_NOT_FOUND, INSUFFICIENT_PERMISSIONS, WALLET_NOT_FOUND,
// ASSIGNMENT_EXCEEDS_GOAL, LIMIT_REACHED, and SERVICE_UNAVAILABLE if the ledger cannot be reached.
func (s *Server) CreateAssignment(
	ctx context.Context, req *budgetv1.CreateAssignmentRequest,
) (*budgetv1.CreateAssignmentResponse, error) {
	id, err := s.Members.ParseID(req.GetGoalId())
	if err != nil {
		return nil, err
	}
	user := caller.ID(ctx)
	call := idem.Call{Scope: user.String(), Key: req.GetIdempotencyKey(), Request: req}
	resp := &budgetv1.CreateAssignmentResponse{}
	if replayed, err := idem.Replay(ctx, s.DB, call, resp); err != nil || replayed {
		resp.Replayed = replayed
		return resp, err
	}
	g, err := s.goalFor(ctx, s.DB, id, sharing.Read)
	if err != nil {
		return nil, err
	}
	created, err := parseAssignment(req, g.money())
	if err != nil {
		return nil, err
	}
	if err := s.Members.Check(g.role(), created.action()); err != nil {
		return nil, err
	}
	created.OwnerID, created.GoalID, created.ID, created.UserID = g.OwnerID, id, s.NewID(), user
	created.CreatedAt = s.Now().UTC()
	if created.AmountMinor > 0 {
		_, err := s.Ledger.CheckReferences(ctx, &ledgerv1.CheckReferencesRequest{
			OwnerId: user.String(), WalletId: created.WalletID.String(),
		})
		if err != nil {
			return nil, err
		}
	}
	resp.Assignment = created.proto(g.money(), user)
	resp.Replayed, err = idem.InTx(ctx, s.DB, call, resp, func(tx pgx.Tx) error {
		return s.assign(ctx, tx, created)
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// action returns the action that an assignment needs. Members take back money in each role.
func (a assignment) action() sharing.Action {
	if a.AmountMinor < 0 {
		return sharing.Read
	}
	return sharing.AssignMoney
}

// assign inserts an assignment under the lock of its goal.
func (s *Server) assign(ctx context.Context, tx pgx.Tx, a assignment) error {
	g, err := s.lockedGoal(ctx, tx, a.GoalID, a.action())
	if err != nil {
		return err
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
	saved, err := s.settle(ctx, tx, g, func(reader uuid.UUID) proto.Message {
		return &budgetv1.AssignmentCreated{Assignment: a.proto(g.money(), reader)}
	})
	if err != nil {
		return err
	}
	return saved.check("amount", g.money())
}

// settle publishes the event of an assignment, which event returns for each user who reads the
// goal, and returns the savings of the goal.
func (s *Server) settle(
	ctx context.Context, tx pgx.Tx, g seenGoal, event func(reader uuid.UUID) proto.Message,
) (savings, error) {
	readers, err := s.readers(ctx, tx, g.goal)
	if err != nil {
		return savings{}, err
	}
	events := make([]notification.Addressed, len(readers))
	for i, reader := range readers {
		events[i] = notification.Addressed{User: reader, Data: event(reader)}
	}
	if err := s.Notifications.PublishEach(ctx, tx, events...); err != nil {
		return savings{}, err
	}
	return s.reach(ctx, tx, &g.goal, readers)
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

// ListAssignments returns a page of the assignments of a goal, the newest first, to its owner and
// accepted members. Errors: GOAL_NOT_FOUND.
func (s *Server) ListAssignments(
	ctx context.Context, req *budgetv1.ListAssignmentsRequest,
) (*budgetv1.ListAssignmentsResponse, error) {
	id, err := s.Members.ParseID(req.GetGoalId())
	if err != nil {
		return nil, err
	}
	user := caller.ID(ctx)
	var currency money.Currency
	rows, pagination, err := page.List(s.Cursors, page.Query[assignment, uuid.UUID]{
		Scope: "assignments " + user.String() + " " + id.String(),
		Limit: req.Limit, Cursor: req.GetCursor(), First: uuid.Max,
		Position: func(a assignment) uuid.UUID { return a.ID },
		Select: func(before uuid.UUID, limit int) ([]assignment, error) {
			g, err := s.goalFor(ctx, s.DB, id, sharing.Read)
			if err != nil {
				return nil, err
			}
			currency = g.money()
			return selectAssignments(ctx, s.DB, g.goal, before, limit)
		},
	})
	if err != nil {
		return nil, err
	}
	resp := &budgetv1.ListAssignmentsResponse{Pagination: pagination}
	for _, a := range rows {
		resp.Assignments = append(resp.Assignments, a.proto(currency, user))
	}
	return resp, nil
}

// DeleteAssignment deletes one of the acting user's assignments. Errors: GOAL_NOT_FOUND,
// ASSIGNMENT_NOT_FOUND, also for one of another user, and ASSIGNMENT_EXCEEDS_GOAL.
func (s *Server) DeleteAssignment(
	ctx context.Context, req *budgetv1.DeleteAssignmentRequest,
) (*budgetv1.DeleteAssignmentResponse, error) {
	goalID, err := s.Members.ParseID(req.GetGoalId())
	if err != nil {
		return nil, err
	}
	id, ok := text.ID(req.GetAssignmentId())
	if !ok {
		return nil, errInvalidID
	}
	err = pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		g, err := s.lockedGoal(ctx, tx, goalID, sharing.Read)
		if err != nil {
			return err
		}
		deleted, err := deleteAssignment(ctx, tx, g, id)
		if err != nil {
			return pg.IfNoRows(err, errAssignmentNotFound)
		}
		if err := addAssigned(ctx, tx, deleted, -deleted.AmountMinor); err != nil {
			return exceeds(err)
		}
		// Money that was taken back counts again.
		saved, err := s.settle(ctx, tx, g, func(reader uuid.UUID) proto.Message {
			return &budgetv1.AssignmentDeleted{Assignment: deleted.proto(g.money(), reader)}
		})
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

// proto converts the assignment for a user. The wallets of other users are private.
func (a assignment) proto(currency money.Currency, reader uuid.UUID) *budgetv1.Assignment {
	message := &budgetv1.Assignment{
		Id: a.ID.String(), GoalId: a.GoalID.String(), UserId: a.UserID.String(),
		Amount: currency.Format(a.AmountMinor), Date: a.Day.Format(calendar.DateLayout),
		CreatedAt: calendar.FormatTime(a.CreatedAt),
	}
	if a.UserID == reader {
		message.WalletId = a.WalletID.String()
	}
	return message
}
