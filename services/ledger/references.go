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

// references are the wallet and the category that a request names. Either is nil if the request does not name it, or if its id
// is malformed.
type references struct{ wallet, category *uuid.UUID }

// references returns the wallet and the category that the changes name, or nil for a field that they do not change.
func (c changes) references() references { return references{c.wallet, c.category} }

// CheckReferences checks that a wallet and categories belong to a user, and returns one error that names all that do not. With a
// budget id it also reserves the categories: a foreign key prevents their deletion until SyncReferences settles the reservation
// or reservationLife has passed. Errors: WALLET_NOT_FOUND, INVALID_CATEGORY_EXIST_PARAMS.
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
	o, err := selectOwn(ctx, s.db, owner, wallets, categories)
	if err != nil {
		return nil, err
	}
	o.checkLists(&p, "walletId", wallets, "categoryIds", categories)
	if err := p.Err(); err != nil {
		return nil, err
	}
	if reservation != uuid.Nil && len(categories) > 0 {
		// A category that was deleted since the check violates the foreign key, and nothing is reserved.
		err := reserveCategories(ctx, s.db, owner, budget, reservation, categories, s.now().Add(reservationLife))
		if pg.IsViolation(err, categoryKey) {
			return nil, errCategoryNotFound.With("categoryIds", "names an unknown category")
		}
		if err != nil {
			return nil, err
		}
	}
	return &ledgerv1.CheckReferencesResponse{}, nil
}

// ownProblems returns the problems p of a request as one error, including a problem for each reference that does not belong to the
// owner. It returns nil if there is no problem.
func ownProblems(ctx context.Context, q pg.Querier, p apierr.Problems, owner uuid.UUID, named references) error {
	o, err := selectReferences(ctx, q, owner, named)
	if err != nil {
		return err
	}
	o.check(&p, named)
	return p.Err()
}

// selectReferences returns the references that belong to the owner.
func selectReferences(ctx context.Context, q pg.Querier, owner uuid.UUID, named ...references) (own, error) {
	var wallets, categories []uuid.UUID
	for _, r := range named {
		if r.wallet != nil && !slices.Contains(wallets, *r.wallet) {
			wallets = append(wallets, *r.wallet)
		}
		if r.category != nil && !slices.Contains(categories, *r.category) {
			categories = append(categories, *r.category)
		}
	}
	return selectOwn(ctx, q, owner, wallets, categories)
}

// check adds a problem for each reference that does not belong to the owner.
func (o own) check(p *apierr.Problems, named references) {
	if named.wallet != nil && !slices.Contains(o.Wallets, *named.wallet) {
		p.Add(errWalletNotFound.With("walletId", "is unknown"))
	}
	if named.category != nil && !slices.Contains(o.Categories, *named.category) {
		p.Add(errCategoryNotFound.With("categoryId", "is unknown"))
	}
}

// checkLists adds one problem per field whose ids do not all belong to the owner. The ids of a list must be distinct.
func (o own) checkLists(p *apierr.Problems, walletField string, wallets []uuid.UUID, categoryField string, categories []uuid.UUID) {
	if len(o.Wallets) < len(wallets) {
		p.Add(errWalletNotFound.With(walletField, "names an unknown wallet"))
	}
	if len(o.Categories) < len(categories) {
		p.Add(errCategoryNotFound.With(categoryField, "names an unknown category"))
	}
}

// parseIDs returns the distinct ids of a list, and adds the problem malformed for each id that is not a UUID.
func parseIDs(p *apierr.Problems, field string, ss []string, malformed *apierr.Error) []uuid.UUID {
	var ids []uuid.UUID
	for _, s := range ss {
		if id := parseID(p, field, s, malformed); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// parseServiceID parses an id that only services send. A malformed one is a defect of that service, so it has no specific code.
func parseServiceID(p *apierr.Problems, field, s string) uuid.UUID {
	id, ok := text.ID(s)
	if !ok {
		p.Field(&apierr.Field{Name: field, Message: "must be an id"})
	}
	return id
}
