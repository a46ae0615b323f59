package budget

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// The ledger refuses to delete a category that a budget uses, so it must know the categories of budgets. A write reserves
// its categories there first. A trigger then queues the budget in reference_syncs, and a worker (syncReferences) reports
// the budget's present categories to the ledger. The answer repairs the budget if a category was merged or deleted.

const (
	// syncBatch is the maximum of the RPC.
	syncBatch = 100
	// syncLease is longer than askLedger: two workers seldom report the same budget, and the ledger ignores the older report.
	syncLease = 10 * time.Second
)

// reservation identifies categories that the ledger keeps for an attempt to write a budget. The zero value has none.
type reservation struct{ id, owner, budget uuid.UUID }

// reserve checks that wallet and categories are the owner's, and reserves the categories for the budget. It returns the
// ledger's errors, WALLET_NOT_FOUND and INVALID_CATEGORY_EXIST_PARAMS. The caller must release the reservation after the
// attempt to write the budget, successful or not.
func (s *server) reserve(ctx context.Context, owner, budget uuid.UUID, wallet *uuid.UUID, categories []uuid.UUID) (reservation, error) {
	var r reservation
	if len(categories) > 0 {
		r = reservation{id: s.newID(), owner: owner, budget: budget}
	}
	if err := s.checkReferences(ctx, owner, wallet, categories, r); err != nil {
		return reservation{}, err
	}
	return r, nil
}

// checkReferences checks that wallet and categories are the owner's. It makes the reservation unless that is the zero value.
func (s *server) checkReferences(ctx context.Context, owner uuid.UUID, wallet *uuid.UUID, categories []uuid.UUID, r reservation) error {
	if wallet == nil && len(categories) == 0 {
		return nil
	}
	req := &ledgerv1.CheckReferencesRequest{OwnerId: owner.String(), CategoryIds: idStrings(categories)}
	if wallet != nil {
		req.WalletId = wallet.String()
	}
	if r.id != uuid.Nil {
		req.BudgetId, req.Reservation = r.budget.String(), r.id.String()
	}
	_, err := s.ledger.CheckReferences(ctx, req)
	return err
}

// release queues the settlement of a reservation. When it fails, the reservation expires at the ledger after a day.
func (s *server) release(ctx context.Context, r reservation) {
	if r.id == uuid.Nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
	defer cancel()
	if err := queueSettlement(ctx, s.db, r); err != nil {
		s.log.WarnContext(ctx, "failed to release reserved categories", "budget", r.budget, "error", err)
	}
	s.wakeSyncs()
}

// syncReferences reports changed budgets to the ledger until ctx ends.
func (s *server) syncReferences(ctx context.Context) {
	for ctx.Err() == nil {
		due, err := claimSyncs(ctx, s.db, s.now())
		if err == nil {
			err = s.sync(ctx, due)
		}
		if err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "failed to report the categories of budgets to the ledger", "error", err)
		}
		if err == nil && len(due) == syncBatch {
			continue
		}
		select {
		case <-ctx.Done():
		case <-s.written:
		}
	}
}

// wakeSyncs makes the worker poll immediately.
func (s *server) wakeSyncs() {
	select {
	case s.written <- struct{}{}:
	default:
	}
}

// syncNow reports one budget, so that a category that it no longer uses can be deleted at once. It is best effort: the
// worker repeats what fails.
func (s *server) syncNow(ctx context.Context, budget uuid.UUID) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	due, err := claimSync(ctx, s.db, budget, s.now())
	if err == nil {
		err = s.sync(ctx, due)
	}
	if err != nil {
		s.log.WarnContext(ctx, "failed to report the categories of a budget to the ledger", "budget", budget, "error", err)
		s.wakeSyncs()
	}
}

