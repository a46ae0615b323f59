package request

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg"
)

// References are the wallet and the categories that a request names. A reference is nil if the
// request does not name it, or if its id is malformed.
type References struct {
	Wallet, Category *uuid.UUID
	// Parts are the categories of the parts of a split transaction, in the order of the request.
	Parts []*uuid.UUID
}

// CheckOwned returns the problems p of a request as one error, including a problem for each
// reference that does not belong to the owner. It returns nil if there is no problem.
func CheckOwned(
	ctx context.Context, q pg.Querier, p apierr.Problems, owner uuid.UUID, named References,
) error {
	o, err := SelectReferences(ctx, q, owner, named)
	if err != nil {
		return err
	}
	o.Check(&p, named)
	return p.Err()
}

// Filter holds the wallets and the categories that a list is restricted to.
type Filter struct {
	Wallets, Categories []uuid.UUID
}

// CheckFilter is CheckOwned for the ids of a filter. It ignores the zero id, because ParseIDs
// returns it for a malformed one.
func CheckFilter(
	ctx context.Context, q pg.Querier, problems apierr.Problems, owner uuid.UUID, f Filter,
) error {
	malformed := func(id uuid.UUID) bool { return id == uuid.Nil }
	wallets := slices.DeleteFunc(slices.Clone(f.Wallets), malformed)
	categories := slices.DeleteFunc(slices.Clone(f.Categories), malformed)
	o, err := SelectOwned(ctx, q, owner, wallets, categories)
	if err != nil {
		return err
	}
	o.CheckLists(&problems, "walletId", wallets, "categoryId", categories)
	return problems.Err()
}

// SelectReferences returns the references that belong to the owner.
func SelectReferences(
	ctx context.Context, q pg.Querier, owner uuid.UUID, named ...References,
) (Owned, error) {
	var wallets, categories []uuid.UUID
	for _, r := range named {
		if r.Wallet != nil && !slices.Contains(wallets, *r.Wallet) {
			wallets = append(wallets, *r.Wallet)
		}
		for _, category := range append([]*uuid.UUID{r.Category}, r.Parts...) {
			if category != nil && !slices.Contains(categories, *category) {
				categories = append(categories, *category)
			}
		}
	}
	return SelectOwned(ctx, q, owner, wallets, categories)
}

// Check adds a problem for each reference that does not belong to the owner.
func (o Owned) Check(problems *apierr.Problems, named References) {
	if named.Wallet != nil && !slices.Contains(o.Wallets, *named.Wallet) {
		problems.Add(ErrWalletNotFound.With("walletId", "is unknown"))
	}
	if named.Category != nil && !slices.Contains(o.Categories, *named.Category) {
		problems.Add(ErrCategoryNotFound.With("categoryId", "is unknown"))
	}
	for i, category := range named.Parts {
		if category != nil && !slices.Contains(o.Categories, *category) {
			problems.Add(ErrCategoryNotFound.With(fmt.Sprintf("splits[%d].categoryId", i),
				"is unknown"))
		}
	}
}

// CheckLists adds one problem per field whose ids do not all belong to the owner. The ids of a list
// must be distinct.
func (o Owned) CheckLists(
	p *apierr.Problems, walletField string, wallets []uuid.UUID, categoryField string,
	categories []uuid.UUID,
) {
	if len(o.Wallets) < len(wallets) {
		p.Add(ErrWalletNotFound.With(walletField, "names an unknown wallet"))
	}
	if len(o.Categories) < len(categories) {
		p.Add(ErrCategoryNotFound.With(categoryField, "names an unknown category"))
	}
}
