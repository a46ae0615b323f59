package ledger

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// CheckReferences tells a service whether a user owns a wallet and categories.
func (s *server) CheckReferences(ctx context.Context, req *ledgerv1.CheckReferencesRequest) (*ledgerv1.CheckReferencesResponse, error) {
	var p apierr.Problems
	owner := parseReference(&p, "ownerId", req.GetOwnerId(), apierr.Validation([]apierr.Field{{Name: "ownerId", Message: "must be an id"}}))
	var wallets []uuid.UUID
	if req.GetWalletId() != "" {
		wallets = parseIDs(&p, "walletId", []string{req.GetWalletId()}, errInvalidWalletID)
	}
	categories := parseIDs(&p, "categoryIds", req.GetCategoryIds(), errInvalidCategoryID)
	if err := p.Err(); err != nil {
		return nil, err
	}
	if err := checkAll(ctx, s.db, owner, wallets, categories); err != nil {
		return nil, err
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
