package budget

import (
	"cmp"
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/etag"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/pg"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/notification"
	"github.com/coffer-budget/coffer/services/budget/internal/sharing"
)

// maxBudgets is the number of budgets that a user may own. It limits the checks for alerts that one
// transaction causes.
const maxBudgets = 200

// CreateBudget creates a budget of the acting user. The ledger checks wallet and categories, and
// reserves the categories, before the transaction starts. A repeated Idempotency-Key returns the
// first response. The new budget is checked for alerts, because its window may contain spending
// already.
//
// Errors: BUDGET_ALREADY_EXISTS, BUDGET_LIMIT_REACHED, the errors of the ledger for unknown wallets
// and categories, and SERVICE_UNAVAILABLE if the ledger cannot be reached.
func (s *server) CreateBudget(
	ctx context.Context, req *budgetv1.CreateBudgetRequest,
) (*budgetv1.CreateBudgetResponse, error) {
	user := caller.ID(ctx)
	var problems apierr.Problems
	// All problems of a request are reported together, including wallets and categories that the
	// ledger rejects.
	c := parseCreate(&problems, req)
	created := c.apply(&problems, budget{AlertThresholds: defaultThresholds})
	if problems.Err() != nil {
		return nil, s.referenceProblems(ctx, problems, user, c.wallet, c.categories)
	}
	created.ID, created.OwnerID = s.newID(), user
	created.Version, created.CreatedAt = 1, s.now().UTC()
	created.UpdatedAt = created.CreatedAt
	call := idem.Call{Scope: user.String(), Key: req.GetIdempotencyKey(), Request: req}
	resp := &budgetv1.CreateBudgetResponse{}
	// A repeated request must not reserve categories again. So it is recognized before the
	// transaction, which checks the key again.
	if replayed, err := idem.Replay(ctx, s.db, call, resp); err != nil || replayed {
		resp.Replayed = replayed
		return resp, err
	}
	reserved, err := s.reserve(ctx, user, created.ID, &created.WalletID, created.CategoryIDs)
	if err != nil {
		return nil, err
	}
	defer s.release(ctx, reserved)
	// The progress is read before the transaction, because the transaction records the response
	// under the idempotency key.
	found := s.standings(ctx, nil, []budget{created})[0]
	resp.Replayed, err = idem.InTx(ctx, s.db, call, resp, func(tx pgx.Tx) error {
		// The limit is counted under a lock of the user. The duplicate rule needs none, because an
		// index decides.
		n, err := countBudgets(ctx, tx, user)
		if err != nil {
			return err
		}
		if n >= maxBudgets {
			return errBudgetLimitReached
		}
		if err := insertBudget(ctx, tx, created); err != nil {
			return duplicate(err)
		}
		if err := s.queueCheck(ctx, tx, created); err != nil {
			return err
		}
		resp.Budget = created.seenByOwner().proto(found.today)
		resp.Etag = etag.Format(created.Version)
		resp.Budget.Progress = found.progress
		return s.notifications.Publish(ctx, tx,
			&budgetv1.BudgetCreated{Budget: created.snapshot()}, user)
	})
	if err != nil {
		return nil, err
	}
	s.notifications.Alerts.Wake()
	return resp, nil
}

