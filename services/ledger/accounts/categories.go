package accounts

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/etag"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/page"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

// MaxCategories is the maximum number of categories per user. It limits the rows of a summary.
// Users with more categories keep them, but cannot create further ones.
const MaxCategories = 1000

// CreateCategory creates a category. Errors: CATEGORY_ALREADY_EXISTS if the caller has one of that
// name, ignoring case, and CATEGORY_LIMIT_REACHED.
func (s *Accounts) CreateCategory(
	ctx context.Context, req *ledgerv1.CreateCategoryRequest,
) (*ledgerv1.CreateCategoryResponse, error) {
	c, err := s.newCategory(ctx, req)
	if err != nil {
		return nil, err
	}
	call := idem.Call{Owner: c.OwnerID, Key: req.GetIdempotencyKey(), Request: req}
	resp := &ledgerv1.CreateCategoryResponse{Category: c.proto(), Etag: etag.Format(c.Version)}
	resp.Replayed, err = idem.InTx(ctx, s.DB, call, resp, func(tx pgx.Tx) error {
		if err := posting.ShareOwner(ctx, tx, c.OwnerID); err != nil {
			return err
		}
		return s.addCategory(ctx, tx, c)
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// AddCategory creates a category like CreateCategory, in a database transaction that has called
// posting.ShareOwner.
func (s *Accounts) AddCategory(
	ctx context.Context, tx pgx.Tx, req *ledgerv1.CreateCategoryRequest,
) (uuid.UUID, error) {
	c, err := s.newCategory(ctx, req)
	if err != nil {
		return uuid.Nil, err
	}
	return c.ID, s.addCategory(ctx, tx, c)
}

func (s *Accounts) newCategory(
	ctx context.Context, req *ledgerv1.CreateCategoryRequest,
) (category, error) {
	c, err := parseCategory(req)
	c.ID, c.OwnerID, c.Version, c.CreatedAt = s.NewID(), caller.ID(ctx), 1, s.Now()
	c.UpdatedAt = c.CreatedAt
	return c, err
}

func (s *Accounts) addCategory(ctx context.Context, tx pgx.Tx, c category) error {
	n, err := countRows(ctx, tx, "categories", c.OwnerID)
	if err != nil {
		return err
	}
	if n >= MaxCategories {
		return errCategoryLimitReached
	}
	if err := insertCategory(ctx, tx, c); err != nil {
		return takenName(err)
	}
	return s.Publish(ctx, tx, c.OwnerID,
		&ledgerv1.CategoryCreated{OwnerId: c.OwnerID.String(), Category: c.proto()})
}

// ListCategories returns a page of the caller's categories, newest first. Ids are UUIDs of version
// 7, which start with the time of creation, so the order of ids is the order of creation. The
// position of a page is therefore an id alone.
func (s *Accounts) ListCategories(
	ctx context.Context, req *ledgerv1.ListCategoriesRequest,
) (*ledgerv1.ListCategoriesResponse, error) {
	owner := caller.ID(ctx)
	categories, pagination, err := page.List(s.Cursors, page.Query[category, uuid.UUID]{
		Scope: "categories " + owner.String(), Limit: req.Limit, Cursor: req.GetCursor(),
		First:    uuid.Max,
		Position: func(c category) uuid.UUID { return c.ID },
		Select: func(before uuid.UUID, limit int) ([]category, error) {
			return selectCategories(ctx, s.DB, owner, before, limit)
		},
	})
	if err != nil {
		return nil, err
	}
	resp := &ledgerv1.ListCategoriesResponse{Pagination: pagination}
	for _, c := range categories {
		resp.Categories = append(resp.Categories, c.proto())
	}
	return resp, nil
}

// GetCategory returns one of the caller's categories.
func (s *Accounts) GetCategory(
	ctx context.Context, req *ledgerv1.GetCategoryRequest,
) (*ledgerv1.GetCategoryResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, request.ErrInvalidCategoryID
	}
	c, err := selectCategory(ctx, s.DB, caller.ID(ctx), id)
	if err != nil {
		return nil, pg.IfNoRows(err, request.ErrCategoryNotFound)
	}
	return &ledgerv1.GetCategoryResponse{Category: c.proto(), Etag: etag.Format(c.Version)}, nil
}

// UpdateCategory renames a category, or changes its kind or appearance. It shares the owner's lock,
// so it waits for a merge of the category instead of changing a row that the merge deletes. Errors:
// CATEGORY_ALREADY_EXISTS, VERSION_MISMATCH and EMPTY_UPDATE.
func (s *Accounts) UpdateCategory(
	ctx context.Context, req *ledgerv1.UpdateCategoryRequest,
) (*ledgerv1.UpdateCategoryResponse, error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return nil, request.ErrInvalidCategoryID
	}
	changes, err := parseCategoryChanges(req)
	if err != nil {
		return nil, err
	}
	resp := &ledgerv1.UpdateCategoryResponse{}
	err = pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		if err := posting.ShareOwner(ctx, tx, caller.ID(ctx)); err != nil {
			return err
		}
		locked, err := lockCategories(ctx, tx, caller.ID(ctx), id)
		if err != nil {
			return err
		}
		c, err := matchVersion(locked, id, req.GetIfMatch())
		if err != nil {
			return err
		}
		changes.apply(&c)
		c.UpdatedAt = s.Now()
		c.Version++
		if err := updateCategory(ctx, tx, c); err != nil {
			return takenName(err)
		}
		resp.Category, resp.Etag = c.proto(), etag.Format(c.Version)
		return s.Publish(ctx, tx, c.OwnerID,
			&ledgerv1.CategoryUpdated{OwnerId: c.OwnerID.String(), Category: c.proto()})
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// DeleteCategory deletes a category that no transaction, budget or rule uses. With reassignTo, it
// merges the category into that target first: transactions, totals, budgets and rules then use the
// target. The owner's lock prevents concurrent writes. Foreign keys and not queries decide whether
// the category is in use, so a use that is created at the same time cannot be missed.
//
// Errors: CATEGORY_IN_USE, VERSION_MISMATCH, and errCategoryOverflow if a monthly total of the
// merge would be out of range.
func (s *Accounts) DeleteCategory(
	ctx context.Context, req *ledgerv1.DeleteCategoryRequest,
) (*ledgerv1.DeleteCategoryResponse, error) {
	id, target, err := parseCategoryDelete(req)
	if err != nil {
		return nil, err
	}
	err = pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		owner := caller.ID(ctx)
		if err := posting.LockOwner(ctx, tx, owner); err != nil {
			return err
		}
		locked, err := lockCategories(ctx, tx, owner, id, target)
		if err != nil {
			return err
		}
		if _, err := matchVersion(locked, id, req.GetIfMatch()); err != nil {
			return err
		}
		// A merge publishes this event only, and none for each transaction.
		event := &ledgerv1.CategoryDeleted{OwnerId: owner.String(), CategoryId: id.String()}
		var successor *uuid.UUID
		if req.ReassignTo != nil {
			if _, ok := locked[target]; !ok {
				return request.ErrCategoryNotFound.With("reassignTo", "is unknown")
			}
			if err := s.merge(ctx, tx, owner, id, target); err != nil {
				return err
			}
			if err := mergeReferences(ctx, tx, owner, id, target); err != nil {
				return err
			}
			event.ReassignedTo, successor = new(target.String()), &target
		}
		// An expired reservation must not prevent the deletion, even if the hourly cleanup has not
		// removed it yet.
		if err := deleteExpiredReservations(ctx, tx, owner, id, s.Now()); err != nil {
			return err
		}
		if err := deleteCategory(ctx, tx, owner, id, successor, s.Now()); err != nil {
			if pg.IsViolation(err, categoryKey) {
				return errCategoryInUse
			}
			return err
		}
		return s.Publish(ctx, tx, owner, event)
	})
	if err != nil {
		return nil, err
	}
	return &ledgerv1.DeleteCategoryResponse{Id: id.String()}, nil
}

