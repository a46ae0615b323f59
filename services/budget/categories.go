package budget

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/outbox"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// followCategories has the budgets of a category that was merged into another one count in that.
func (s *server) followCategories(ctx context.Context, tx pgx.Tx, events []outbox.Received) error {
	for _, e := range events {
		deleted, ok := e.Data.(*ledgerv1.CategoryDeleted)
		if !ok || deleted.ReassignedTo == nil {
			continue
		}
		gone, err := uuid.Parse(deleted.GetCategoryId())
		if err != nil {
			return fmt.Errorf("reading which category was deleted: %w", err)
		}
		heir, err := uuid.Parse(deleted.GetReassignedTo())
		if err != nil {
			return fmt.Errorf("reading which category took over: %w", err)
		}
		budgets, err := lockBudgetsOfCategory(ctx, tx, e.UserID, gone)
		if err != nil {
			return err
		}
		for _, b := range budgets {
			after := b
			after.CategoryIDs = inherited(b.CategoryIDs, gone, heir)
			if _, err := s.replace(ctx, tx, b, after, b.OwnerID); err != nil {
				return err
			}
		}
	}
	return nil
}

// inherited has the heir in the place of the one that is gone, and once.
func inherited(categories []uuid.UUID, gone, heir uuid.UUID) []uuid.UUID {
	var kept []uuid.UUID
	for _, id := range categories {
		if id == gone {
			id = heir
		}
		if !slices.Contains(kept, id) {
			kept = append(kept, id)
		}
	}
	return kept
}