// UpdateBudget changes a budget. It applies the changes twice: to the budget as it was read, to
// validate them before the ledger is called, and to the locked budget, which another request may
// have changed in the meantime. Owner and editors may change it. The check for alerts runs again,
// because a new limit may already be reached.
//
// Errors: those of CreateBudget, VERSION_MISMATCH, EMPTY_UPDATE and INSUFFICIENT_PERMISSIONS.
func (s *server) UpdateBudget(
	ctx context.Context, req *budgetv1.UpdateBudgetRequest,
) (*budgetv1.UpdateBudgetResponse, error) {
	id, err := s.members.ParseID(req.GetId())
	if err != nil {
		return nil, err
	}
	var problems apierr.Problems
	changes, err := parseUpdate(&problems, req)
	if err != nil {
		return nil, err
	}
	// Invalid fields take precedence over a budget that does not exist or has another version.
	before, err := s.budgetFor(ctx, s.db, id, sharing.Change)
	if err == nil && !etag.Matches(req.GetIfMatch(), before.Version) {
		err = apierr.VersionMismatch
	}
	if err != nil {
		return nil, cmp.Or(problems.Err(), err)
	}
	changes.apply(&problems, before.budget)
	wallet := changes.newWallet(before.budget)
	if problems.Err() != nil {
		return nil, s.referenceProblems(ctx, problems, before.OwnerID, wallet, changes.categories)
	}
	// All categories of the request are reserved, not only new ones: a concurrent update may remove
	// one before this one commits.
	reserved, err := s.reserve(ctx, before.OwnerID, id, wallet, changes.categories)
	if err != nil {
		return nil, err
	}
	defer s.release(ctx, reserved)
	var after seenBudget
	var members []sharing.Member
	err = pg.InTx(ctx, s.db, func(tx pgx.Tx) error {
		if after, err = s.change(ctx, tx, id, req.GetIfMatch(), changes); err != nil {
			return err
		}
		members, err = s.members.Newest(ctx, tx, after.thing(), maxMembersInBudget)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.notifications.Alerts.Wake()
	// The ledger records nothing else of a budget.
	if changes.categories != nil {
		s.syncNow(ctx, id)
	}
	return &budgetv1.UpdateBudgetResponse{
		Budget: s.budgetDetail(ctx, nil, after, members), Etag: etag.Format(after.Version),
	}, nil
}

// change applies the changes of a request to the locked budget, so that a concurrent change of
// other fields is kept.
func (s *server) change(
	ctx context.Context, tx pgx.Tx, id uuid.UUID, ifMatch string, changes changes,
) (seenBudget, error) {
	seen, err := s.lockedBudgetFor(ctx, tx, id, sharing.Change)
	if err != nil {
		return seenBudget{}, err
	}
	if !etag.Matches(ifMatch, seen.Version) {
		return seenBudget{}, apierr.VersionMismatch
	}
	before := seen.budget
	var p apierr.Problems
	seen.budget = changes.apply(&p, before)
	if err := p.Err(); err != nil {
		return seenBudget{}, err
	}
	seen.budget, err = s.replace(ctx, tx, before, seen.budget, seen.UserID)
	return seen, err
}

// replace stores the next version of a locked budget, and publishes the change to the owner and the
// accepted members. It returns BUDGET_ALREADY_EXISTS if the change makes the budget a duplicate.
func (s *server) replace(
	ctx context.Context, tx pgx.Tx, before, after budget, by uuid.UUID,
) (budget, error) {
	// The version is the ETag. Every stored change of a budget increases it, also the replacement
	// of a merged category.
	after.Version++
	after.UpdatedAt = s.now().UTC()
	if err := updateBudget(ctx, tx, after); err != nil {
		return budget{}, duplicate(err)
	}
	if err := s.queueCheck(ctx, tx, after); err != nil {
		return budget{}, err
	}
	members, err := s.members.Accepted(ctx, tx, after.ID)
	if err != nil {
		return budget{}, err
	}
	// Only accepted members receive the event, because it contains the whole budget.
	event := &budgetv1.BudgetUpdated{
		UpdatedBy: by.String(), Before: before.snapshot(), After: after.snapshot(),
	}
	return after, s.notifications.Publish(ctx, tx, event, append(members, after.OwnerID)...)
}

// queueCheck queues a check of a new or changed budget, if it has thresholds. The check itself asks
// the ledger for the spending, so a worker runs it after the commit.
func (s *server) queueCheck(ctx context.Context, tx pgx.Tx, b budget) error {
	if len(b.AlertThresholds) == 0 {
		return nil
	}
	return s.notifications.QueueCheck(ctx, tx, b.ID, b.timeframe())
}

// DeleteBudget deletes a budget with its memberships, and reports the deletion to the ledger. Only
// the owner may delete it. If the report fails, the worker repeats it.
func (s *server) DeleteBudget(
	ctx context.Context, req *budgetv1.DeleteBudgetRequest,
) (*budgetv1.DeleteBudgetResponse, error) {
	id, err := s.members.ParseID(req.GetId())
	if err != nil {
		return nil, err
	}
	err = pg.InTx(ctx, s.db, func(tx pgx.Tx) error {
		b, err := s.lockedBudgetFor(ctx, tx, id, sharing.Delete)
		if err != nil {
			return err
		}
		if !etag.Matches(req.GetIfMatch(), b.Version) {
			return apierr.VersionMismatch
		}
		events, err := s.delete(ctx, tx, b)
		if err != nil {
			return err
		}
		return s.notifications.PublishEach(ctx, tx, events...)
	})
	if err != nil {
		return nil, err
	}
	s.syncNow(ctx, id)
	return &budgetv1.DeleteBudgetResponse{Id: id.String()}, nil
}

// delete deletes a locked budget and returns the events for its owner and members.
func (s *server) delete(
	ctx context.Context, tx pgx.Tx, seen seenBudget,
) ([]notification.Addressed, error) {
	deleted := &budgetv1.BudgetDeleted{Budget: seen.snapshot()}
	return s.members.Delete(ctx, tx, seen.thing(), deleted, func() error {
		return deleteBudgetRow(ctx, tx, seen.ID)
	})
}

// budgetFor returns a budget if the acting user's role permits the action. It returns
// BUDGET_NOT_FOUND for an unknown id.
func (s *server) budgetFor(
	ctx context.Context, q pg.Querier, id uuid.UUID, do sharing.Action,
) (seenBudget, error) {
	b, err := selectBudget(ctx, q, id, caller.ID(ctx))
	if err != nil {
		return seenBudget{}, pg.IfNoRows(err, errBudgetNotFound)
	}
	return b, s.members.Check(b.role(), do)
}

// lockedBudgetFor returns a budget like budgetFor, and locks it, so that the result stays true
// until tx ends.
func (s *server) lockedBudgetFor(
	ctx context.Context, tx pgx.Tx, id uuid.UUID, do sharing.Action,
) (seenBudget, error) {
	if err := s.members.Lock(ctx, tx, id); err != nil {
		return seenBudget{}, err
	}
	return s.budgetFor(ctx, tx, id, do)
}

// duplicate returns the public error for a violation of the duplicate rule, and any other error
// unchanged.
func duplicate(err error) error {
	if pg.IsViolation(err, budgetsDuplicateKey) {
		return errBudgetAlreadyExists
	}
	return err
}
