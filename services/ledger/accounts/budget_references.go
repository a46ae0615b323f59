package accounts

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

const (
	maxSyncs = 100
	// reservationLife is how long a category stays reserved if the budget service never settles the
	// reservation, because it stopped between reserving and writing the budget. The versions of
	// deleted budgets are kept as long, so that an older SyncReferences request that arrives late
	// changes nothing.
	reservationLife = 24 * time.Hour
	// deletedVersion is the version of a deleted budget. It is greater than any other version.
	deletedVersion = math.MaxInt64
)

// budgetUse is the set of categories that a budget holds in one version. A deleted budget holds
// none and has deletedVersion.
type budgetUse struct {
	budget uuid.UUID
	// version is the version of the budget at the budget service, which increases with each change
	// of the budget.
	version    int64
	categories []uuid.UUID
	// settled holds the reservations whose attempt to write the budget has ended, successfully or
	// not.
	settled []uuid.UUID
}

// ownerUses holds the uses of successive budgets of an owner.
type ownerUses struct {
	owner uuid.UUID
	uses  []budgetUse
}

// CheckReferences checks that a wallet and categories belong to a user, and returns one error that
// names all that do not. With a budget id it also reserves the categories: a foreign key prevents
// their deletion until SyncReferences settles the reservation or reservationLife has passed.
//
// The budget service calls it before the transaction that writes a budget. Without a budget id it
// only checks, which the budget service uses to report all problems of an invalid request together.
// A repeated call with the same reservation has no further effect. Errors: WALLET_NOT_FOUND and the
// reasons of request.ErrCategoryNotFound and of malformed ids.
func (s *Accounts) CheckReferences(
	ctx context.Context, req *ledgerv1.CheckReferencesRequest,
) (*ledgerv1.CheckReferencesResponse, error) {
	var problems apierr.Problems
	owner := request.ParseServiceID(&problems, "ownerId", req.GetOwnerId())
	var wallets []uuid.UUID
	if req.GetWalletId() != "" {
		wallets = request.ParseIDs(&problems, "walletId", []string{req.GetWalletId()},
			request.ErrInvalidWalletID)
	}
	categories := request.ParseIDs(&problems, "categoryIds", req.GetCategoryIds(),
		request.ErrInvalidCategoryID)
	var budget, reservation uuid.UUID
	if req.GetBudgetId() != "" {
		budget = request.ParseServiceID(&problems, "budgetId", req.GetBudgetId())
		reservation = request.ParseServiceID(&problems, "reservation", req.GetReservation())
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	owned, err := request.SelectOwned(ctx, s.DB, owner, wallets, categories)
	if err != nil {
		return nil, err
	}
	owned.CheckLists(&problems, "walletId", wallets, "categoryIds", categories)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	if reservation != uuid.Nil && len(categories) > 0 {
		// A category that was deleted since the check violates the foreign key, and nothing is
		// reserved.
		err := reserveCategories(ctx, s.DB, owner, budget, reservation, categories,
			s.Now().Add(reservationLife))
		if pg.IsViolation(err, categoryKey) {
			return nil, request.ErrCategoryNotFound.With("categoryIds", "names an unknown category")
		}
		if err != nil {
			return nil, err
		}
	}
	return &ledgerv1.CheckReferencesResponse{}, nil
}

// SyncReferences records the categories of budgets and returns the ids that the budgets should
// hold, which differ after a merge. A foreign key prevents the deletion of a recorded category.
// Requests are idempotent. An older version only releases its reservations, and the response has no
// ids for it. If it ends early, because of the deadline or a concurrent change of a category, the
// response has the first budgets of the request, which are recorded. Errors: SERVICE_UNAVAILABLE if
// a category is merged or deleted concurrently and no budget is recorded.
//
// Successive budgets of an owner have a transaction, so that it commits in the owner's partition
// and locks nothing of other owners (ADR 124).
//
// The worker of the budget service calls it for each changed budget. A PATCH and a DELETE of a
// budget also call it before they return, so that a category that no budget uses any more can be
// deleted immediately (ADR 43).
func (s *Accounts) SyncReferences(
	ctx context.Context, req *ledgerv1.SyncReferencesRequest,
) (*ledgerv1.SyncReferencesResponse, error) {
	owners, err := parseBudgetUses(req)
	if err != nil {
		return nil, err
	}
	resp := &ledgerv1.SyncReferencesResponse{}
	for _, of := range owners {
		var current []*ledgerv1.CurrentCategories
		err := pg.InTx(ctx, s.DB, func(tx pgx.Tx) (err error) {
			current, err = recordReferences(ctx, tx, of.owner, of.uses, s.Now())
			return err
		})
		switch {
		case err == nil:
			resp.Budgets = append(resp.Budgets, current...)
		case len(resp.GetBudgets()) > 0:
			return resp, nil
		case pg.IsViolation(err, categoryKey):
			// A category was merged or deleted between two statements. The next request sees the
			// result.
			return nil, apierr.Unavailable
		default:
			return nil, err
		}
	}
	return resp, nil
}

// recordReferences records the uses of an owner's budgets whose version is not older than the
// recorded one, and returns the categories that each of the budgets should have.
//
// Categories are locked before references, as in DeleteCategory, so that the two cannot deadlock.
func recordReferences(
	ctx context.Context, tx pgx.Tx, owner uuid.UUID, uses []budgetUse, now time.Time,
) ([]*ledgerv1.CurrentCategories, error) {
	if err := shareReferencedCategories(ctx, tx, owner, uses); err != nil {
		return nil, err
	}
	latest, err := upsertReferencingBudgets(ctx, tx, owner, uses, now.Add(reservationLife))
	if err != nil {
		return nil, err
	}
	recorded := slices.DeleteFunc(slices.Clone(uses), func(u budgetUse) bool {
		return !latest[u.budget]
	})
	if err := insertReferences(ctx, tx, owner, recorded); err != nil {
		return nil, err
	}
	if err := deleteUnheldReferences(ctx, tx, owner, recorded); err != nil {
		return nil, err
	}
	// Reservations are released even if the version is outdated, because their attempt to write the
	// budget has ended.
	if err := deleteReservations(ctx, tx, owner, uses); err != nil {
		return nil, err
	}
	held, err := selectHeldCategories(ctx, tx, owner, recorded)
	if err != nil {
		return nil, err
	}
	current := make([]*ledgerv1.CurrentCategories, len(uses))
	for i, u := range uses {
		current[i] = &ledgerv1.CurrentCategories{}
		if latest[u.budget] {
			current[i].CategoryIds = u.current(held)
		}
	}
	return current, nil
}

// current returns the current id of each category of a budget, in its order, and an empty string
// for a category that no longer exists. The order lets the budget service replace each id at its
// position.
func (u budgetUse) current(held map[heldCategory]uuid.UUID) []string {
	ids := make([]string, len(u.categories))
	for i, id := range u.categories {
		if category, ok := held[heldCategory{u.budget, id}]; ok {
			ids[i] = category.String()
		}
	}
	return ids
}

// parseBudgetUses validates the request, and returns the uses in its order. A budget without
// categories is a deleted one.
func parseBudgetUses(req *ledgerv1.SyncReferencesRequest) ([]ownerUses, error) {
	var problems apierr.Problems
	if len(req.GetBudgets()) > maxSyncs {
		problems.Invalid("budgets", fmt.Sprintf("must be at most %d", maxSyncs))
		return nil, problems.Err()
	}
	var owners []ownerUses
	seen := map[uuid.UUID]bool{}
	for i, budgetReferences := range req.GetBudgets() {
		at := fmt.Sprintf("budgets[%d].", i)
		owner := request.ParseServiceID(&problems, at+"ownerId", budgetReferences.GetOwnerId())
		use := budgetUse{
			budget: request.ParseServiceID(&problems, at+"budgetId",
				budgetReferences.GetBudgetId()),
			version: budgetReferences.GetVersion(),
		}
		for _, id := range budgetReferences.GetCategoryIds() {
			use.categories = append(use.categories,
				request.ParseServiceID(&problems, at+"categoryIds", id))
		}
		for _, id := range budgetReferences.GetSettledReservations() {
			use.settled = append(use.settled,
				request.ParseServiceID(&problems, at+"settledReservations", id))
		}
		if len(use.categories) == 0 {
			use.version = deletedVersion
		}
		// upsertReferencingBudgets cannot update a row twice in one statement.
		if seen[use.budget] {
			problems.Invalid(at+"budgetId", "must be unique")
		}
		seen[use.budget] = true
		if n := len(owners); n == 0 || owners[n-1].owner != owner {
			owners = append(owners, ownerUses{owner: owner})
		}
		last := &owners[len(owners)-1]
		last.uses = append(last.uses, use)
	}
	return owners, problems.Err()
}
