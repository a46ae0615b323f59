package ledger

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

const (
	// maxSyncs is the maximum number of budgets in one request.
	maxSyncs = 100
	// reservationLife is how long a category stays reserved when the budget service never settles the reservation, because
	// it stopped between reserving and writing the budget. It also bounds the age of a request that is still under way.
	reservationLife = 24 * time.Hour
	// deletedVersion is later than any version of a budget.
	deletedVersion = math.MaxInt64
)

// budgetUse is the set of categories that a budget holds in one version.
type budgetUse struct {
	owner, budget uuid.UUID
	version       int64
	categories    []uuid.UUID
	// settled are reservations whose attempt to write the budget has ended.
	settled []uuid.UUID
}

// SyncReferences records the categories of budgets, and returns the ids that the budgets should hold. A foreign key keeps a
// recorded category from being deleted.
func (s *server) SyncReferences(ctx context.Context, req *ledgerv1.SyncReferencesRequest) (*ledgerv1.SyncReferencesResponse, error) {
	uses, err := parseBudgetUses(req)
	if err != nil || len(uses) == 0 {
		return &ledgerv1.SyncReferencesResponse{}, err
	}
	resp := &ledgerv1.SyncReferencesResponse{Budgets: make([]*ledgerv1.CurrentCategories, len(uses))}
	err = pg.InTx(ctx, s.db, func(tx pgx.Tx) error {
		held, latest, err := recordReferences(ctx, tx, uses, s.now())
		if err != nil {
			return err
		}
		for i, u := range uses {
			resp.Budgets[i] = &ledgerv1.CurrentCategories{}
			if latest[u.budget] {
				resp.Budgets[i].CategoryIds = u.current(held)
			}
		}
		return nil
	})
	if pg.IsViolation(err, categoryKey) {
		// A category was merged or deleted between two statements. The next request sees the result.
		return nil, apierr.Unavailable
	}
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// recordReferences records the uses that are not older than the recorded ones. latest holds the budgets for which that is true.
//
// Categories are locked before references, which is the order of DeleteCategory.
func recordReferences(ctx context.Context, tx pgx.Tx, uses []budgetUse, now time.Time) (held map[heldCategory]uuid.UUID, latest map[uuid.UUID]bool, err error) {
	if err := shareReferencedCategories(ctx, tx, uses); err != nil {
		return nil, nil, err
	}
	latest, err = upsertReferencingBudgets(ctx, tx, uses, now.Add(reservationLife))
	if err != nil {
		return nil, nil, err
	}
	var current []budgetUse
	for _, u := range uses {
		if latest[u.budget] {
			current = append(current, u)
		}
	}
	if err := insertReferences(ctx, tx, current); err != nil {
		return nil, nil, err
	}
	if err := deleteUnheldReferences(ctx, tx, current); err != nil {
		return nil, nil, err
	}
	if err := deleteReservations(ctx, tx, uses); err != nil {
		return nil, nil, err
	}
	held, err = selectHeldCategories(ctx, tx, current)
	return held, latest, err
}

// current returns the present id of each category of a budget, and an empty string for one that no longer exists.
func (u budgetUse) current(held map[heldCategory]uuid.UUID) []string {
	ids := make([]string, len(u.categories))
	for i, id := range u.categories {
		if category, ok := held[heldCategory{u.budget, id}]; ok {
			ids[i] = category.String()
		}
	}
	return ids
}

func parseBudgetUses(req *ledgerv1.SyncReferencesRequest) ([]budgetUse, error) {
	var p apierr.Problems
	if len(req.GetBudgets()) > maxSyncs {
		p.Field(&apierr.Field{Name: "budgets", Message: fmt.Sprintf("must be at most %d", maxSyncs)})
		return nil, p.Err()
	}
	uses, seen := make([]budgetUse, len(req.GetBudgets())), map[uuid.UUID]bool{}
	for i, b := range req.GetBudgets() {
		at := fmt.Sprintf("budgets[%d].", i)
		u := budgetUse{
			owner:   parseServiceID(&p, at+"ownerId", b.GetOwnerId()),
			budget:  parseServiceID(&p, at+"budgetId", b.GetBudgetId()),
			version: b.GetVersion(),
		}
		for _, id := range b.GetCategoryIds() {
			u.categories = append(u.categories, parseServiceID(&p, at+"categoryIds", id))
		}
		for _, id := range b.GetSettledReservations() {
			u.settled = append(u.settled, parseServiceID(&p, at+"settledReservations", id))
		}
		if len(u.categories) == 0 {
			u.version = deletedVersion
		}
		if seen[u.budget] {
			p.Field(&apierr.Field{Name: at + "budgetId", Message: "must be unique"})
		}
		uses[i], seen[u.budget] = u, true
	}
	return uses, p.Err()
}