// merge reassigns the transactions and rules of a category to the target and adds its totals to the
// target's totals. The caller holds the owner's lock. It returns errCategoryOverflow if a total
// would be out of range.
func (s *Accounts) merge(ctx context.Context, tx pgx.Tx, owner, from, target uuid.UUID) error {
	if err := keepChosen(ctx, tx, owner, from, target); err != nil {
		return err
	}
	if err := reassignTransactions(ctx, tx, owner, from, target, s.Now()); err != nil {
		return err
	}
	if err := reassignRules(ctx, tx, owner, from, target, s.Now()); err != nil {
		return err
	}
	err := mergeTotals(ctx, tx, owner, from, target)
	if pg.IsViolation(err, "monthly_totals_amount_range") {
		return errCategoryOverflow
	}
	return err
}

func matchVersion(locked map[uuid.UUID]category, id uuid.UUID, ifMatch string) (category, error) {
	c, ok := locked[id]
	switch {
	case !ok:
		return category{}, request.ErrCategoryNotFound
	case !etag.Matches(ifMatch, c.Version):
		return category{}, apierr.VersionMismatch
	}
	return c, nil
}

// takenName maps a violated unique name to errCategoryAlreadyExists and returns other errors
// unchanged.
func takenName(err error) error {
	if pg.IsViolation(err, "categories_owner_name_key") {
		return errCategoryAlreadyExists.With("name", "is taken")
	}
	return err
}

// parseCategoryDelete returns the category to delete and the target of its merge. The target is the
// category itself if the request does not merge.
func parseCategoryDelete(req *ledgerv1.DeleteCategoryRequest) (id, target uuid.UUID, err error) {
	id, ok := text.ID(req.GetId())
	if !ok {
		return uuid.Nil, uuid.Nil, request.ErrInvalidCategoryID
	}
	if req.ReassignTo == nil {
		return id, id, nil
	}
	target, ok = text.ID(req.GetReassignTo())
	switch {
	case !ok:
		return uuid.Nil, uuid.Nil, request.ErrInvalidCategoryID.With("reassignTo", "must be a UUID")
	case target == id:
		return uuid.Nil, uuid.Nil, apierr.Invalid("reassignTo", "must be another category")
	}
	return id, target, nil
}

func (c category) proto() *ledgerv1.Category {
	return &ledgerv1.Category{
		Id: c.ID.String(), Name: c.Name, Color: c.Color, Icon: c.Icon, Kind: c.Kind,
		CreatedAt: calendar.FormatTime(c.CreatedAt), UpdatedAt: calendar.FormatTime(c.UpdatedAt),
	}
}