// sync reports budgets to the ledger and applies its answers. Budgets are read after their rows were claimed: a change that
// is not read here has a higher seq, so its row stays.
func (s *server) sync(ctx context.Context, due []referenceSync) error {
	if len(due) == 0 {
		return nil
	}
	budgets, err := selectSyncedBudgets(ctx, s.db, due)
	if err != nil {
		return err
	}
	req := &ledgerv1.SyncReferencesRequest{}
	for _, d := range due {
		b := budgets[d.BudgetID]
		req.Budgets = append(req.Budgets, &ledgerv1.BudgetReferences{
			OwnerId: d.OwnerID.String(), BudgetId: d.BudgetID.String(), Version: b.Version,
			CategoryIds: idStrings(b.CategoryIDs), SettledReservations: idStrings(d.Reservations),
		})
	}
	asking, cancel := context.WithTimeout(ctx, askLedger)
	defer cancel()
	resp, err := s.ledger.SyncReferences(asking, req)
	if err != nil {
		return err
	}
	if len(resp.GetBudgets()) != len(due) {
		return fmt.Errorf("reported %d budgets, got answers for %d", len(due), len(resp.GetBudgets()))
	}
	var failed []error
	for i, d := range due {
		current := resp.GetBudgets()[i].GetCategoryIds()
		failed = append(failed, pg.InTx(ctx, s.db, func(tx pgx.Tx) error { return s.applyCurrent(ctx, tx, d, budgets[d.BudgetID], current) }))
	}
	return errors.Join(failed...)
}

// applyCurrent gives a budget the categories that the ledger answered, and deletes the row of the sync. A budget whose
// categories changed since is left to its next sync.
func (s *server) applyCurrent(ctx context.Context, tx pgx.Tx, d referenceSync, synced budget, current []string) error {
	categories, lost, err := currentCategories(synced.CategoryIDs, current)
	if err != nil {
		return err
	}
	if len(lost) == 0 && slices.Equal(categories, synced.CategoryIDs) {
		return deleteSync(ctx, tx, d)
	}
	if err := lockBudget(ctx, tx, d.BudgetID); err != nil {
		return err
	}
	b, err := selectBudget(ctx, tx, d.BudgetID, d.OwnerID)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && !slices.Equal(b.CategoryIDs, synced.CategoryIDs) {
		return deleteSync(ctx, tx, d)
	}
	if err != nil {
		return err
	}
	after := b.budget
	if len(categories) > 0 {
		after.CategoryIDs = categories
		if after, err = s.replace(ctx, tx, b.budget, after, b.OwnerID); err != nil {
			return err
		}
	}
	if len(lost) > 0 {
		if err := s.publish(ctx, tx, after.categoriesLost(lost, categories), b.OwnerID); err != nil {
			return err
		}
	}
	return deleteSync(ctx, tx, d)
}

// currentCategories returns the categories that a budget should have, each once, and those that no longer exist. current has
// an id per held category, empty when it no longer exists; no ids at all leave the categories as they are.
func currentCategories(held []uuid.UUID, current []string) (categories, lost []uuid.UUID, err error) {
	if len(current) == 0 {
		return held, nil, nil
	}
	if len(current) != len(held) {
		return nil, nil, fmt.Errorf("reported %d categories, got answers for %d", len(held), len(current))
	}
	for i, s := range current {
		if s == "" {
			lost = append(lost, held[i])
			continue
		}
		id, err := uuid.Parse(s)
		if err != nil {
			return nil, nil, fmt.Errorf("reading a current category: %w", err)
		}
		if !slices.Contains(categories, id) {
			categories = append(categories, id)
		}
	}
	return categories, lost, nil
}

func (b budget) categoriesLost(lost, remaining []uuid.UUID) *budgetv1.BudgetCategoriesLost {
	return &budgetv1.BudgetCategoriesLost{
		BudgetId: b.ID.String(), BudgetName: b.Name, OwnerId: b.OwnerID.String(),
		CategoryIds: idStrings(lost), RemainingCategoryIds: idStrings(remaining),
	}
}
