package request

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg"
)

// References are the wallet and the category that a request names. Either is nil if the request does not name it, or if its id
// is malformed.
type References struct{ Wallet, Category *uuid.UUID }

// CheckOwned returns the problems p of a request as one error, including a problem for each reference that does not belong to the
// owner. It returns nil if there is no problem.
func CheckOwned(ctx context.Context, q pg.Querier, p apierr.Problems, owner uuid.UUID, named References) error {
	o, err := SelectReferences(ctx, q, owner, named)
	if err != nil {
		return err
	}
	o.Check(&p, named)
	return p.Err()
}

// SelectReferences returns the references that belong to the owner.
func SelectReferences(ctx context.Context, q pg.Querier, owner uuid.UUID, named ...References) (Owned, error) {
	var wallets, categories []uuid.UUID
	for _, r := range named {
		if r.Wallet != nil && !slices.Contains(wallets, *r.Wallet) {
			wallets = append(wallets, *r.Wallet)
		}
		if r.Category != nil && !slices.Contains(categories, *r.Category) {
			categories = append(categories, *r.Category)
		}
	}
	return SelectOwned(ctx, q, owner, wallets, categories)
}

// Check adds a problem for each reference that does not belong to the owner.
func (o Owned) Check(p *apierr.Problems, named References) {
	if named.Wallet != nil && !slices.Contains(o.Wallets, *named.Wallet) {
		p.Add(ErrWalletNotFound.With("walletId", "is unknown"))
	}
	if named.Category != nil && !slices.Contains(o.Categories, *named.Category) {
		p.Add(ErrCategoryNotFound.With("categoryId", "is unknown"))
	}
}

// CheckLists adds one problem per field whose ids do not all belong to the owner. The ids of a list must be distinct.
func (o Owned) CheckLists(p *apierr.Problems, walletField string, wallets []uuid.UUID, categoryField string, categories []uuid.UUID) {
	if len(o.Wallets) < len(wallets) {
		p.Add(ErrWalletNotFound.With(walletField, "names an unknown wallet"))
	}
	if len(o.Categories) < len(categories) {
		p.Add(ErrCategoryNotFound.With(categoryField, "names an unknown category"))
	}
}
