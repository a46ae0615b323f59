package ledger

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// CheckReferences returns an error unless a user owns a wallet and categories. For a budget it also reserves the categories:
// a foreign key keeps them until SyncReferences settles the reservation, or until it expires.
func (s *server) CheckReferences(ctx context.Context, req *ledgerv1.CheckReferencesRequest) (*ledgerv1.CheckReferencesResponse, error) {
	var p apierr.Problems
	owner := parseServiceID(&p, "ownerId", req.GetOwnerId())
	var wallets []uuid.UUID
	if req.GetWalletId() != "" {
		wallets = parseIDs(&p, "walletId", []string{req.GetWalletId()}, errInvalidWalletID)
	}
	categories := parseIDs(&p, "categoryIds", req.GetCategoryIds(), errInvalidCategoryID)
	var budget, reservation uuid.UUID
	if req.GetBudgetId() != "" {
		budget = parseServiceID(&p, "budgetId", req.GetBudgetId())
		reservation = parseServiceID(&p, "reservation", req.GetReservation())
	}
	if err := p.Err(); err != nil {
		return nil, err
	}
	if err := checkAll(ctx, s.db, owner, wallets, categories); err != nil {
		return nil, err
	}
	if reservation != uuid.Nil && len(categories) > 0 {
		// A category that was deleted since the check violates the foreign key, and nothing is reserved.
		err := reserveCategories(ctx, s.db, owner, budget, reservation, categories, s.now().Add(reservationLife))
		if pg.IsViolation(err, categoryKey) {
			return nil, errCategoryNotFound
		}
		if err != nil {
			return nil, err
		}
	}
	return &ledgerv1.CheckReferencesResponse{}, nil
}

// checkOwn returns the wallet's currency, or the error for a wallet or category that is not the owner's.
func checkOwn(ctx context.Context, q pg.Querier, owner, wallet, category uuid.UUID) (currency string, err error) {
	own, err := selectOwn(ctx, q, owner, []uuid.UUID{wallet}, []uuid.UUID{category})
	switch {
	case err != nil:
		return "", err
	case own.Wallets == 0:
		return "", errWalletNotFound.With("walletId", "is unknown")
	case own.Categories == 0:
		return "", errCategoryNotFound.With("categoryId", "is unknown")
	}
	return own.Currency, nil
}

// checkAll returns the error for a wallet or category that is not the owner's.
func checkAll(ctx context.Context, q pg.Querier, owner uuid.UUID, wallets, categories []uuid.UUID) error {
	if len(wallets)+len(categories) == 0 {
		return nil
	}
	own, err := selectOwn(ctx, q, owner, wallets, categories)
	switch {
	case err != nil:
		return err
	case own.Wallets < len(wallets):
		return errWalletNotFound
	case own.Categories < len(categories):
		return errCategoryNotFound
	}
	return nil
}

// parseIDs drops repeats.
func parseIDs(p *apierr.Problems, field string, ss []string, malformed *apierr.Error) []uuid.UUID {
	var ids []uuid.UUID
	for _, s := range ss {
		if id := parseID(p, field, s, malformed); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// parseServiceID reads an id that only services send: a malformed one is a defect of theirs and has no code of its own.
func parseServiceID(p *apierr.Problems, field, s string) uuid.UUID {
	id, ok := text.ID(s)
	if !ok {
		p.Field(&apierr.Field{Name: field, Message: "must be an id"})
	}
	return id
}
